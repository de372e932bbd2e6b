"""Bessel functions and Airy's: Chebyshev series near 0, behind them amplitude and phase, or an exponential."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from . import bessel_coefficients as c
from .language import formula
from .modified_bessel import i0, i1

_TWO_OVER_PI = 2 / math.pi


@formula
def spherical_bessel_j0(m: Any, x: Any) -> Any:
    """sin(x) / x, 1 at 0, 0 at infinity."""
    divisor = m.where(x == 0, 1.0, x)
    value = m.where(x == 0, 1.0, m.sin(divisor) / divisor)
    return m.where(m.abs(x) == math.inf, 0.0, value)


def _wave(m: Any, x: Any, p: Sequence[float], q: Sequence[float], turn: float) -> tuple[Any, Any]:
    """The functions of both kinds for x >= 8: sqrt(2 / pi x) (P cos t - Q sin t) and (P sin t + Q cos t).

    The phase t is x - pi / 4 for `turn` 1, x - 3 pi / 4 for -1: its sine and cosine are made of those of x.
    """
    place = 128 / (x * x) - 1
    amplitude, shift = m.chebyshev(p, place), m.chebyshev(q, place) / x
    sine, cosine = m.sin(x), m.cos(x)
    along, across = turn * cosine + sine, turn * sine - cosine
    scale = m.sqrt(1 / (math.pi * x))
    return scale * (amplitude * along - shift * across), scale * (amplitude * across + shift * along)


@formula
def bessel_j0(m: Any, x: Any) -> Any:
    """The Bessel function of the first kind, of order 0."""
    size = m.abs(x)
    near = m.where(size < 8, size, 8.0)
    small = m.chebyshev(c.J0_SMALL, near * near / 32 - 1)
    large, _ = _wave(m, m.where(size < 8, 8.0, size), c.P0, c.Q0, 1.0)
    return m.where(size < 8, small, large)


@formula
def bessel_j1(m: Any, x: Any) -> Any:
    """The Bessel function of the first kind, of order 1."""
    size = m.abs(x)
    near = m.where(size < 8, x, 8.0)
    small = near * m.chebyshev(c.J1_SMALL, near * near / 32 - 1)
    large, _ = _wave(m, m.where(size < 8, 8.0, size), c.P1, c.Q1, -1.0)
    return m.where(size < 8, small, m.where(x < 0, -large, large))


def _of_positive(m: Any, x: Any, value: Any, at_0: float) -> Any:
    return m.where(x > 0, value, m.where(x == 0, at_0, math.nan))


@formula
def bessel_y0(m: Any, x: Any) -> Any:
    """The Bessel function of the second kind, of order 0."""
    near = m.where((x > 0) & (x < 8), x, 1.0)
    small = _TWO_OVER_PI * m.log(near) * bessel_j0(m, near) + m.chebyshev(c.Y0_SMALL, near * near / 32 - 1)
    _, large = _wave(m, m.where(x < 8, 8.0, x), c.P0, c.Q0, 1.0)
    return _of_positive(m, x, m.where(x < 8, small, large), -math.inf)


@formula
def bessel_y1(m: Any, x: Any) -> Any:
    """The Bessel function of the second kind, of order 1."""
    near = m.where((x > 0) & (x < 8), x, 1.0)
    rest = near * m.chebyshev(c.Y1_SMALL, near * near / 32 - 1)
    small = _TWO_OVER_PI * (m.log(near) * bessel_j1(m, near) - 1 / near) + rest
    _, large = _wave(m, m.where(x < 8, 8.0, x), c.P1, c.Q1, -1.0)
    return _of_positive(m, x, m.where(x < 8, small, large), -math.inf)


def _k_of_large(m: Any, x: Any, coefficients: Sequence[float]) -> Any:
    """exp(x) times the modified Bessel function of the second kind, for x >= 2."""
    return m.chebyshev(coefficients, 4 / x - 1) / m.sqrt(x)


@formula
def k0_near(m: Any, x: Any) -> Any:
    """The modified Bessel function of the second kind, of order 0, for 0 < x <= 2."""
    return m.chebyshev(c.K0_SMALL, x * x * 0.5 - 1) - m.log(0.5 * x) * i0(m, x)


@formula
def k1_near(m: Any, x: Any) -> Any:
    """The modified Bessel function of the second kind, of order 1, for 0 < x <= 2."""
    return m.chebyshev(c.K1_SMALL, x * x * 0.5 - 1) / x + m.log(0.5 * x) * i1(m, x)


def _k(m: Any, x: Any, near: Any, coefficients: Sequence[float], scaled: bool) -> Any:
    inside = m.where((x > 0) & (x <= 2), x, 1.0)
    outside = m.where(x > 2, x, 2.0)
    small, large = near(m, inside), _k_of_large(m, outside, coefficients)
    value = m.where(x <= 2, small * m.exp(inside) if scaled else small, large if scaled else m.exp(-outside) * large)
    return _of_positive(m, x, m.where(x == math.inf, 0.0, value), math.inf)


@formula
def modified_bessel_k0(m: Any, x: Any) -> Any:
    """The modified Bessel function of the second kind, of order 0."""
    return _k(m, x, k0_near, c.K0_LARGE, False)


@formula
def modified_bessel_k1(m: Any, x: Any) -> Any:
    """The modified Bessel function of the second kind, of order 1."""
    return _k(m, x, k1_near, c.K1_LARGE, False)


@formula
def scaled_modified_bessel_k0(m: Any, x: Any) -> Any:
    """exp(x) times the modified Bessel function of the second kind, of order 0."""
    return _k(m, x, k0_near, c.K0_LARGE, True)


@formula
def scaled_modified_bessel_k1(m: Any, x: Any) -> Any:
    """exp(x) times the modified Bessel function of the second kind, of order 1."""
    return _k(m, x, k1_near, c.K1_LARGE, True)


@formula
def airy_ai(m: Any, x: Any) -> Any:
    """Airy's function Ai; NaN at infinity, as in PyTorch."""
    size = m.abs(x)
    middle = m.chebyshev(c.AIRY_MIDDLE, (m.where((x > -4) & (x < 2), x, -1.0) + 1) / 3)
    above = m.where(x > 2, x, 2.0)
    z = 2 * above * m.sqrt(above) / 3
    falling = m.exp(-z) * m.chebyshev(c.AIRY_POSITIVE, 2 * (4 * math.sqrt(2) / 3) / z - 1)
    falling = falling / (2 * m.sqrt(math.pi * m.sqrt(above)))
    below = m.where(x < -4, size, 4.0)
    z = 2 * below * m.sqrt(below) / 3
    share = (16 / 3) / z
    place = 2 * share * share - 1
    amplitude, shift = m.chebyshev(c.AIRY_P, place), m.chebyshev(c.AIRY_Q, place) / z
    sine, cosine = m.sin(z), m.cos(z)
    waving = amplitude * (cosine + sine) + shift * (sine - cosine)
    waving = waving / m.sqrt(2 * math.pi * m.sqrt(below))
    value = m.where(x >= 2, falling, m.where(x <= -4, waving, middle))
    return m.where(size == math.inf, math.nan, m.where(x != x, x, value))
