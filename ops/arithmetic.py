"""Arithmetic, element by element."""

from __future__ import annotations

import numpy as np

from .comparison import eq, where
from .pointwise import floating_domain, pointwise

add = pointwise(
    "add",
    inputs=("x", "y"),
    c="{x} + {y}",
    eval=np.add,
    vjp={"x": lambda g: g, "y": lambda g: g},
)
sub = pointwise(
    "sub",
    inputs=("x", "y"),
    c="{x} - {y}",
    eval=np.subtract,
    vjp={"x": lambda g: g, "y": lambda g: -g},
)
mul = pointwise(
    "mul",
    inputs=("x", "y"),
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
    vjp={"x": lambda g, y: g / y, "y": lambda g, y, out: -g * (out / y)},
)
neg = pointwise("neg", c="-{x}", eval=np.negative, vjp={"x": lambda g: -g})

# At a tie each operand gets half (PyTorch's rule).
maximum = pointwise(
    "maximum",
    inputs=("x", "y"),
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
    c="tg_min{f}({x}, {y})",
    eval=np.minimum,
    vjp={
        "x": lambda g, x, y: where(eq(x, y), g / 2, where(x > y, 0, g)),
        "y": lambda g, x, y: where(eq(x, y), g / 2, where(x < y, 0, g)),
    },
)
