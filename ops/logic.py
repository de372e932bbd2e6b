"""Logic on truth values (anything but 0 is true) and on bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .core import NO_GRADIENT
from .pointwise import Op, bool_result, common_dtype, pointwise, without_floating
from .types import DType, bool_


def _logical(name: str, inputs: tuple[str, ...], c: str, eval: Callable[..., Any]) -> Op:
    return pointwise(name, inputs=inputs, c=c, eval=eval, vjp=NO_GRADIENT, result=bool_result)


def _bitwise(name: str, c: str, eval: Callable[..., Any]) -> Op:
    domain = without_floating(f"\"{name}_cpu\" not implemented for 'Float'")
    return pointwise(name, inputs=("x", "y"), c=c, eval=eval, vjp=NO_GRADIENT, domain=domain)


logical_not = _logical("logical_not", ("x",), "!{x}", np.logical_not)
logical_and = _logical("logical_and", ("x", "y"), "({x} != 0) & ({y} != 0)", np.logical_and)
logical_or = _logical("logical_or", ("x", "y"), "({x} != 0) | ({y} != 0)", np.logical_or)
logical_xor = _logical("logical_xor", ("x", "y"), "!{x} != !{y}", np.logical_xor)

bitwise_and = _bitwise("bitwise_and", "{x} & {y}", np.bitwise_and)
bitwise_or = _bitwise("bitwise_or", "{x} | {y}", np.bitwise_or)
bitwise_xor = _bitwise("bitwise_xor", "{x} ^ {y}", np.bitwise_xor)


def _shift(name: str, kernel: str, c: str, eval: Callable[..., Any]) -> Op:
    """PyTorch has shifts of integers alone; neither bool nor a floating-point number is one."""

    def domain(dtype: DType) -> DType:
        if dtype is bool_ or dtype.is_floating_point:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.title.capitalize()}'; shift integers")
        return dtype

    return pointwise(name, inputs=("x", "y"), c=c, eval=eval, vjp=NO_GRADIENT, domain=domain)


def _shifted_left(x: np.ndarray, y: np.ndarray) -> Any:
    bits = 8 * x.dtype.itemsize
    inside = (y >= 0) & (y < bits)
    return np.where(inside, np.left_shift(x, np.where(inside, y, 0)), 0).astype(x.dtype)


def _shifted_right(x: np.ndarray, y: np.ndarray) -> Any:
    bits = 8 * x.dtype.itemsize
    return np.right_shift(x, np.where((y >= 0) & (y < bits), y, bits - 1).astype(x.dtype))


# Shifts by what is no place of the type leave nothing, or the sign.
bitwise_left_shift = _shift("bitwise_left_shift", "lshift_cpu", "tg_shift_left{f}({x}, {y})", _shifted_left)
bitwise_right_shift = _shift("bitwise_right_shift", "rshift_cpu", "tg_shift_right{f}({x}, {y})", _shifted_right)


def bitwise_not(x: Any) -> Any:
    """Every bit turned over, ``x ^ -1``; on bool the logical not."""
    dtype = common_dtype([x])
    if dtype.is_floating_point:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return logical_not(x) if dtype is bool_ else bitwise_xor(x, -1)
