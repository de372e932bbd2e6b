"""The gamma function's logarithm, its derivatives, Hurwitz' zeta function and the incomplete gamma functions."""

from __future__ import annotations

import math
from typing import Any

from . import coefficients as c
from .error import erfc
from .language import formula

#: Taylor's series of sin(x) / x in x**2, the highest power first: right to the last place up to pi / 2.
SINE = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(12, -1, -1))


@formula
def sine_to_quarter(m: Any, x: Any) -> Any:
    """sin(pi x) for -0.5 <= x <= 0.5."""
    angle = math.pi * x
    return angle * m.polynomial(SINE, angle * angle)


@formula
def sin_pi(m: Any, x: Any) -> Any:
    """sin(pi x), 0 at whole numbers."""
    n = m.round(x)
    sine = sine_to_quarter(m, x - n)
    return m.where(n - 2 * m.floor(n * 0.5) == 0, sine, -sine)


@formula
def tan_pi(m: Any, x: Any) -> Any:
    """tan(pi x), 0 at whole numbers."""
    rest = x - m.round(x)
    return sine_to_quarter(m, rest) / sine_to_quarter(m, 0.5 - m.abs(rest))


@formula
def stirling(m: Any, x: Any) -> Any:
    """What Stirling's formula leaves of lgamma(x), for x >= 8."""
    return m.polynomial(c.STIRLING, 1 / (x * x)) / x


@formula
def lgamma1p(m: Any, x: Any) -> Any:
    """lgamma(1 + x) for -0.5 <= x <= 0.5, exact for the smallest x too; log1p cancels not more than half of itself."""
    return x * m.polynomial(c.LOG_GAMMA, 2 * x) - m.log1p(x)


@formula
def lgamma(m: Any, x: Any) -> Any:
    """log(abs(gamma(x))). Below 8 by the recurrence down to [1.5, 2.5), from 8 on by Stirling's series."""
    size = m.abs(x)
    y = m.where(size < 1.5, 2.0, m.where(size < 8, size, 2.0))
    factor = 1.0
    for _ in range(6):
        above = y >= 2.5
        y = m.where(above, y - 1, y)
        factor = m.where(above, factor * y, factor)
    middle = (y - 2) * m.polynomial(c.LOG_GAMMA, 2 * (y - 2)) + m.log(factor)
    is_tiny = size < 0.5
    small = lgamma1p(m, m.where(is_tiny, x, m.where(size < 1.5, size - 1, 0.0)))
    near = m.where(is_tiny, small - m.log(size), small)
    large = m.where(size < 8, 8.0, size)
    far = (large - 0.5) * m.log(large) - large + (0.9189385332046727 + stirling(m, large))
    positive = m.where(size < 1.5, near, m.where(size < 8, middle, far))
    # At minus infinity and at poles the sine is 0 or NaN, where the result is infinite.
    whole = m.floor(x) == x
    reflected = math.log(math.pi) - m.log(m.abs(x * sin_pi(m, m.where(whole, 0.5, x)))) - positive
    below = m.where(whole, math.inf, reflected)
    return m.where(size == math.inf, math.inf, m.where(x <= -0.5, below, positive))


@formula
def digamma(m: Any, x: Any) -> Any:
    """The derivative of lgamma: by the recurrence up to 10 and the asymptotic series, below 0 by reflection."""
    y = m.where(x < 0, 1 - x, x)
    shift = 0.0
    for _ in range(10):
        below = y < 10
        shift = m.where(below, shift - 1 / y, shift)
        y = m.where(below, y + 1, y)
    square = 1 / (y * y)
    rest = square * m.polynomial(c.DIGAMMA, square)
    positive = m.where(y == math.inf, y, shift + m.log(y) - 0.5 / y - rest)
    pole = m.where(x == 0, m.copysign(math.inf, -x), math.nan)
    reflected = positive - math.pi / tan_pi(m, x)
    whole = (m.floor(x) == x) & (x <= 0)
    return m.where(whole, pole, m.where(x < 0, reflected, positive))


