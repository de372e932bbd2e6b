"""What may be written to elements by ``x[key] = value``: a tensor, or one of Python's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.array import Array
from ...ops.types import NUMBERS, DType, bfloat16, bool_, float16, public_name, uint8
from ..data import as_element
from .refusals import kind_of


def as_assigned(value: Any, dtype: DType) -> Any:
    """`value`, which is no tensor, as a number for a tensor of that type; TypeError for whatever else it is."""
    if isinstance(value, np.integer):
        value = int(value)
    elif not isinstance(value, NUMBERS):
        name = f"{public_name.package}.{dtype.title}Tensor"
        raise TypeError(f"can't assign a {kind_of(value)} to a {name}; assign a number, or a tensor of them")
    if type(value) is int and not -(2**63) <= value < 2**64:
        raise ValueError(f"Overflow when unpacking long long: {value} does not fit in int64. Write it as a float.")
    return as_element(value, dtype) if isinstance(value, complex) or dtype in (float16, bfloat16) else value


def is_filled_in(mask: DType, value: Any) -> bool:
    """Whether one number is to be written where a mask of that type is true; PyTorch refuses numbers at bytes."""
    if not isinstance(value, Array):
        return mask is bool_ or mask is uint8
    return mask is bool_ and value.ndarray.size == 1


def check_filled_in(mask: DType, value: Any, dtype: DType) -> None:
    """RuntimeError for what `is_filled_in` and yet is not written to elements of `dtype`."""
    if mask is uint8:
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")
    if isinstance(value, Array) and value.type_.dtype.is_complex and not dtype.is_complex and dtype is not bool_:
        raise RuntimeError(f"value cannot be converted to type {dtype.c_name} without overflow: it is complex")


def are_truths(key: Any) -> bool:
    """Whether `key` is a list that stands for a mask."""
    return type(key) is list and bool(key) and all(type(item) is bool for item in key)
