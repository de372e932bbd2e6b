"""Modified Bessel functions of the first kind, by Chebyshev series on [0, 8] and of 1 / x behind."""

from __future__ import annotations

from typing import Any

from . import coefficients as c
from .language import formula


def _scaled(m: Any, size: Any, small: Any, large: Any, factor: Any) -> Any:
    """exp(-size) times the function at `size`, which is `factor` times its series where that is small."""
    inside = m.where(size <= 8, size, 8.0)
    outside = m.where(size <= 8, 8.0, size)
    near = factor * m.chebyshev(small, inside * 0.25 - 1)
    return m.where(size <= 8, near, m.chebyshev(large, 16 / outside - 1) / m.sqrt(outside))


@formula
def i0e(m: Any, x: Any) -> Any:
    """exp(-abs(x)) i0(x)."""
    return m.where(x != x, x, _scaled(m, m.abs(x), c.I0_SMALL, c.I0_LARGE, 1.0))


@formula
def i1e(m: Any, x: Any) -> Any:
    """exp(-abs(x)) i1(x)."""
    size = m.abs(x)
    value = _scaled(m, size, c.I1_SMALL, c.I1_LARGE, m.where(size <= 8, size, 8.0))
    return m.where(x != x, x, m.where(x < 0, -value, value))


def _unscaled(m: Any, x: Any, scaled: Any) -> Any:
    """`scaled` times exp(abs(x)), as PyTorch: inf from where that overflows on, NaN at infinity."""
    return m.exp(m.abs(x)) * scaled


@formula
def i0(m: Any, x: Any) -> Any:
    """The modified Bessel function of order 0."""
    return _unscaled(m, x, i0e(m, x))


@formula
def i1(m: Any, x: Any) -> Any:
    """The modified Bessel function of order 1."""
    return _unscaled(m, x, i1e(m, x))
