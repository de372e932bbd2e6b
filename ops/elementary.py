"""Elementary functions, element by element. Integers are computed in the default floating type, as in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .comparison import eq, where
from .core import Rule, current
from .erf import erf as erf_array
from .logic import logical_and
from .pointwise import Op, floating_domain, pointwise, without_bool


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
