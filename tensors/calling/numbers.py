"""Numbers that functions which make tensors are given: values, extents, ranges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ops.types import FLOATING, DType, complex_of, get_default_dtype, int64
from ..arguments import Shape
from ..data import fitting, values_of
from ..operands import number_of
from ..tensor import Tensor


def unpacked(number: Any, dtype: DType) -> Any:
    """`number`, if `dtype` holds it; too large a float becomes infinite here, as it does in a list."""
    if isinstance(number, int) and not isinstance(number, bool) and not -(2**63) <= number < 2**63:
        if dtype is int64:
            raise ValueError(f"Overflow when unpacking long long: {number} does not fit in int64. Write it as a float.")
    if isinstance(number, complex) and not dtype.is_complex:
        values_of([number], dtype)  # raises
    return number if dtype.category >= FLOATING else fitting(number, dtype, dtype.name)


def number_in(value: Any) -> Any:
    """The number that a 0-d tensor, numpy or Python gives."""
    value = item_of(value)
    return number_of(value) if isinstance(value, np.generic) else value


def item_of(value: Any) -> Any:
    """The number in a tensor of one element; any other value as it is."""
    return value.item() if isinstance(value, Tensor) else value


def extents(shape: Shape) -> Shape:
    for extent in shape:
        if extent < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {extent}: {list(shape)}")
    return shape


def count_between(first: Any, last: Any, step: Any) -> int:
    """How many numbers there are from `first` on before `last`."""
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (last - first) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    try:
        return math.ceil((last - first) / step)
    except (OverflowError, ValueError):
        raise RuntimeError(f"unsupported range: {first} -> {last}") from None


def type_between(name: str, first: Any, last: Any, dtype: DType | None) -> DType:
    """The type of numbers between two ends: `dtype`, or the default one. RuntimeError if it cannot hold the ends."""
    if not isinstance(first, complex) and not isinstance(last, complex):
        return dtype or get_default_dtype()
    if dtype is not None and not dtype.is_complex:
        raise RuntimeError(
            f"torch.{name}(): inferred dtype ComplexFloat can't be safely cast to passed dtype {dtype.title}: an end "
            "is complex."
        )
    return dtype or complex_of(get_default_dtype())


def require_steps(name: str, steps: Any) -> None:
    if isinstance(steps, float):
        raise TypeError(f"{name}(): argument 'steps' must be int, not float")
    if steps < 0:
        raise RuntimeError(f"number of steps must be non-negative, got {steps}")
