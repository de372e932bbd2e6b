"""Declared guards: what the library itself said that it read while a function was recorded, and must find again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ops.array import Array
from ...tracing.watched_classes import classes
from ...tracing.watched_modules import replacements
from ..common.classes import is_a
from ..common.exactness import same_number
from ..symbolic.number import KINDS
from .sources import NOT_THERE
from .states import is_one_object

# Where a tensor keeps its numpy array, below the property by which one without a shape refuses it.
_memory: Callable[[Any], np.ndarray] = vars(Array)["ndarray"].__get__


@dataclass(frozen=True, eq=False)
class Guard:
    """The specialisation holds while ``get()`` gives `value` again."""

    describe: str
    get: Callable[[], Any]
    value: Any
    place: str
    of_gradients: bool = False  # what it looks at is counted by `changes.grads`
    by_identity: bool = False  # code could tell an equal value that is another object

    def holds(self) -> bool:
        try:
            now = self.get()
        except Exception:  # what it looked at is gone, or nothing that it takes: the function itself will raise it
            return False
        if self.by_identity and not is_one_object(now):
            return now is self.value
        return now is self.value or (_plain(now) and same_number(now, self.value))

    def holds_but_for_numbers(self) -> bool:
        """True if it holds, or would hold with another number of the same type."""
        if type(self.value) not in KINDS:
            return self.holds()
        try:
            return type(self.get()) is type(self.value)
        except NOT_THERE:
            return False


def _plain(value: Any) -> bool:
    return is_a(value, (bool, int, float, complex, np.generic, str, bytes, tuple, type(None)))


def facts_of(tensor: Any) -> tuple[Any, ...]:
    """What a program may have asked a tensor for that it computes nothing with; of one without a shape, too."""
    values = _memory(tensor)
    own = type(tensor), values.shape, values.dtype.str, values.strides
    return *own, tensor._requires, tensor._node is None, tensor._grad is None


def no_patches() -> list[Guard]:
    """Nothing is set in a public class or in a module of this package that is not there now."""
    return [
        Guard("methods of the library's classes", classes.patches, classes.patches(), ""),
        Guard("functions of the library's modules", replacements.now, replacements.now(), ""),
    ]
