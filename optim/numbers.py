"""What steps compute of options and counts: Python's numbers in eager mode, 0-d tensors in a recording.

Python raises where a tensor would be infinite or NaN, and a recording refuses what Python raises for
(`compiler/number_checks.py`). `quotient` and `reciprocal_root` are for what PyTorch computes with tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..ops.comparison import where
from ..ops.pointwise import cast
from ..ops.types import DType
from ..tensors.tensor import Tensor
from ..tracing.watch import watcher

_REAL = "biuf"  # the kinds of numpy's types that are real numbers


def is_number(value: Any) -> bool:
    """Whether steps compute with `value` as a number, as PyTorch does: no text, no fraction, no list."""
    if isinstance(value, (float, int)):
        return True
    return isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0 and value.dtype.kind in _REAL


def as_float(name: str, value: Any) -> float:
    """The option `name`; TypeError for what is no number, OverflowError for an integer that is too large."""
    if isinstance(value, Tensor):
        return float(one_element(name, value))
    if not is_number(value):
        raise TypeError(f"{name}: expected a number, not {type(value).__name__}")
    return float(value)


def require_real(numbers: Mapping[str, Any]) -> None:
    """TypeError if one of these is complex, as a power of a negative number is: before anything is updated by it."""
    for name, value in numbers.items():
        if isinstance(value, complex):
            raise TypeError(f"{name} is complex: {value}; an optimizer's numbers must be real")


def one_element(name: str, value: Tensor) -> Tensor:
    """An option that is a tensor; TypeError unless it has one element."""
    if value.ndarray.size != 1:
        raise TypeError(f"{name}: expected a number, not Tensor of {value.ndarray.size} elements")
    return value


def choose(fact: Any, yes: Callable[[], Any], no: Any) -> Any:
    """``yes()`` or the number `no`, by a fact that is True, False or, in a recording, a tensor."""
    if isinstance(fact, Tensor):
        return where(fact, _where_it_counts(fact, yes), no)
    return yes() if fact else no


def rounded(value: Any, dtype: DType) -> Any:
    """A number, or in a recording a tensor of one, as `dtype` holds it."""
    if isinstance(value, Tensor):
        return cast(cast(value, dtype), value.dtype)
    return float(np.asarray(value, dtype.numpy))


def _where_it_counts(fact: Tensor, function: Callable[[], Any]) -> Any:
    """``function()``, whose value counts only where `fact` holds: elsewhere nothing is refused."""
    recording = watcher()
    return function() if recording is None else recording.number_checks.only_where(fact, function)


def above_zero(number: Any) -> Any:
    """`number`. Where it is not above 0, Python may refuse what a step computes of it; a recording checks this."""
    recording = watcher()
    if recording is not None and isinstance(number, Tensor):
        recording.number_checks.above_zero(number)
    return number


def quotient(dividend: Any, divisor: Any) -> Any:
    """Their quotient as of tensors: by 0 it is infinite or NaN."""
    if isinstance(divisor, Tensor):
        return _where_it_counts(divisor != 0, lambda: dividend / divisor)
    return dividend / divisor if divisor else dividend * math.copysign(math.inf, divisor)


def reciprocal_root(value: Any) -> Any:
    """1 over the root; of 0 it is infinite, as where a tensor is divided by the root."""
    if isinstance(value, Tensor):
        return _where_it_counts(value != 0, lambda: value**-0.5)
    return value**-0.5 if value else math.inf
