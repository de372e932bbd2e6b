"""Functions of one or two numbers with formulas of their own, for the function and for its derivative.

What is computed at infinities, at NaN and where pieces meet is what PyTorch computes there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .comparison import where
from .core import NO_GRADIENT
from .elementary import exp
from .logic import logical_and
from .pointwise import floating_domain, pointwise
from .types import DType

hypot = pointwise(
    "hypot",
    inputs=("x", "y"),
    domain=floating_domain,
    c="hypot{f}({x}, {y})",
    eval=np.hypot,
    vjp={"x": lambda g, x, out: g * (x / out), "y": lambda g, y, out: g * (y / out)},
)
logaddexp = pointwise(
    "logaddexp",
    inputs=("x", "y"),
    domain=floating_domain,
    c="tg_logaddexp{f}({x}, {y})",
    eval=np.logaddexp,
    vjp={"x": lambda g, x, y: g / (1 + exp(y - x)), "y": lambda g, x, y: g / (1 + exp(x - y))},
)


def _floating_only(kernel: str) -> Callable[[DType], DType]:
    def domain(dtype: DType) -> DType:
        if not dtype.is_floating_point:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.title}'; use .float()")
        return dtype

    return domain


def _elu(x: np.ndarray, alpha: Any, scale: Any, inner: Any) -> Any:
    bent = np.expm1(np.where(x <= 0, x * inner, x.dtype.type(0)))
    return np.where(x <= 0, bent * (alpha * scale), x * scale)


def _elu_gradient(g: Any, x: Any, alpha: Any, scale: Any, inner: Any) -> Any:
    """At 0 the slope is that of the exponential, its own derivative 0; NaN counts as positive."""
    bent = exp(where(x < 0, x, 0) * inner)
    return where(x <= 0, g * (alpha * scale * inner) * bent, g * scale)


# elu, selu and celu: a line of slope `scale`, and to the left of 0 alpha * scale * (exp(inner * x) - 1).
elu = pointwise(
    "elu",
    inputs=("x", "alpha", "scale", "inner"),
    c="tg_elu{f}({x}, {alpha}, {scale}, {inner})",
    eval=_elu,
    domain=_floating_only("elu_cpu"),
    vjp={"x": _elu_gradient, "alpha": NO_GRADIENT, "scale": NO_GRADIENT, "inner": NO_GRADIENT},
)


def _hardswish(x: np.ndarray) -> Any:
    number = x.dtype.type
    return x * np.minimum(np.maximum(x + number(3), number(0)), number(6)) / number(6)


def _hardswish_gradient(g: Any, x: Any) -> Any:
    inside = where(logical_and(x > -3, x < 3), x, 0)
    return where(x <= -3, 0, where(x < 3, g * (inside / 3 + 0.5), g))


hardswish = pointwise(
    "hardswish",
    c="{x} * tg_min{f}(tg_max{f}({x} + 3, 0), 6) / 6",
    eval=_hardswish,
    domain=_floating_only("hardswish_cpu"),
    vjp={"x": _hardswish_gradient},
)
