"""Circular and hyperbolic functions and their inverses, element by element."""

from __future__ import annotations

import numpy as np

from .comparison import eq, where
from .elementary import elementary, rsqrt
from .pointwise import floating_domain, pointwise

sin = elementary("sin", np.sin, lambda g, x: g * cos(x))
cos = elementary("cos", np.cos, lambda g, x: g * -sin(x))
tan = elementary("tan", np.tan, lambda g, out: g * (1 + out * out), c="tan{f}({x})")
asin = elementary("asin", np.arcsin, lambda g, x: g * rsqrt(1 - x * x), c="asin{f}({x})")
acos = elementary("acos", np.arccos, lambda g, x: g * -rsqrt(1 - x * x), c="acos{f}({x})")
atan = elementary("atan", np.arctan, lambda g, x: g / (x * x + 1), c="atan{f}({x})")

sinh = elementary("sinh", np.sinh, lambda g, x: g * cosh(x), c="sinh{f}({x})")
cosh = elementary("cosh", np.cosh, lambda g, x: g * sinh(x), c="cosh{f}({x})")
tanh = elementary("tanh", np.tanh, lambda g, out: g * (1 - out * out))
asinh = elementary("asinh", np.arcsinh, lambda g, x: g * rsqrt(x**2 + 1), c="asinh{f}({x})")
acosh = elementary("acosh", np.arccosh, lambda g, x: g * rsqrt(x * x - 1), c="acosh{f}({x})")
atanh = elementary("atanh", np.arctanh, lambda g, x: g / (1 - x**2), c="atanh{f}({x})")

# At the origin, where the angle jumps, the derivative is 0.
atan2 = pointwise(
    "atan2",
    inputs=("x", "y"),
    domain=floating_domain,
    c="atan2{f}({x}, {y})",
    eval=np.arctan2,
    vjp={
        "x": lambda g, x, y: where(eq(x * x + y * y, 0), 0, g * (y / (x * x + y * y))),
        "y": lambda g, x, y: where(eq(x * x + y * y, 0), 0, g * -(x / (x * x + y * y))),
    },
)
