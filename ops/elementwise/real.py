"""Functions of how floating-point numbers are made: sign, exponent, neighbours; and of divisors of integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..comparison import eq, isnan, where
from ..core import NO_GRADIENT, current
from ..elementary import elementary, floating_only
from ..logic import logical_or
from ..pointwise import bool_result, cast, floating_domain, pointwise
from ..sources import zeros
from ..types import DType, bool_, int32

exp2 = elementary("exp2", np.exp2, lambda g, out: g * (out * math.log(2)))

copysign = pointwise(
    "copysign",
    inputs=("x", "y"),
    domain=floating_domain,
    c="tg_copysign{f}({x}, {y})",
    eval=np.copysign,
    vjp={
        "x": lambda g, x, out: g * where(eq(x, 0), 0.0, out / where(eq(x, 0), 1.0, x)),
        "y": lambda y_type: zeros(y_type),
    },
)


# Of two numbers the larger or smaller one, of a number and NaN the number. At a tie the first gets the gradient.
# It gets the sign of its zero, too, where numpy's fmax goes by the number of elements.
fmax = pointwise(
    "fmax",
    inputs=("x", "y"),
    domain=floating_domain,
    c="(({x} >= {y}) | ({y} != {y})) ? {x} : {y}",
    eval=lambda x, y: np.where((x >= y) | (y != y), x, y),
    vjp={
        "x": lambda g, x, y: where(logical_or(x >= y, isnan(y)), g, 0),
        "y": lambda g, x, y: where(logical_or(x >= y, isnan(y)), 0, g),
    },
)
fmin = pointwise(
    "fmin",
    inputs=("x", "y"),
    domain=floating_domain,
    c="(({x} <= {y}) | ({y} != {y})) ? {x} : {y}",
    eval=lambda x, y: np.where((x <= y) | (y != y), x, y),
    vjp={
        "x": lambda g, x, y: where(logical_or(x <= y, isnan(y)), g, 0),
        "y": lambda g, x, y: where(logical_or(x <= y, isnan(y)), 0, g),
    },
)
nextafter = pointwise(
    "nextafter",
    inputs=("x", "y"),
    domain=floating_only("nextafter_cpu"),
    c="nextafter{f}({x}, {y})",
    eval=np.nextafter,
    vjp={"x": lambda g, x, y: where(eq(x, y), 0, g), "y": lambda y_type: zeros(y_type)},
)
signbit = pointwise(
    "signbit",
    domain=floating_domain,
    # gcc 12 fails on vectors of __builtin_signbit.
    c="__builtin_copysign{f}(1, {x}) < 0",
    eval=np.signbit,
    vjp=NO_GRADIENT,
    result=bool_result,
)


# ------------------------------------------------------------------------------------------- mantissa and exponent


def _parted(dtype: DType) -> DType:
    if not dtype.is_floating_point:
        raise RuntimeError("torch.frexp() only supports floating-point dtypes; use .float()")
    return dtype


def _exponent(x: np.ndarray) -> Any:
    return np.frexp(x)[1]


# x = mantissa * 2**exponent with a mantissa in [0.5, 1); 0, infinities and NaN have exponent 0.
frexp_exponent = pointwise(
    "frexp_exponent",
    domain=_parted,
    c="tg_exponent({x})",
    eval=_exponent,
    vjp=NO_GRADIENT,
    result=lambda _: int32,
)
frexp_mantissa = pointwise(
    "frexp_mantissa",
    domain=_parted,
    c="({type})tg_mantissa({x})",
    eval=lambda x: np.frexp(x)[0],
    vjp={"x": lambda g, x: g / exp2(cast(frexp_exponent(x), current().type_of(x).dtype))},
    backward_name="FrexpBackward0",
)


# ------------------------------------------------------------------------------------------------------- divisors


def _integers(kernel: str) -> Callable[[DType], DType]:
    def domain(dtype: DType) -> DType:
        if dtype is bool_ or dtype.is_floating_point:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.title}'; convert with .long()")
        return dtype

    return domain


def _least_common_multiple(x: np.ndarray, y: np.ndarray) -> Any:
    """PyTorch's: |x / gcd * y|, which wraps around where it is too large."""
    divisor = np.gcd(x, y)
    return np.abs(np.floor_divide(x, np.where(divisor == 0, 1, divisor)) * y).astype(x.dtype)


gcd = pointwise(
    "gcd", inputs=("x", "y"), domain=_integers("gcd_cpu"), c="tg_gcd{f}({x}, {y})", eval=np.gcd, vjp=NO_GRADIENT
)
lcm = pointwise(
    "lcm",
    inputs=("x", "y"),
    domain=_integers("lcm_cpu"),
    c="tg_lcm{f}({x}, {y})",
    eval=_least_common_multiple,
    vjp=NO_GRADIENT,
)