@formula
def trigamma(m: Any, x: Any) -> Any:
    """The second derivative of lgamma, likewise."""
    y = m.where(x < 0.5, 1 - x, x)
    shift = 0.0
    for _ in range(10):
        below = y < 10
        shift = m.where(below, shift + 1 / (y * y), shift)
        y = m.where(below, y + 1, y)
    square = 1 / (y * y)
    rest = square * m.polynomial(c.TRIGAMMA, square) / y
    positive = shift + (1 / y + 0.5 * square + rest)
    sine = sin_pi(m, x)
    return m.where(x < 0.5, math.pi * math.pi / (sine * sine) - positive, positive)


def _sum_of_powers(m: Any, k: Any, total: Any, base: Any, s: Any) -> tuple[Any, ...]:
    term = m.pow(base, -s)
    total = total + term
    more = ((k < 9) | (base < 9)) & (m.abs(term) > 1e-17 * m.abs(total))
    return more, total, base + 1


@formula
def zeta(m: Any, s: Any, q: Any) -> Any:
    """Hurwitz' zeta function, the sum of (q + k)**-s: ten terms or more, the rest by Euler and Maclaurin."""
    has_value = (s > 1) & ((q > 0) | ((m.floor(q) != q) & (m.floor(s) == s)))
    first = m.where(has_value, q, 1e9)
    total, base = m.repeat(_sum_of_powers, (0.0, first), (s,))
    last = m.pow(base, -s)
    rest = base * last / (s - 1) + 0.5 * last
    factor = s * last / base
    for k, coefficient in enumerate(c.HURWITZ):
        rest = rest + coefficient * factor
        factor = factor * ((s + (2 * k + 1)) * (s + (2 * k + 2))) / (base * base)
    value = m.where((last == 0) | (total == math.inf), total, total + rest)
    pole = (q <= 0) & (m.floor(q) == q)
    return m.where((s == 1) | (~(s < 1) & pole), math.inf, m.where(has_value, value, math.nan))


# ------------------------------------------------------------------------------------- incomplete gamma functions


@formula
def log1p_rest(m: Any, u: Any) -> Any:
    """u - log(1 + u) for u > -1, exact near 0."""
    near = m.abs(u) < 0.4
    inside = m.where(near, u, 0.0)
    return m.where(near, u * u * m.polynomial(c.LOG1P_REST, 2.5 * inside), u - m.log1p(u))


@formula
def gamma_density(m: Any, a: Any, x: Any) -> Any:
    """x**a exp(-x) / gamma(a + 1) for a, x > 0."""
    large = m.where(a < 8, 8.0, a)
    u = (x - large) / large
    rest = m.where(m.abs(u) < 0.4, log1p_rest(m, u), u - m.log(x / large))
    exponent = -large * rest - stirling(m, large)
    direct = m.exp(a * m.log(x) - x - lgamma(m, a + 1))
    return m.where(a < 8, direct, m.exp(exponent) / m.sqrt(2 * math.pi * large))


def _next_of_series(m: Any, k: Any, total: Any, term: Any, a: Any, x: Any) -> tuple[Any, ...]:
    term = term * x / (a + (k + 1))
    return term > 1e-17 * total, total + term, term


@formula
def gamma_series(m: Any, a: Any, x: Any) -> Any:
    """P(a, x) by its series, for x that is not much above a."""
    total, _ = m.repeat(_next_of_series, (1.0, 1.0), (a, x))
    return gamma_density(m, a, x) * total


def _next_of_fraction(m: Any, k: Any, b: Any, c: Any, d: Any, value: Any, a: Any) -> tuple[Any, ...]:
    n = k + 1
    factor = n * (a - n)
    b = b + 2
    d = 1 / (factor * d + b)
    c = b + factor / c
    return m.abs(c * d - 1) > 2.3e-16, b, c, d, value * (c * d)


@formula
def gamma_fraction(m: Any, a: Any, x: Any) -> Any:
    """Q(a, x) by Legendre's continued fraction (DLMF 8.9.2) in the order of Lentz, for x > max(a, 1)."""
    b = x + 1 - a
    fraction = m.repeat(_next_of_fraction, (b, 1e300, 1 / b, 1 / b), (a,))[-1]
    return gamma_density(m, a, x) * a * fraction


