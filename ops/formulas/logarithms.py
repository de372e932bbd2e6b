"""Products with logarithms, right where a factor is 0."""

from __future__ import annotations

import math
from typing import Any

from .language import formula


@formula
def entr(m: Any, x: Any) -> Any:
    """-x log(x), 0 at 0, minus infinity below."""
    at_end = m.where(x == 0, 0.0, m.where(x < 0, -math.inf, x))
    return m.where(x > 0, -x * m.log(m.where(x > 0, x, 1.0)), at_end)


@formula
def xlog1py(m: Any, x: Any, y: Any) -> Any:
    """x log(1 + y), 0 where x is 0 and y a number."""
    return m.where((x == 0) & (y == y), 0.0, x * m.log1p(y))


@formula
def logit(m: Any, x: Any) -> Any:
    """log(x / (1 - x))."""
    return m.log(x / (1 - x))


@formula
def logaddexp2(m: Any, x: Any, y: Any) -> Any:
    """log2(2**x + 2**y), without overflow; of two equal infinities the infinity."""
    larger = m.where((x > y) | (x != x), x, y)
    sum_ = larger + m.log1p(m.exp(-math.log(2) * m.abs(x - y))) / math.log(2)
    return m.where(x == y, x + 1, sum_)


@formula
def sinc(m: Any, x: Any) -> Any:
    """sin(pi x) / (pi x), 1 at 0."""
    angle = math.pi * m.where(x == 0, 1.0, x)
    return m.where(x == 0, 1.0, m.sin(angle) / angle)
