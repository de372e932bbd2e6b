"""Python's operators on values: one mixin for eager arrays, tensors and graph nodes, so derivative rules read as math.

``==`` is left out: nodes are compared by identity, rules say ``eq(x, y)``; tensors add PyTorch's ``==`` themselves.
"""

from __future__ import annotations

from typing import Any

from . import arithmetic, comparison, elementary


class Operators:
    """`x + y` and friends bind primitives; which interpreter sees them is not decided here."""

    __slots__ = ()

    # `numpy_number * value` leaves the multiplication to us; without it numpy would make an array of objects.
    __array_priority__ = 1000

    def __add__(self, other: Any) -> Any:
        return arithmetic.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return arithmetic.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return arithmetic.sub(self, other)

    def __rsub__(self, other: Any) -> Any:
        return arithmetic.sub(other, self)

    def __mul__(self, other: Any) -> Any:
        return arithmetic.mul(self, other)

    def __rmul__(self, other: Any) -> Any:
        return arithmetic.mul(other, self)

    def __truediv__(self, other: Any) -> Any:
        return arithmetic.div(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return arithmetic.div(other, self)

    def __neg__(self) -> Any:
        return arithmetic.neg(self)

    def __pow__(self, other: Any) -> Any:
        return elementary.pow(self, other)

    def __rpow__(self, other: Any) -> Any:
        return elementary.pow(other, self)

    def __abs__(self) -> Any:
        return arithmetic.abs(self)

    def __lt__(self, other: Any) -> Any:
        return comparison.lt(self, other)

    def __le__(self, other: Any) -> Any:
        return comparison.le(self, other)

    def __gt__(self, other: Any) -> Any:
        return comparison.gt(self, other)

    def __ge__(self, other: Any) -> Any:
        return comparison.ge(self, other)
