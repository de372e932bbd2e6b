"""Elementary functions, element by element. Integers are computed in the default floating type, as in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .comparison import eq, where
from .complex_numbers.parts import real
from .core import NO_GRADIENT, Rule, at_once, current
from .elementwise.descriptions import Doc
from .erf import erf as erf_array
from .logic import logical_and
from .pointwise import Op, floating_domain, pointwise, without_bool
from .sources import zeros
from .types import FLOATING, DType


def elementary(
    name: str,
    eval: Callable[..., Any],
    rule: Rule,
    c: str | None = None,
    backward_name: str | None = None,
    takes_complex: bool = True,
    doc: Doc | None = None,
) -> Op:
    """A function of one floating-point number; its C is the helper ``tg_<name>`` unless `c` says otherwise."""
    c, domain = c or f"tg_{name}{{f}}({{x}})", floating_domain
    return pointwise(
        name,
        c=c,
        eval=eval,
        vjp={"x": rule},
        domain=domain,
        backward_name=backward_name,
        takes_complex=takes_complex,
        doc=doc,
    )


def _sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), of real numbers without overflow on either side."""
    if x.dtype.kind == "c":
        return 1 / (1 + np.exp(-x))
    small = np.exp(-np.abs(x))
    return np.exp(np.minimum(x, x.dtype.type(0))) / (1 + small)


def _log_sigmoid(x: np.ndarray) -> Any:
    """log(1 / (1 + exp(-x))) without overflow on either side."""
    return np.minimum(x, x.dtype.type(0)) - np.log1p(np.exp(-np.abs(x)))


exp = elementary(
    "exp",
    np.exp,
    lambda g, out: g * out,
    doc=Doc(
        "e to the power of each element.",
        "tg.exp(tg.tensor([0., 1.]))",
        "tensor([1.0000, 2.7183])",
    ),
)
expm1 = elementary(
    "expm1",
    np.expm1,
    lambda g, out: g * (out + 1),
    doc=Doc(
        "``exp(input) - 1``, precise for small numbers too.",
        "tg.expm1(tg.tensor([0., 1e-6]))",
        "tensor([0.0000e+00, 1.0000e-06])",
    ),
)
log = elementary(
    "log",
    np.log,
    lambda g, x: g / x,
    doc=Doc(
        "The natural logarithm: minus infinity at 0, NaN below (complex numbers: the main branch).",
        "tg.log(tg.tensor([1., 2.]))",
        "tensor([0.0000, 0.6931])",
    ),
)
log1p = elementary(
    "log1p",
    np.log1p,
    lambda g, x: g / (x + 1),
    backward_name="Log1PBackward0",
    doc=Doc(
        "``log(1 + input)``, precise for small numbers too.",
        "tg.log1p(tg.tensor([0., 1e-6]))",
        "tensor([0.0000e+00, 1.0000e-06])",
    ),
)
log2 = elementary(
    "log2",
    np.log2,
    lambda g, x: g / (x * math.log(2)),
    doc=Doc(
        "The logarithm to base 2: minus infinity at 0, NaN below.",
        "tg.log2(tg.tensor([1., 8.]))",
        "tensor([0., 3.])",
    ),
)
log10 = elementary(
    "log10",
    np.log10,
    lambda g, x: g / (x * math.log(10)),
    doc=Doc(
        "The logarithm to base 10: minus infinity at 0, NaN below.",
        "tg.log10(tg.tensor([10., 2.]))",
        "tensor([1.0000, 0.3010])",
    ),
)
sigmoid = elementary(
    "sigmoid",
    _sigmoid,
    lambda g, out: g * (1 - out) * out,
    doc=Doc(
        "The logistic function ``1 / (1 + exp(-input))``, without overflow on either side.",
        "tg.sigmoid(tg.tensor([-1., 0., 100.]))",
        "tensor([0.2689, 0.5000, 1.0000])",
    ),
)
# Where x is NaN, so are the exponential and the result; the comparison does not lose it.
log_sigmoid = elementary(
    "log_sigmoid",
    _log_sigmoid,
    lambda g, x: g * sigmoid(-x),
    backward_name="LogSigmoidBackward0",
    takes_complex=False,
)
erf = elementary(
    "erf",
    erf_array,
    lambda g, x: g * (2 / math.sqrt(math.pi) * exp(-(x**2))),
    takes_complex=False,
    doc=Doc(
        "The error function ``2 / sqrt(pi) * integral of exp(-t²) from 0 to input``.",
        "tg.erf(tg.tensor([0., 1.]))",
        "tensor([0.0000, 0.8427])",
    ),
)
sqrt = elementary(
    "sqrt",
    np.sqrt,
    lambda g, out: g / (2 * out),
    doc=Doc(
        "The square root; NaN for negative numbers (complex ones: the root with a real part of at least 0).",
        "tg.sqrt(tg.tensor([4., 2.]))",
        "tensor([2.0000, 1.4142])",
    ),
)
rsqrt = elementary(
    "rsqrt",
    lambda x: 1 / np.sqrt(x),
    lambda g, out: g * (-0.5 * (out * out * out)),
    doc=Doc(
        "``1 / sqrt(input)``; infinite at 0, NaN below.",
        "tg.rsqrt(tg.tensor([4., 0.]))",
        "tensor([0.5000,    inf])",
    ),
)


def _power(x: np.ndarray, y: np.ndarray) -> Any:
    """x ** y; an integer to a negative power is its reciprocal cut to an integer (PyTorch), where numpy refuses."""
    if isinstance(y, np.generic) and y == -0.5:  # the reciprocal root: of minus infinity NaN, of -0 minus infinity
        return 1 / np.sqrt(x)
    if isinstance(y, np.generic) and y == 0.5 and x.dtype.kind == "f":  # of -0 it is -0: numpy's power from 2.3 on
        return np.sqrt(x)
    if isinstance(y, np.generic) and y == 3 and x.dtype.kind == "f":  # products, as in PyTorch
        return x * x * x
    return _power_of_tensor(x, y)


