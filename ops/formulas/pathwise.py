"""How gamma and beta numbers move with their parameters while their cumulative probability stays: the implicit
derivative -(dF/da) / (dF/dx) of Figurnov, Mohamed and Mnih (Implicit Reparameterization Gradients, 2018).
"""

from __future__ import annotations

from typing import Any

from .gamma import digamma
from .language import formula


def _next_of_series(m: Any, k: Any, total: Any, term: Any, psi: Any, a: Any, x: Any, log_x: Any) -> tuple[Any, ...]:
    place = a + (k + 1)
    term, psi = term * x / place, psi + 1 / place
    share = term * (log_x - psi)
    return m.abs(share) + term > 1e-17 * m.abs(total), total + share, term, psi


@formula
def gamma_path_by_series(m: Any, a: Any, x: Any) -> Any:
    """dx / da of a gamma number x <= a + 1, from the series of P(a, x)."""
    first, psi, log_x = x / a, digamma(m, a) + 1 / a, m.log(x)
    total, _, _ = m.repeat(_next_of_series, (first * (log_x - psi), first, psi), (a, x, log_x))
    return -total


def _next_of_fraction(
    m: Any, k: Any, b: Any, c: Any, d: Any, h: Any, dc: Any, dd: Any, dh: Any, a: Any
) -> tuple[Any, ...]:
    """A turn of Lentz' order, with the derivatives by a (those that begin with d)."""
    n = k + 1
    factor, b = n * (a - n), b + 2
    dd = n * d + factor * dd - 1
    d = 1 / (factor * d + b)
    dd = -dd * d * d
    dc = n / c - factor * dc / c / c - 1
    c = b + factor / c
    change, dchange = c * d, dc * d + c * dd
    dh, h = dh * change + h * dchange, h * change
    return (m.abs(change - 1) > 5e-16) | (m.abs(dchange) > 1e-15), b, c, d, h, dc, dd, dh


@formula
def gamma_path_by_fraction(m: Any, a: Any, x: Any) -> Any:
    """dx / da of a gamma number x > a + 1, from the continued fraction of Q(a, x)."""
    b = x + 1 - a
    first = 1 / b
    start = (b, 1e300, first, first, 0.0, first * first, first * first)
    state = m.repeat(_next_of_fraction, start, (a,))
    return x * (state[3] * (m.log(x) - digamma(m, a)) + state[6])


@formula
def standard_gamma_grad(m: Any, a: Any, x: Any) -> Any:
    """dx / da of a gamma number x with shape parameter a."""
    below = x <= a + 1
    low = gamma_path_by_series(m, m.where(below, a, 1.0), m.where(below, x, 1.0))
    high = gamma_path_by_fraction(m, m.where(below, 1.0, a), m.where(below, 5.0, x))
    return m.where(below, low, high)


def _next_of_beta(
    m: Any, k: Any, total: Any, term: Any, slope: Any, first: Any, a: Any, b: Any, x: Any
) -> tuple[Any, ...]:
    above, below = a + b + k, a + (k + 1)
    term = term * x * above / below
    slope = slope + 1 / above - first / below
    return m.abs(term * slope) + term > 1e-17 * m.abs(total), total + term * slope, term, slope


@formula
def beta_path_by_series(m: Any, a: Any, b: Any, x: Any, first: Any) -> Any:
    """(dI / da) / (dI / dx) of the incomplete beta function I(x; a, b), x below its mean; dI / db if `first` is 0."""
    start = m.where(first > 0, m.log(x) - digamma(m, a) - 1 / a, m.log1p(-x) - digamma(m, b)) + digamma(m, a + b)
    term = x * (1 - x) / a
    total, _, _ = m.repeat(_next_of_beta, (term * start, term, start), (first, a, b, x))
    return total


@formula
def dirichlet_grad(m: Any, x: Any, a: Any, total: Any) -> Any:
    """dx / da / (1 - x) of a beta number x with parameters a and total - a."""
    b = total - a
    below = x * (a + b) <= a
    low = -beta_path_by_series(m, m.where(below, a, 1.0), m.where(below, b, 1.0), m.where(below, x, 0.1), 1.0)
    high = beta_path_by_series(m, m.where(below, 1.0, b), m.where(below, 1.0, a), m.where(below, 0.1, 1 - x), 0.0)
    return m.where(below, low, high) / (1 - x)
