"""Numbers at equal distances, counted from both ends as PyTorch counts them."""

from __future__ import annotations

from typing import Any

from ...ops import comparison, sources
from ...ops.pointwise import cast
from ...ops.types import INTEGER, DType, float32, float64, int64


def even_row(first: Any, last: Any, steps: int, dtype: DType) -> Any:
    """`steps` numbers, at least two, from `first` to `last`: the ends come out exact, and the middle is symmetric.

    Integers are computed in float64. Of float32 the step is one, too, but each number is the sum of an end and a
    product that is rounded once, as a fused one is: float64 holds the products of float32 and counts exactly.
    """
    place = sources.iota((steps,), 0, float64 if dtype.category == INTEGER or dtype is float32 else dtype)
    step = (last - first) / (steps - 1)
    if dtype is float32:
        first, last = (cast(sources.iota((1,), 0, dtype) + end, float64) for end in (first, last))
        step = cast(cast(last - first, dtype) / (steps - 1), float64)
    is_first = sources.iota((steps,), 0, int64) < steps // 2
    return comparison.where(is_first, first + place * step, last - (steps - 1 - place) * step)
