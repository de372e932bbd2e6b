"""Logic on truth values (anything but 0 is true) and on bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .core import NO_GRADIENT
from .elementwise.descriptions import Doc, signature_of
from .pointwise import Op, bool_result, common_dtype, pointwise, without_floating
from .types import FLOATING, DType, bool_


def _logical(name: str, inputs: tuple[str, ...], c: str, eval: Callable[..., Any], doc: Doc) -> Op:
    return pointwise(
        name, inputs=inputs, c=c, eval=eval, vjp=NO_GRADIENT, result=bool_result, takes_complex=True, doc=doc
    )


def _bitwise(name: str, c: str, eval: Callable[..., Any], doc: Doc) -> Op:
    domain = without_floating(f"\"{name}_cpu\" not implemented for 'Float'")
    return pointwise(
        name, inputs=("x", "y"), c=c, eval=eval, vjp=NO_GRADIENT, domain=domain, numbers=("x", "y"), doc=doc
    )


logical_not = _logical(
    "logical_not",
    ("x",),
    "!{x}",
    np.logical_not,
    doc=Doc(
        "Whether elements are 0 (False).",
        "tg.logical_not(tg.tensor([0, 2]))",
        "tensor([ True, False])",
    ),
)
logical_and = _logical(
    "logical_and",
    ("x", "y"),
    "({x} != 0) & ({y} != 0)",
    np.logical_and,
    doc=Doc(
        "Whether both elements are true, that is not 0.",
        "tg.logical_and(tg.tensor([True, True]), tg.tensor([0, 5]))",
        "tensor([False,  True])",
    ),
)
logical_or = _logical(
    "logical_or",
    ("x", "y"),
    "({x} != 0) | ({y} != 0)",
    np.logical_or,
    doc=Doc(
        "Whether one of both elements is true, that is not 0.",
        "tg.logical_or(tg.tensor([True, False]), tg.tensor([0, 0]))",
        "tensor([ True, False])",
    ),
)
logical_xor = _logical(
    "logical_xor",
    ("x", "y"),
    "!{x} != !{y}",
    np.logical_xor,
    doc=Doc(
        "Whether just one of both elements is true, that is not 0.",
        "tg.logical_xor(tg.tensor([True, False]), tg.tensor([1, 1]))",
        "tensor([False,  True])",
    ),
)

bitwise_and = _bitwise(
    "bitwise_and",
    "{x} & {y}",
    np.bitwise_and,
    doc=Doc(
        "The bits that both integers have (``&``); the logical and of bool.",
        "tg.bitwise_and(tg.tensor([6, 5]), 3)",
        "tensor([2, 1])",
    ),
)
bitwise_or = _bitwise(
    "bitwise_or",
    "{x} | {y}",
    np.bitwise_or,
    doc=Doc(
        "The bits that one of both integers has (``|``); the logical or of bool.",
        "tg.bitwise_or(tg.tensor([6, 5]), 3)",
        "tensor([7, 7])",
    ),
)
bitwise_xor = _bitwise(
    "bitwise_xor",
    "{x} ^ {y}",
    np.bitwise_xor,
    doc=Doc(
        "The bits that just one of both integers has (``^``); whether bool differ.",
        "tg.bitwise_xor(tg.tensor([6, 5]), 3)",
        "tensor([5, 6])",
    ),
)


def _shift(name: str, kernel: str, c: str, eval: Callable[..., Any], doc: Doc) -> Op:
    """PyTorch has shifts of integers alone; neither bool nor a floating-point number is one."""

    def domain(dtype: DType) -> DType:
        if dtype is bool_ or dtype.is_floating_point:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.title}'; shift integers")
        return dtype

    return pointwise(
        name, inputs=("x", "y"), c=c, eval=eval, vjp=NO_GRADIENT, domain=domain, numbers=("x", "y"), doc=doc
    )


def _shifted_left(x: np.ndarray, y: np.ndarray) -> Any:
    bits = 8 * x.dtype.itemsize
    inside = (y >= 0) & (y < bits)
    return np.where(inside, np.left_shift(x, np.where(inside, y, 0)), 0).astype(x.dtype)


def _shifted_right(x: np.ndarray, y: np.ndarray) -> Any:
    bits = 8 * x.dtype.itemsize
    inside = (y >= 0) & (y < bits)
    sign = np.where(x < 0, -1, 0).astype(x.dtype)
    return np.where(inside, np.right_shift(x, np.where(inside, y, 0)), sign).astype(x.dtype)


# Shifts by what is no place of the type leave nothing, or the sign.
bitwise_left_shift = _shift(
    "bitwise_left_shift",
    "lshift_cpu",
    "tg_shift_left{f}({x}, {y})",
    _shifted_left,
    doc=Doc(
        "``input << other``: bits moved up by `other` places. 0 where that is below 0 or all bits of the type.",
        "tg.bitwise_left_shift(tg.tensor([1, 3]), 2)",
        "tensor([ 4, 12])",
    ),
)
bitwise_right_shift = _shift(
    "bitwise_right_shift",
    "rshift_cpu",
    "tg_shift_right{f}({x}, {y})",
    _shifted_right,
    doc=Doc(
        "``input >> other``: bits moved down by `other` places; the sign stays.",
        "tg.bitwise_right_shift(tg.tensor([8, -8]), 2)",
        "tensor([ 2, -2])",
    ),
)


def bitwise_not(input: Any) -> Any:
    """Every bit turned over (``~``), ``-1 - input`` of a signed integer; the logical not of bool.

    Shape and type are those of `input`. NotImplementedError for floats and complex numbers.

    >>> import tracegrad as tg
    >>> tg.bitwise_not(tg.tensor([0, 5]))
    tensor([-1, -6])
    """
    dtype = common_dtype([input])
    if dtype.category >= FLOATING:
        raise NotImplementedError(f"\"bitwise_not_cpu\" not implemented for '{dtype.title}'")
    return logical_not(input) if dtype is bool_ else bitwise_xor(input, -1)


bitwise_not.__signature__ = signature_of(("x",))  # type: ignore[attr-defined]
