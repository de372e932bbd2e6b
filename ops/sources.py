"""Values without operands: constants, ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import Number, Source, bind, define
from .memory import aligned_empty
from .types import DType, Type, array_in, number_in


def _full_type(shape: tuple[int, ...], value: Number, dtype: DType) -> Type:
    return Type(dtype, shape)


def _full(shape: tuple[int, ...], value: Number, dtype: DType) -> np.ndarray:
    filled = aligned_empty(shape, dtype.numpy)  # what parameters are made of
    filled.fill(value if type(value) is int and 0 <= value < 128 else number_in(value, dtype))  # these fit all types
    return filled


full_primitive = define(
    "full",
    (),
    type=_full_type,
    eval=_full,
    lower=Source("full"),
    vjp={},
)


def full(shape: tuple[int, ...], value: Number, dtype: DType) -> Any:
    """`shape` filled with one number. Without dimensions it is what a constant is in a graph."""
    return bind(full_primitive, shape=shape, value=value, dtype=dtype)


def zeros(of: Type) -> Any:
    """Zeros of one type: the derivative of what is constant between its jumps."""
    return full(of.shape, 0, of.dtype)


def _iota_type(shape: tuple[int, ...], axis: int, dtype: DType) -> Type:
    return Type(dtype, shape)


def _iota(shape: tuple[int, ...], axis: int, dtype: DType) -> np.ndarray:
    counted = array_in(np.arange(shape[axis]), dtype)
    if len(shape) == 1:
        return counted
    value = np.empty(shape, counted.dtype)
    value[...] = counted.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return value


iota_primitive = define("iota", (), type=_iota_type, eval=_iota, lower=Source("iota"), vjp={})


def iota(shape: tuple[int, ...], axis: int, dtype: DType) -> Any:
    """Each element is its own position along `axis`: 0, 1, 2, ..."""
    return bind(iota_primitive, shape=shape, axis=axis, dtype=dtype)


def _input_type(name: str, of: Type) -> Type:
    return of


def _no_value(name: str, of: Type) -> Any:
    raise TypeError(f"the input {name} has no value of its own")


# A graph's input; it stands in the registry so that every node has a primitive, and is never evaluated.
input_primitive = define("input", (), type=_input_type, eval=_no_value, lower=Source("input"), vjp={})
