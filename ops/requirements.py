"""What a function requires of the numbers that it is given: one declaration for eager mode and for compiled code.

``require(x, PROBABILITIES)`` raises where a number is not as required. Eager mode looks at once; a recording adds the
requirement to the graph as well, and a replay that meets other numbers leaves the call to eager mode, before anything
is written. Requirements are written in operators, so the same line serves numpy and the graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import reductions as folds
from .array import eager
from .core import current
from .logic import logical_and, logical_not
from .types import Type

Facts = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Requirement:
    """`conditions`, for each element, of the values and of the facts that `require` is given; all of them must hold.

    The message may name ``{value}``, the first element for which one does not hold, and the facts by position.
    """

    conditions: Callable[..., tuple[Any, ...]]
    error: type[Exception]
    message: str

    def check(self, values: np.ndarray, facts: Facts) -> None:
        """Raise the error if a condition does not hold for one of `values`."""
        holds = functools.reduce(np.logical_and, self.conditions(values, *facts))
        if not holds.all():
            raise self.error(self.message.format(*facts, value=values[~np.asarray(holds)].flat[0]))

    def fails(self, values: Any, facts: Facts) -> Any:
        """Whether `check` would raise, as a value of the current interpreter (bool, without dimensions)."""
        wrong = logical_not(functools.reduce(logical_and, self.conditions(values, *facts)))
        of: Type = current().type_of(wrong)
        return folds.any(wrong, tuple(range(of.ndim))) if of.ndim else wrong


def require(x: Any, requirement: Requirement, *facts: int) -> None:
    """Raise what `requirement` says unless it holds for every element of `x`; the tape does not see it."""
    eager().require(x, requirement, facts)