def _power_of_tensor(x: np.ndarray, y: np.ndarray) -> Any:
    """The same for an exponent that is a tensor, whose 0.5 is no root: of minus infinity it gives infinity, of -0 0."""
    if y.dtype.kind not in "iu" or not np.any(y < 0):
        power = np.power(x, y)
        if y.dtype.kind == "f" and isinstance(y, np.ndarray) and np.any(is_half := y == 0.5):
            of_half = np.where(np.isneginf(x), np.inf, np.where(x == 0, 0, power))
            power = np.where(is_half, of_half, power).astype(power.dtype)
        return power
    reciprocal = np.where(np.abs(x) == 1, np.power(x, y & 1), np.zeros_like(x))
    return np.where(y < 0, reciprocal, np.power(x, np.maximum(y, 0)))


def _to_exponent(g: Any, x: Any, y: Any, out: Any) -> Any:
    return g * where(logical_and(eq(x, 0), real(y) >= 0), 0, out * log(x))


def _to_base(g: Any, x: Any, y: Any) -> Any:
    """Where the exponent is 0 the result is the constant 1, even at x = 0; of a number the gradient has no history."""
    is_number = isinstance(y, np.generic)
    if not is_number:
        return where(eq(y, 0), 0, g * (y * _pow(x, y - 1)))
    if y == 0:
        return zeros(current().type_of(g))
    if (interpreter := at_once(g, x)) is not None and (share := _share_of_base(g.ndarray, x.ndarray, y)) is not None:
        return interpreter.literal(share)
    return g * (y * _pow(x, y - 1))


def _share_of_base(g: np.ndarray, x: np.ndarray, y: Any) -> np.ndarray | None:
    """The same of arrays; None for short types, which round at each op, and for arrays that do not lie by rows."""
    is_usual = x.dtype.kind == "f" and x.itemsize >= 4 and g.dtype == x.dtype == y.dtype
    if not is_usual or not (x.flags.c_contiguous and g.flags.c_contiguous):
        return None
    with np.errstate(all="ignore"):
        return np.asarray(g * (y * (x if y == 2 else _power(x, y - 1))))


_pow = pointwise(
    "pow",
    inputs=("x", "y"),
    takes_complex=True,
    domain=without_bool("\"pow\" not implemented for 'Bool'"),
    c="tg_pow{f}({x}, {y})",
    eval=_power,
    vjp={"x": _to_base, "y": _to_exponent},
)
_pow_tensor = pointwise(
    "pow_tensor",
    inputs=("x", "y"),
    takes_complex=True,
    domain=without_bool("\"pow\" not implemented for 'Bool'"),
    c="tg_pow{f}({x}, {y})",
    eval=_power_of_tensor,
    backward_name="PowBackward1",
    vjp={"x": lambda g, x, y: where(eq(y, 0), 0, g * (y * _pow_tensor(x, y - 1))), "y": _to_exponent},
)


def pow(x: Any, y: Any) -> Any:
    """x ** y. RuntimeError for an integer to the power of a negative Python integer, as in PyTorch."""
    if isinstance(y, int) and y < 0 and not isinstance(x, (int, float)):
        of = current().type_of(x)
        if of.dtype.category < FLOATING:
            raise RuntimeError(
                f"Integers to negative integer powers are not allowed: {of} ** {y}; use a float, e.g. x ** {float(y)}"
            )
    return (_pow_tensor if hasattr(y, "buffer") else _pow)(x, y)  # of tensors, not of numbers


# ------------------------------------------------------- functions whose pieces meet as PyTorch's do, NaN included


def floating_only(kernel: str) -> Callable[[DType], DType]:
    """The domain of ops that integers and bool do not have; `kernel` is what PyTorch's message calls them."""

    def domain(dtype: DType) -> DType:
        if dtype.category < FLOATING:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.title}'; use .float()")
        return dtype

    return domain


hypot = pointwise(
    "hypot",
    inputs=("x", "y"),
    domain=floating_only("hypot_cpu"),
    c="tg_hypot{f}({x}, {y})",
    eval=np.hypot,
    vjp={"x": lambda g, x, out: g * (x / out), "y": lambda g, y, out: g * (y / out)},
    doc=Doc(
        "``sqrt(input² + other²)`` without overflow.",
        "tg.hypot(tg.tensor([3.]), tg.tensor([4.]))",
        "tensor([5.])",
    ),
)


def _logaddexp(x: np.ndarray, y: np.ndarray) -> Any:
    if x.dtype.kind != "c":
        return np.logaddexp(x, y)
    above = np.where(x.real >= y.real, x, y)
    return above + np.log1p(np.exp(np.where(x.real >= y.real, y, x) - above))


logaddexp = pointwise(
    "logaddexp",
    takes_complex=True,
    inputs=("x", "y"),
    domain=floating_only("logaddexp_cpu"),
    c="tg_logaddexp{f}({x}, {y})",
    eval=_logaddexp,
    vjp={"x": lambda g, x, y: g / (1 + exp(y - x)), "y": lambda g, x, y: g / (1 + exp(x - y))},
    doc=Doc(
        "``log(exp(input) + exp(other))`` without overflow.",
        "tg.logaddexp(tg.tensor([0., 1000.]), tg.tensor([0., 1000.]))",
        "tensor([6.9315e-01, 1.0007e+03])",
    ),
)


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
    domain=floating_only("elu_cpu"),
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
    domain=floating_only("hardswish_cpu"),
    vjp={"x": _hardswish_gradient},
)
