"""Stand-ins for ``math``, ``sum``, ``float`` and ``int`` while a function runs on stand-ins for numbers.

C code cannot compute with a `Number`: it takes the value, which would then be expected for good. These call the same
functions through `ops.numbers.computed`. ``sum`` is one of them for its own arithmetic: of floats it adds with a
compensation (Python 3.12 on), which plain additions do not have. ``float`` and ``int`` are classes, too: they are
stood in for only where all code that was found calls them and does nothing else (no ``isinstance``, no dtype).
"""

from __future__ import annotations

import builtins
import functools
import math
import types
from typing import Any

from ...ops.numbers import computed
from ..common.classes import is_a
from ..guards.bytecode import only_calls
from ..guards.environment import Environment
from ..symbolic.number import looked_at
from .substitution import Replaced


class _Math:
    """The module ``math``, whose functions give formulas."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(math, name)
        return functools.partial(computed, found) if callable(found) else found


def _sum(items: Any, /, start: Any = 0) -> Any:
    found = [start, *items]
    if all(is_a(item, (int, float)) for item in found):
        return computed(_sum_of, *found)
    found = [looked_at(item) for item in found]
    return builtins.sum(found[1:], found[0])


def _sum_of(start: Any, *items: Any) -> Any:
    return builtins.sum(items, start)


def _conversions(environment: Environment) -> dict[str, Any]:
    """Stand-ins for the classes of numbers that are only called."""
    return {
        kind.__name__: functools.partial(computed, kind)
        for kind in (float, int)
        if all(only_calls(code, kind.__name__) for code in environment.codes)
    }


def _shim_of(value: Any) -> Any:
    if value is math:
        return _Math()
    if is_a(value, types.BuiltinFunctionType) and value.__self__ is math:
        return functools.partial(computed, value)
    return None


def shims_for(environment: Environment, replaced: Replaced) -> None:
    """Put them where the functions of `environment` find the real ones."""
    for fact in environment.facts:
        storage, shim = fact.source.storage(), _shim_of(fact.value)
        if storage is not None and storage.kind in ("entry", "cell") and shim is not None:
            if fact.source.holds(fact.value):
                replaced.put_other(fact.source, shim)
    shims = {"sum": _sum, **_conversions(environment)}
    for space in environment.converting:
        for name, shim in shims.items():
            if name not in space:
                replaced.add_entry(space, name, shim)
