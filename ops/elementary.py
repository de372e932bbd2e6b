"""Elementary functions, element by element. Integers are computed in the default floating type, as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .comparison import eq, where
from .core import Rule
from .pointwise import Op, floating_domain, pointwise


def _elementary(name: str, eval: Callable[..., Any], rule: Rule, c: str | None = None) -> Op:
    return pointwise(name, c=c or f"tg_{name}{{f}}({{x}})", eval=eval, vjp={"x": rule}, domain=floating_domain)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small)).astype(x.dtype)


exp = _elementary("exp", np.exp, lambda g, out: g * out)
log = _elementary("log", np.log, lambda g, x: g / x)
sin = _elementary("sin", np.sin, lambda g, x: g * cos(x))
cos = _elementary("cos", np.cos, lambda g, x: g * -sin(x))
tanh = _elementary("tanh", np.tanh, lambda g, out: g * (1 - out * out))
sigmoid = _elementary("sigmoid", _sigmoid, lambda g, out: g * (1 - out) * out)
sqrt = _elementary("sqrt", np.sqrt, lambda g, out: g / (2 * out))

abs = pointwise("abs", c="tg_abs{f}({x})", eval=np.abs, vjp={"x": lambda g, x: g * sign(x)})
sign = pointwise("sign", c="tg_sign{f}({x})", eval=np.sign, vjp={"x": lambda g: g * 0})

pow = pointwise(
    "pow",
    inputs=("x", "y"),
    c="tg_pow{f}({x}, {y})",
    eval=np.power,
    vjp={
        # Where the exponent is 0 the result is the constant 1, even at x = 0.
        "x": lambda g, x, y: where(eq(y, 0), 0, g * (y * pow(x, y - 1))),
        "y": lambda g, x, y, out: g * where(eq(x, 0) * (y >= 0), 0, out * log(x)),
    },
)