def _next_of_alternating(m: Any, k: Any, total: Any, term: Any, a: Any, x: Any) -> tuple[Any, ...]:
    term = -term * x / (k + 1)
    share = term / (a + (k + 1))
    return m.abs(share) > 1e-17 * m.abs(total), total + share, term


@formula
def gamma_small(m: Any, a: Any, x: Any) -> Any:
    """Q(a, x) for x < 1.1 and small a, where it is not near 1: expm1 has the first term of P's series exactly."""
    total, _ = m.repeat(_next_of_alternating, (0.0, 1.0), (a, x))
    log_gamma = m.where(a <= 0.5, lgamma1p(m, m.where(a <= 0.5, a, 0.5)), lgamma(m, a + 1))
    power = a * m.log(x) - log_gamma
    return -m.expm1(power) - a * m.exp(power) * total


@formula
def gamma_uniform(m: Any, a: Any, x: Any, side: Any) -> Any:
    """P (side -1) or Q (side 1) for large a and x near it: Temme's uniform expansion, DLMF 8.12."""
    u = (x - a) / a
    eta = m.copysign(m.sqrt(2 * log1p_rest(m, u)), u)
    rest = m.polynomial(c.TEMME[-1], eta)
    for row in c.TEMME[-2::-1]:
        rest = rest / a + m.polynomial(row, eta)
    rest = rest * m.exp(-0.5 * a * eta * eta) / m.sqrt(2 * math.pi * a)
    return 0.5 * erfc(m, side * eta * m.sqrt(0.5 * a)) + side * rest


@formula
def gamma_share(m: Any, a: Any, x: Any, side: Any) -> Any:
    """P(a, x) (side -1) or Q(a, x) (side 1) for finite a, x > 0, by the one of four ways that suits a and x."""
    is_uniform = (a > 200) & (m.abs(x - a) < 0.3 * a)
    uniform = gamma_uniform(m, m.where(is_uniform, a, 300.0), m.where(is_uniform, x, 300.0), side)
    least = m.where(x <= 0.5, -0.4 / m.log(m.where(x <= 0.5, x, 0.5)), x * 1.1)
    is_small = (x <= 1.1) & (a <= least)
    small = gamma_small(m, m.where(is_small, a, 0.25), m.where(is_small, x, 0.25))
    by_fraction = ~is_uniform & (x > 1.1) & (x > a)
    fraction = gamma_fraction(m, m.where(by_fraction, a, 1.0), m.where(by_fraction, x, 30.0))
    by_series = ~is_uniform & ~is_small & ~by_fraction
    lower = gamma_series(m, m.where(by_series, a, 1.0), m.where(by_series, x, 0.001))
    upper = m.where(by_fraction, fraction, small)
    return m.where(
        is_uniform,
        uniform,
        m.where(by_series, m.where(side > 0, 1 - lower, lower), m.where(side > 0, upper, 1 - upper)),
    )


def _at_the_ends(m: Any, a: Any, x: Any, side: Any) -> Any:
    """What P (side -1) and Q are where a or x is 0, infinite or no valid operand."""
    inside = (a > 0) & (x > 0) & (a < math.inf) & (x < math.inf)
    share = gamma_share(m, m.where(inside, a, 1.0), m.where(inside, x, 1.0), side)
    lower, upper = (1.0, 0.0) if side < 0 else (0.0, 1.0)
    far = m.where(a == math.inf, m.where(x == math.inf, math.nan, upper), m.where(x == math.inf, lower, math.nan))
    at_0 = m.where(a == 0, m.where(x > 0, lower, math.nan), m.where(x == 0, upper, far))
    return m.where(inside, share, m.where((a < 0) | (x < 0), math.nan, at_0))


@formula
def igamma(m: Any, a: Any, x: Any) -> Any:
    """The regularised lower incomplete gamma function P(a, x)."""
    return _at_the_ends(m, a, x, -1.0)


@formula
def igammac(m: Any, a: Any, x: Any) -> Any:
    """The regularised upper incomplete gamma function Q(a, x)."""
    return _at_the_ends(m, a, x, 1.0)
