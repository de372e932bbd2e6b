"""What a function's Python surroundings were when it was recorded: the plain facts that it may have looked at.

A recording freezes Python values. So everything that the function can reach without its arguments is noted: globals and
closure variables that its code names, attributes of objects among them, contents of lists and dicts; functions that it
reaches are searched in turn. A fact that is different at a later call makes another recording; one that is different at
the *end of the same call* is a side effect, which a replay could not repeat, and is refused by name.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..autograd.tensor import Tensor
from ..compiler.errors import CaptureError
from ..compiler.origins import is_user_file

PLAIN = (bool, int, float, complex, str, bytes, type(None))
CONTAINERS = (list, tuple, set, frozenset, dict)
LONG = 1000  # of a longer container only identity and length are compared
DEEP = 3


@dataclass(frozen=True, eq=False)
class Fact:
    """One place in the surroundings and what was there. `value` is kept so that its identity stays taken."""

    name: str
    place: str
    get: Callable[[], Any]
    value: Any
    state: Any

    def holds(self) -> bool:
        try:
            return bool(_state(self.get()) == self.state)
        except (KeyError, AttributeError, ValueError):  # deleted meanwhile
            return False


class Surroundings:
    """The facts around one function."""

    def __init__(self, function: Any) -> None:
        self._seen: set[int] = set()
        self.facts = list(self._around(function, DEEP))
        self._contents = [fact for fact in self.facts if isinstance(fact.value, CONTAINERS)]
        self._bindings = [(fact.get, fact.value, fact) for fact in self.facts if not isinstance(fact.value, CONTAINERS)]

    def hold(self) -> bool:
        """True while everything is as it was. Every call asks this, so the usual answer is found by identity."""
        try:
            for get, value, fact in self._bindings:
                if get() is not value and not fact.holds():
                    return False
        except (KeyError, AttributeError, ValueError):  # deleted meanwhile
            return False
        for fact in self._contents:
            if not fact.holds():
                return False
        return True

    def refuse_side_effects(self) -> None:
        """CaptureError if the call itself has changed a fact."""
        for fact in self.facts:
            if not fact.holds():
                raise CaptureError(
                    f"the function changes {fact.name}, which outlives the call\n  at {fact.place}\n"
                    "  A compiled step repeats what it computes, not what it does to Python objects: return the value "
                    "and do this outside."
                )

    # ---------------------------------------------------------------------------------------------------- the search

    def _around(self, value: Any, depth: int) -> Iterator[Fact]:
        if id(value) in self._seen or depth < 0:
            return
        self._seen.add(id(value))
        if isinstance(value, functools.partial):
            yield from self._around(value.func, depth)
        elif isinstance(value, types.MethodType):
            yield from self._around(value.__func__, depth)
            yield from self._around(value.__self__, depth)
        elif isinstance(value, types.FunctionType):
            if is_user_file(value.__code__.co_filename):
                yield from self._of_function(value, depth)
        elif _is_user_object(value):
            yield from self._of_object(value, depth)

    def _of_function(self, function: types.FunctionType, depth: int) -> Iterator[Fact]:
        code = function.__code__
        for name in _globals_read(code):
            if name in function.__globals__:
                get = functools.partial(function.__globals__.__getitem__, name)
                yield from self._fact(name, code, get, depth)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            yield from self._fact(name, code, functools.partial(getattr, cell, "cell_contents"), depth)

    def _of_object(self, value: Any, depth: int) -> Iterator[Fact]:
        for name in list(vars(value)):
            if name.startswith("__") or name in _MODULE_TABLES:
                continue
            code = getattr(getattr(type(value), "forward", getattr(type(value), "__call__", None)), "__code__", None)
            get = functools.partial(getattr, value, name)
            yield from self._fact(f"{type(value).__name__}.{name}", code, get, depth)
        for child in getattr(value, "_modules", {}).values():
            yield from self._around(child, depth)
        for method in ("forward", "__call__"):
            yield from self._around(getattr(type(value), method, None), depth)

    def _fact(self, name: str, code: types.CodeType | None, get: Callable[[], Any], depth: int) -> Iterator[Fact]:
        try:
            value = get()
        except ValueError:  # an empty cell
            return
        if isinstance(value, types.ModuleType):
            return
        yield Fact(name, _writer(code, name), get, value, _state(value))
        yield from self._around(value, depth - 1)


_MODULE_TABLES = frozenset({"_parameters", "_buffers", "_modules", "training"})  # declared by the modules themselves


def _is_user_object(value: Any) -> bool:
    if isinstance(value, (Tensor, type, types.ModuleType)) or not hasattr(value, "__dict__"):
        return False
    return not type(value).__module__.startswith("tracegrad.") or hasattr(value, "_modules")


def _state(value: Any, depth: int = 2) -> Any:
    """What can be compared later: plain values by value, containers by their items, other objects by identity."""
    if isinstance(value, PLAIN):
        return type(value), repr(value) if isinstance(value, float) else value  # nan is itself, 0.0 is not -0.0
    if isinstance(value, CONTAINERS) and depth:
        if len(value) > LONG:
            return id(value), len(value)
        items = value.items() if isinstance(value, dict) else value
        return type(value), tuple(_state(item, depth - 1) for item in items)
    return id(value)


@functools.lru_cache(maxsize=1024)
def _globals_read(code: types.CodeType) -> tuple[str, ...]:
    """The names of globals that the code, or code nested in it, reads or writes."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL")}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(_globals_read(constant))
    return tuple(sorted(names))


def _writer(code: types.CodeType | None, name: str) -> str:
    """The line of `code` that stores `name`, or the line where it starts."""
    if code is None:
        return "an unknown line"
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        if instruction.starts_line:
            line = instruction.line_number if hasattr(instruction, "line_number") else instruction.starts_line
        if instruction.opname.startswith("STORE_") and instruction.argval == name.rsplit(".", 1)[-1]:
            return f"{code.co_filename}:{line}"
    return f"{code.co_filename}:{code.co_firstlineno}"
