"""Elementary functions, element by element. Integers are computed in the default floating type, as in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .comparison import eq, where
from .core import NO_GRADIENT, Rule, current
from .erf import erf as erf_array
from .logic import logical_and
from .pointwise import Op, floating_domain, pointwise, without_bool
from .types import DType


def elementary(
    name: str, eval: Callable[..., Any], rule: Rule, c: str | None = None, backward_name: str | None = None
) -> Op:
    """A function of one floating-point number; its C is the helper ``tg_<name>`` unless `c` says otherwise."""
    c = c or f"tg_{name}{{f}}({{x}})"
    return pointwise(name, c=c, eval=eval, vjp={"x": rule}, domain=floating_domain, backward_name=backward_name)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)) without overflow on either side."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, x.dtype.type(1), small) / (1 + small)


def _log_sigmoid(x: np.ndarray) -> Any:
    """log(1 / (1 + exp(-x))) without overflow on either side."""
    return np.where(x < 0, x, x.dtype.type(0)) - np.log1p(np.exp(-np.abs(x)))


exp = elementary("exp", np.exp, lambda g, out: g * out)
expm1 = elementary("expm1", np.expm1, lambda g, out: g * (out + 1))
log = elementary("log", np.log, lambda g, x: g / x)
log1p = elementary("log1p", np.log1p, lambda g, x: g / (x + 1), backward_name="Log1PBackward0")
log2 = elementary("log2", np.log2, lambda g, x: g / (x * math.log(2)), c="log2{f}({x})")
log10 = elementary("log10", np.log10, lambda g, x: g / (x * math.log(10)), c="log10{f}({x})")
sigmoid = elementary("sigmoid", _sigmoid, lambda g, out: g * (1 - out) * out)
# Where x is NaN, so are the exponential and the result; the comparison does not lose it.
log_sigmoid = elementary("log_sigmoid", _log_sigmoid, lambda g, x: g * sigmoid(-x), backward_name="LogSigmoidBackward0")
erf = elementary("erf", erf_array, lambda g, x: g * (2 / math.sqrt(math.pi) * exp(-(x**2))))
sqrt = elementary("sqrt", np.sqrt, lambda g, out: g / (2 * out))
rsqrt = elementary("rsqrt", lambda x: 1 / np.sqrt(x), lambda g, out: g * (-0.5 * (out * out * out)))


def _power(x: np.ndarray, y: np.ndarray) -> Any:
    """x ** y; an integer to a negative power is its reciprocal cut to an integer (PyTorch), where numpy refuses."""
    if isinstance(y, np.generic) and y == -0.5:  # the reciprocal root: of minus infinity NaN, of -0 minus infinity
        return 1 / np.sqrt(x)
    if y.dtype.kind == "f" or not np.any(y < 0):
        return np.power(x, y)
    reciprocal = np.where(np.abs(x) == 1, np.power(x, y & 1), np.zeros_like(x))
    return np.where(y < 0, reciprocal, np.power(x, np.maximum(y, 0)))


_pow = pointwise(
    "pow",
    inputs=("x", "y"),
    domain=without_bool("\"pow\" not implemented for 'Bool'"),
    c="tg_pow{f}({x}, {y})",
    eval=_power,
    vjp={
        # Where the exponent is 0 the result is the constant 1, even at x = 0.
        "x": lambda g, x, y: where(eq(y, 0), 0, g * (y * pow(x, y - 1))),
        "y": lambda g, x, y, out: g * where(logical_and(eq(x, 0), y >= 0), 0, out * log(x)),
    },
)


def pow(x: Any, y: Any) -> Any:
    """x ** y. RuntimeError for an integer to the power of a negative Python integer, as in PyTorch."""
    if isinstance(y, int) and y < 0 and not isinstance(x, (int, float)):
        of = current().type_of(x)
        if not of.dtype.is_floating_point:
            raise RuntimeError(
                f"Integers to negative integer powers are not allowed: {of} ** {y}; use a float, e.g. x ** {float(y)}"
            )
    return _pow(x, y)


# ------------------------------------------------------- functions whose pieces meet as PyTorch's do, NaN included

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
