"""Arithmetic, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from .comparison import eq, where
from .identity import copy
from .logic import logical_and, logical_or
from .pointwise import floating_domain, pointwise, without_bool
from .sources import zeros

add = pointwise(
    "add",
    inputs=("x", "y"),
    on_bool=logical_or,
    c="{x} + {y}",
    eval=np.add,
    vjp={"x": lambda g: g, "y": lambda g: g},
)
sub = pointwise(
    "sub",
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
    inputs=("x", "y"),
    on_bool=logical_and,
    c="{x} * {y}",
    eval=np.multiply,
    vjp={"x": lambda g, y: g * y, "y": lambda g, x: g * x},
)
div = pointwise(
    "div",
    inputs=("x", "y"),
    domain=floating_domain,
    c="{x} / {y}",
    eval=np.true_divide,
    # The quotient is computed again: what is kept are the operands, so that the result may be written to (PyTorch).
    vjp={"x": lambda g, y: g / y, "y": lambda g, x, y: -(g * ((x / y) / y))},
)


def _reciprocal(x: np.ndarray) -> Any:
    return x.dtype.type(1) / x


neg = pointwise(
    "neg",
    domain=without_bool(
        "Negation, the `-` operator, on a bool tensor is not supported. "
        "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.",
        RuntimeError,
    ),
    c="-{x}",
    eval=np.negative,
    vjp={"x": lambda g: -g},
)


# It keeps its result.
reciprocal = pointwise(
    "reciprocal",
    domain=floating_domain,
    c="1 / {x}",
    eval=_reciprocal,
    vjp={"x": lambda g, out: -g * (out * out)},
)
abs = pointwise(
    "abs",
    domain=without_bool("\"abs_cpu\" not implemented for 'Bool'"),
    c="tg_abs{f}({x})",
    eval=np.abs,
    vjp={"x": lambda g, x: g * sign(x)},
)


def _sign(x: np.ndarray) -> np.ndarray:
    """PyTorch's sign: 0 for NaN, where numpy gives NaN."""
    return np.subtract(x > 0, x < 0, dtype=np.int8).astype(x.dtype)


sign = pointwise(
    "sign",
    on_bool=copy,
    c="({type})(({x} > 0) - ({x} < 0))",
    eval=_sign,
    vjp={"x": lambda x_type: zeros(x_type)},
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
)
