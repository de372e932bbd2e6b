"""The error function's relatives, and the normal distribution's."""

from __future__ import annotations

import math
from typing import Any

from ..erf import INNER
from . import coefficients as c
from .language import formula


@formula
def exp_of_square(m: Any, x: Any, sign: Any) -> Any:
    """exp(sign x**2) in two factors, of which the first has an exact exponent."""
    high = m.trunc(x * 16) / 16
    return m.exp(sign * (high * high)) * m.exp(sign * ((x - high) * (x + high)))


@formula
def erfcx_positive(m: Any, x: Any) -> Any:
    """exp(x**2) erfc(x) for x >= 0."""
    place = m.where(x == math.inf, 1.0, (x - 3.75) / (x + 3.75))
    return m.chebyshev(c.ERFCX, place) / (1 + 2 * x)


@formula
def erfcx(m: Any, x: Any) -> Any:
    """exp(x**2) erfc(x)."""
    size = m.abs(x)
    value = erfcx_positive(m, size)
    return m.where(x < 0, 2 * exp_of_square(m, m.where(size < 30, size, 30.0), 1.0) - value, value)


@formula
def erfc(m: Any, x: Any) -> Any:
    """1 - erf(x), right where it is small."""
    size = m.abs(x)
    is_near = size < 0.5
    inside = m.where(is_near, x, 0.0)
    near = 1 - inside * m.polynomial(INNER, 2 * inside * inside - 1)
    bounded = m.where(size < 30, size, 30.0)
    far = m.where(is_near, 1.0, exp_of_square(m, bounded, -1.0) * erfcx_positive(m, bounded))
    return m.where(x != x, x, m.where(is_near, near, m.where(x < 0, 2 - far, far)))


@formula
def ndtr(m: Any, x: Any) -> Any:
    """The normal distribution's cumulative function."""
    return 0.5 * erfc(m, x * -math.sqrt(0.5))


@formula
def log_ndtr(m: Any, x: Any) -> Any:
    """log(ndtr(x)), also where ndtr is 0 or 1."""
    t = x * math.sqrt(0.5)
    below = m.where(x < -1, t, -1.0)
    far = m.log(0.5 * erfcx_positive(m, -below)) - below * below
    return m.where(x < -1, far, m.log1p(-0.5 * erfc(m, t)))


@formula
def quantile_of_tail(m: Any, p: Any) -> Any:
    """-ndtri(p) for 0 < p < 0.075."""
    r = m.sqrt(-m.log(p))
    near, far = c.QUANTILE_NEAR, c.QUANTILE_FAR
    by_near = m.polynomial(near[0], r - 1.6) / m.polynomial(near[1], r - 1.6)
    by_far = m.polynomial(far[0], r - 5) / m.polynomial(far[1], r - 5)
    return m.where(r <= 5, by_near, by_far)


@formula
def quantile_of_middle(m: Any, q: Any) -> Any:
    """ndtri(0.5 + q) for abs(q) <= 0.425."""
    r = 0.180625 - q * q
    above, below = c.QUANTILE_MIDDLE
    return q * m.polynomial(above, r) / m.polynomial(below, r)


@formula
def ndtri(m: Any, p: Any) -> Any:
    """The inverse of ndtr on [0, 1]."""
    q = p - 0.5
    is_middle = m.abs(q) <= 0.425
    middle = quantile_of_middle(m, m.where(is_middle, q, 0.0))
    tail = m.where(q < 0, p, 1 - p)
    far = quantile_of_tail(m, m.where(tail > 0, tail, 0.01))
    value = m.where(is_middle, middle, m.where(q < 0, -far, far))
    at_end = m.where(p == 0, -math.inf, m.where(p == 1, math.inf, math.nan))
    return m.where((p > 0) & (p < 1), value, at_end)


@formula
def erfinv(m: Any, x: Any) -> Any:
    """The inverse of erf on [-1, 1]."""
    size = m.abs(x)
    is_middle = size <= 0.85
    middle = quantile_of_middle(m, m.where(is_middle, 0.5 * x, 0.0))
    tail = 0.5 * (1 - size)
    far = m.copysign(quantile_of_tail(m, m.where(tail > 0, tail, 0.01)), x)
    value = m.where(is_middle, middle, far) * math.sqrt(0.5)
    return m.where(size < 1, value, m.where(size == 1, x * math.inf, math.nan))
