"""Conversion of element types that a program asks for."""

from __future__ import annotations

from ...ops.pointwise import cast
from ...ops.types import DType, bool_
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_once


def converted(input: Tensor, dtype: DType) -> Tensor:
    """`input` in another type; one warning where imaginary parts are left out."""
    if input.dtype.is_complex and not dtype.is_complex and dtype is not bool_:
        warn_once("Casting complex values to real discards the imaginary part")
    out: Tensor = cast(input, dtype)
    return out
