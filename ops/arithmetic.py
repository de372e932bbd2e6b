"""Arithmetic, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from .comparison import eq, where
from .core import current
from .elementwise.descriptions import Doc
from .identity import copy
from .logic import logical_and, logical_or
from .pointwise import floating_domain, pointwise, without_bool
from .sources import zeros
from .types import real_of

add = pointwise(
    "add",
    takes_complex=True,
    inputs=("x", "y"),
    on_bool=logical_or,
    c="{x} + {y}",
    eval=np.add,
    vjp={"x": lambda g: g, "y": lambda g: g},
)
sub = pointwise(
    "sub",
    takes_complex=True,
    inputs=("x", "y"),
    domain=without_bool(
        "Subtraction, the `-` operator, with two bool tensors is not supported. "
        "Use the `^` or `logical_xor()` operator instead.",
        RuntimeError,
    ),
    c="{x} - {y}",
    eval=np.subtract,
    vjp={"x": lambda g: g, "y": lambda g: -g},
)
mul = pointwise(
    "mul",
    takes_complex=True,
    inputs=("x", "y"),
    on_bool=logical_and,
    c="{x} * {y}",
    eval=np.multiply,
    vjp={"x": lambda g, y: g * y, "y": lambda g, x: g * x},
    wide_scalars=(0, 1),
    numbers=("x", "y"),
    doc=Doc(
        "``input * other``, element by element. Either may be a number. On bool it is the logical and.",
        "tg.mul(tg.tensor([1., 2., 3.]), 10)",
        "tensor([10., 20., 30.])",
    ),
)
div = pointwise(
    "div",
    takes_complex=True,
    inputs=("x", "y"),
    domain=floating_domain,
    c="{x} / {y}",
    eval=np.true_divide,
    # The quotient is computed again: what is kept are the operands, so that the result may be written to (PyTorch).
    vjp={"x": lambda g, y: g / y, "y": lambda g, x, y: -(g * ((x / y) / y))},
    wide_scalars=(1,),
)


def _reciprocal(x: np.ndarray) -> Any:
    return x.dtype.type(1) / x


neg = pointwise(
    "neg",
    takes_complex=True,
    domain=without_bool(
        "Negation, the `-` operator, on a bool tensor is not supported. "
        "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.",
        RuntimeError,
    ),
    c="-{x}",
    eval=np.negative,
    vjp={"x": lambda g: -g},
    doc=Doc(
        "``-input``. Unsigned integers wrap around: -1 is 255 as uint8.",
        "tg.neg(tg.tensor([1., -2.]))",
        "tensor([-1.,  2.])",
    ),
)


# It keeps its result.
reciprocal = pointwise(
    "reciprocal",
    takes_complex=True,
    domain=floating_domain,
    c="1 / {x}",
    eval=_reciprocal,
    vjp={"x": lambda g, out: -g * (out * out)},
    doc=Doc(
        "``1 / input``; infinite where `input` is 0.",
        "tg.reciprocal(tg.tensor([2., -4.]))",
        "tensor([ 0.5000, -0.2500])",
    ),
)
abs = pointwise(
    "abs",
    takes_complex=True,
    result=real_of,
    domain=without_bool("\"abs_cpu\" not implemented for 'Bool'"),
    c="tg_abs{f}({x})",
    eval=np.abs,
    vjp={"x": lambda g, x: g * sgn(x)},
    doc=Doc(
        "The absolute value; of a complex number sqrt(re² + im²). The derivative at 0 is 0.",
        "tg.abs(tg.tensor([-1.5, 2.]))",
        "tensor([1.5000, 2.0000])",
    ),
)


def sgn(x: Any) -> Any:
    """The sign; of a complex number the one of size 1 in its direction, 0 of 0."""
    if not current().type_of(x).dtype.is_complex:
        return sign(x)
    size = abs(x)
    is_zero = eq(size, 0)
    return where(is_zero, 0, x / where(is_zero, 1, size))


def _sign(x: np.ndarray) -> np.ndarray:
    """PyTorch's sign: 0 for NaN, where numpy gives NaN."""
    return np.subtract(x > 0, x < 0, dtype=np.int8).astype(x.dtype)


sign = pointwise(
    "sign",
    on_bool=copy,
    c="({type})(({x} > 0) - ({x} < 0))",
    eval=_sign,
    vjp={"x": lambda x_type: zeros(x_type)},
    doc=Doc(
        "-1, 0 or 1 as `input` is below, at or above 0; 0 for NaN. `sgn` takes complex numbers. The derivative is 0.",
        "tg.sign(tg.tensor([-3., 0., 2.]))",
        "tensor([-1.,  0.,  1.])",
    ),
)

# At a tie each operand gets half (PyTorch's rule); a NaN in either gives both the whole cotangent.
maximum = pointwise(
    "maximum",
    inputs=("x", "y"),
    on_bool=logical_or,
    c="tg_max{f}({x}, {y})",
    eval=np.maximum,
    vjp={
        "x": lambda g, x, y: where(eq(x, y), g / 2, where(x < y, 0, g)),
        "y": lambda g, x, y: where(eq(x, y), g / 2, where(x > y, 0, g)),
    },
    doc=Doc(
        "The larger of two elements; NaN where either is NaN. At a tie each gets half of the gradient.",
        "tg.maximum(tg.tensor([1., 5.]), tg.tensor([3., 2.]))",
        "tensor([3., 5.])",
    ),
)
minimum = pointwise(
    "minimum",
    inputs=("x", "y"),
    on_bool=logical_and,
    c="tg_min{f}({x}, {y})",
    eval=np.minimum,
    vjp={
        "x": lambda g, x, y: where(eq(x, y), g / 2, where(x > y, 0, g)),
        "y": lambda g, x, y: where(eq(x, y), g / 2, where(x < y, 0, g)),
    },
    doc=Doc(
        "The smaller of two elements; NaN where either is NaN. At a tie each gets half of the gradient.",
        "tg.minimum(tg.tensor([1., 5.]), tg.tensor([3., 2.]))",
        "tensor([1., 2.])",
    ),
)
