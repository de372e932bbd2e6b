"""When two plain values are the same for a program that may look at each bit and at each type."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from .classes import is_a

_EXACT = frozenset({int, bool, str, type(None)})  # what is equal only to the same, among values of its type
_INTEGERS = frozenset({int})  # a tuple of nothing else (a shape, axes) is equal only to the same one
_bits = struct.Struct("=d").pack


def exact(value: Any) -> tuple[type, Any]:
    """What is equal for the same plain value of the same type: nan is itself and not -nan, 0.0 is not -0.0."""
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
    return kind, value


def same_number(a: Any, b: Any) -> bool:
    """True for the same plain value of the same type."""
    return a is b or (type(a) is type(b) and bool(exact(a) == exact(b)))
