"""Conversion of element types: what a program asks for, and what several tensors are promoted to."""

from __future__ import annotations

from typing import Any

from ...ops import pointwise
from ...ops.pointwise import cast
from ...ops.types import DIMENSIONED, DType, bool_, result_dtype
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_once


def converted(input: Tensor, dtype: DType) -> Tensor:
    """`input` in another type; one warning where imaginary parts are left out."""
    if input.dtype.is_complex and not dtype.is_complex and dtype is not bool_:
        warn_once("Casting complex values to real discards the imaginary part")
    out: Tensor = cast(input, dtype)
    return out


def in_one_type(tensors: list[Any]) -> list[Any]:
    """Tensors in the type that theirs are promoted to."""
    first = tensors[0].ndarray.dtype
    for x in tensors:
        if x.ndarray.dtype is not first:
            dtype = result_dtype((x.dtype, DIMENSIONED) for x in tensors)
            return [pointwise.converted(x, dtype) for x in tensors]
    return tensors
