"""When two plain values are the same for a program that may look at each bit and at each type."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from .classes import is_a

_EXACT = frozenset({int, bool, str, type(None)})  # what is equal only to the same, among values of its type
_INTEGERS = frozenset({int})  # a tuple of nothing else (a shape, axes) is equal only to the same one
_bits = struct.Struct("=d").pack


class Same:
    """Equal for the same object, which it keeps alive: an identity must not be given to another one meanwhile."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return is_a(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def exact(value: Any) -> tuple[type, Any]:
    """What is equal for the same plain value of the same type: nan is itself and not -nan, 0.0 is not -0.0. All else is
    equal to itself only: the ``==`` of tensors, and of objects of a program, may be anything, and is never called."""
    kind = type(value)
    if kind in _EXACT:
        return kind, value
    if is_a(value, float):
        return kind, _bits(value)
    if is_a(value, tuple):
        return kind, tuple(value if _INTEGERS.issuperset(map(type, value)) else map(exact, value))
    if is_a(value, frozenset):
        return kind, tuple(map(exact, value))  # in the order in which a program goes through it
    if is_a(value, (slice, range)):
        return kind, (exact(value.start), exact(value.stop), exact(value.step))
    if is_a(value, complex):
        return kind, _bits(value.real) + _bits(value.imag)
    if is_a(value, np.inexact):  # by text where bytes hold padding
        return kind, repr(value) if is_a(value, (np.longdouble, np.clongdouble)) else value.tobytes()
    if is_a(value, (np.datetime64, np.timedelta64)):  # equal ones may count in other units
        return kind, (value.dtype.str, value.tobytes())
    if is_a(value, np.generic):
        return kind, value
    return kind, _plain(value)


def _plain(value: Any) -> Any:
    """What Python's own class of it makes of an int, a text or bytes of a class that inherits from it."""
    if is_a(value, int):
        return int.__int__(value)
    if is_a(value, str):
        return str.__str__(value)
    return bytes(memoryview(value)) if is_a(value, bytes) else Same(value)


def same_number(a: Any, b: Any) -> bool:
    """True for the same plain value of the same type."""
    return a is b or (type(a) is type(b) and bool(exact(a) == exact(b)))
