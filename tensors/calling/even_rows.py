"""Numbers at equal distances, counted from both ends as PyTorch counts them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops import comparison, sources
from ...ops.array import quietly
from ...ops.core import current
from ...ops.pointwise import cast
from ...ops.types import INTEGER, DType, array_in, float32, float64, int64
from ...tracing.watch import watcher
from ..tensor import EAGER, make


def even_row(first: Any, last: Any, steps: int, dtype: DType) -> Any:
    """`steps` numbers, at least two, from `first` to `last`: the ends come out exact, and the middle is symmetric.

    Integers are computed in float64. Of float32 the step is one, too, but each number is the sum of an end and a
    product that is rounded once, as a fused one is: float64 holds the products of float32 and counts exactly.
    """
    if current() is EAGER and watcher() is None and dtype in _OF_ARRAYS and _are_plain(first, last):
        return make(quietly(_row, first, last, steps, dtype, _counted, array_in, np.where))
    return _row(first, last, steps, dtype, _iota, cast, comparison.where)


_OF_ARRAYS = (float32, float64, int64)


def _are_plain(*numbers: Any) -> bool:
    """Whether all are Python's own, and integers ones that float64 holds."""
    return all(type(n) is float or (type(n) is int and -(2**53) <= n <= 2**53) for n in numbers)


def _iota(count: int, dtype: DType) -> Any:
    return sources.iota((count,), 0, dtype)


def _counted(count: int, dtype: DType) -> np.ndarray:
    return np.arange(count, dtype=dtype.numpy)


def _row(first: Any, last: Any, steps: int, dtype: DType, count: Any, cast: Any, where: Any) -> Any:
    """`even_row` of tensors, or of arrays, as the last three are functions of."""
    place = count(steps, float64 if dtype.category == INTEGER or dtype is float32 else dtype)
    step = (last - first) / (steps - 1)
    if dtype is float32:
        first, last = (cast(count(1, dtype) + end, float64) for end in (first, last))
        step = cast(cast(last - first, dtype) / (steps - 1), float64)
    is_first = count(steps, int64) < steps // 2
    return where(is_first, first + place * step, last - (steps - 1 - place) * step)
