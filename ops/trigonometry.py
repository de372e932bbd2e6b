"""Circular and hyperbolic functions and their inverses, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from .comparison import eq, where
from .core import current
from .elementary import elementary, rsqrt
from .elementwise.descriptions import Doc
from .pointwise import floating_domain, pointwise

sin = elementary(
    "sin",
    np.sin,
    lambda g, x: g * cos(x),
    doc=Doc(
        "The sine of angles in radians.",
        "tg.sin(tg.tensor([0., 1.]))",
        "tensor([0.0000, 0.8415])",
    ),
)
cos = elementary(
    "cos",
    np.cos,
    lambda g, x: g * -sin(x),
    doc=Doc(
        "The cosine of angles in radians.",
        "tg.cos(tg.tensor([0., 1.]))",
        "tensor([1.0000, 0.5403])",
    ),
)
tan = elementary(
    "tan",
    np.tan,
    lambda g, out: g * (1 + out * out),
    c="tan{f}({x})",
    doc=Doc(
        "The tangent of angles in radians.",
        "tg.tan(tg.tensor([0., 1.]))",
        "tensor([0.0000, 1.5574])",
    ),
)
asin = elementary(
    "asin",
    np.arcsin,
    lambda g, x: g * rsqrt(1 - x * x),
    doc=Doc(
        "The angle in [-pi/2, pi/2] whose sine each element is; NaN outside of [-1, 1].",
        "tg.asin(tg.tensor([0., 1.]))",
        "tensor([0.0000, 1.5708])",
    ),
)
acos = elementary(
    "acos",
    np.arccos,
    lambda g, x: g * -rsqrt(1 - x * x),
    doc=Doc(
        "The angle in [0, pi] whose cosine each element is; NaN outside of [-1, 1].",
        "tg.acos(tg.tensor([1., 0.]))",
        "tensor([0.0000, 1.5708])",
    ),
)
atan = elementary(
    "atan",
    np.arctan,
    lambda g, x: g / (x * x + 1),
    doc=Doc(
        "The angle in (-pi/2, pi/2) whose tangent each element is.",
        "tg.atan(tg.tensor([0., 1.]))",
        "tensor([0.0000, 0.7854])",
    ),
)

sinh = elementary(
    "sinh",
    np.sinh,
    lambda g, x: g * cosh(x),
    doc=Doc(
        "The hyperbolic sine, ``(exp(input) - exp(-input)) / 2``.",
        "tg.sinh(tg.tensor([0., 1.]))",
        "tensor([0.0000, 1.1752])",
    ),
)
cosh = elementary(
    "cosh",
    np.cosh,
    lambda g, x: g * sinh(x),
    doc=Doc(
        "The hyperbolic cosine, ``(exp(input) + exp(-input)) / 2``.",
        "tg.cosh(tg.tensor([0., 1.]))",
        "tensor([1.0000, 1.5431])",
    ),
)
tanh = elementary(
    "tanh",
    np.tanh,
    lambda g, out: g * (1 - out * out),
    doc=Doc(
        "The hyperbolic tangent, ``sinh(input) / cosh(input)``.",
        "tg.tanh(tg.tensor([0., 1.]))",
        "tensor([0.0000, 0.7616])",
    ),
)
asinh = elementary(
    "asinh",
    np.arcsinh,
    lambda g, x: g * rsqrt(x**2 + 1),
    doc=Doc(
        "The number whose hyperbolic sine each element is.",
        "tg.asinh(tg.tensor([0., 1.]))",
        "tensor([0.0000, 0.8814])",
    ),
)


def _acosh_gradient(g: Any, x: Any) -> Any:
    """Of complex numbers on the branch that the function is on."""
    is_complex = current().type_of(x).dtype.is_complex
    return g * (rsqrt(x + 1) * rsqrt(x - 1) if is_complex else rsqrt(x * x - 1))


acosh = elementary(
    "acosh",
    np.arccosh,
    _acosh_gradient,
    doc=Doc(
        "The number of at least 0 whose hyperbolic cosine each element is; NaN below 1.",
        "tg.acosh(tg.tensor([1., 2.]))",
        "tensor([0.0000, 1.3170])",
    ),
)
atanh = elementary(
    "atanh",
    np.arctanh,
    lambda g, x: g / (1 - x**2),
    doc=Doc(
        "The number whose hyperbolic tangent each element is; infinite at -1 and 1, NaN beyond.",
        "tg.atanh(tg.tensor([0., 0.5]))",
        "tensor([0.0000, 0.5493])",
    ),
)

# At the origin, where the angle jumps, the derivative is 0.
atan2 = pointwise(
    "atan2",
    inputs=("x", "y"),
    domain=floating_domain,
    c="tg_atan2{f}({x}, {y})",
    eval=np.arctan2,
    vjp={
        "x": lambda g, x, y: where(eq(x * x + y * y, 0), 0, g * (y / (x * x + y * y))),
        "y": lambda g, x, y: where(eq(x * x + y * y, 0), 0, g * -(x / (x * x + y * y))),
    },
    doc=Doc(
        "The angle in [-pi, pi] of the point (other, input): of ``input / other`` in its quadrant.\n"
        "The derivative at the origin is 0.",
        "tg.atan2(tg.tensor([1., 1.]), tg.tensor([1., -1.]))",
        "tensor([0.7854, 2.3562])",
    ),
)
