"""Orthogonal polynomials by their recurrences.

The degree n is cut to a whole number; below 0 the value is 0, beyond `MANY` NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .language import MANY, Formula, formula

Turn = Callable[..., Any]


def _by_recurrence(name: str, what: str, first: Turn, turn: Turn) -> Formula:
    """The polynomials that begin with 1 and ``first(x)``; ``turn(k, x, p, q)`` is the one of degree k + 1.

    p is that of degree k, q that of k - 1.
    """

    def step(m: Any, k: Any, q: Any, p: Any, x: Any, n: Any) -> tuple[Any, ...]:
        return k + 2 < n, p, turn(k + 1, x, p, q)

    def body(m: Any, x: Any, n: Any) -> Any:
        n = m.trunc(n)
        start = first(x)
        is_long = (n >= 2) & (n <= MANY)
        _, value = m.repeat(step, (1.0, start), (x, m.where(is_long, n, 0.0)))
        short = m.where(n == 1, start, m.where(n == 0, 1.0, m.where(n > MANY, float("nan"), 0.0)))
        return m.where(is_long, value, short)

    body.__name__, body.__doc__ = name, what
    return formula(body)


def _chebyshev(k: Any, x: Any, p: Any, q: Any) -> Any:
    return (x + x) * p - q


def _shifted(k: Any, x: Any, p: Any, q: Any) -> Any:
    y = x + x - 1
    return (y + y) * p - q


_FIRST: dict[str, Turn] = {
    "t": lambda x: x,
    "u": lambda x: x + x,
    "v": lambda x: x + x - 1,
    "w": lambda x: x + x + 1,
}
for _kind, _first in _FIRST.items():
    _by_recurrence(f"chebyshev_polynomial_{_kind}", f"Chebyshev's {_kind.upper()} of degree n.", _first, _chebyshev)
    _by_recurrence(
        f"shifted_chebyshev_polynomial_{_kind}",
        f"Chebyshev's {_kind.upper()} of degree n at 2x - 1.",
        lambda x, first=_first: first(x + x - 1),
        _shifted,
    )

_by_recurrence(
    "hermite_polynomial_h",
    "The physicists' Hermite polynomial of degree n.",
    lambda x: x + x,
    lambda k, x, p, q: (x + x) * p - (k + k) * q,
)
_by_recurrence(
    "hermite_polynomial_he",
    "The probabilists' Hermite polynomial of degree n.",
    lambda x: x,
    lambda k, x, p, q: x * p - k * q,
)
_by_recurrence(
    "laguerre_polynomial_l",
    "Laguerre's polynomial of degree n.",
    lambda x: 1 - x,
    lambda k, x, p, q: ((k + k + 1 - x) * p - k * q) / (k + 1),
)
_by_recurrence(
    "legendre_polynomial_p",
    "Legendre's polynomial of degree n.",
    lambda x: x,
    lambda k, x, p, q: ((k + k + 1) * x * p - k * q) / (k + 1),
)
