"""Tensors beside numpy's arrays, in numpy's functions and operators.

``tensor + array`` is numpy's sum, as in PyTorch (so numpy's promotion), and a tensor: `array_wrap` makes it one.
Comparison by ``==`` is the tensor's own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops import arithmetic, comparison
from ..ops.array import Array
from ..tensors.creation import from_numpy
from ..tensors.data import refuse_recording
from ..tensors.operands import binary_operator


def array_wrap(self: Any, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """What a function of numpy computed from this tensor, as a tensor; TypeError for types that tensors lack.

    Truth values are bool, where PyTorch's are uint8.
    """
    return from_numpy(np.asarray(array))


def equals(self: Any, other: Any) -> Any:
    """``self == other``, which takes an array of numbers as a tensor. (``!=`` does not, as in PyTorch.)"""
    if isinstance(other, np.ndarray):
        if other.dtype.kind not in "biuf":
            return NotImplemented
        refuse_recording("comparison")
        other = other if other.dtype.kind in "bf" and other.itemsize != 2 else other.astype(_WIDE[other.dtype.kind])
        return comparison.eq(self, from_numpy(other))
    return _equals(self, other)


#: The types in which numbers of narrow types are compared, which tensors do not have.
_WIDE = {"i": np.int64, "u": np.int64, "f": np.float32}
_equals = binary_operator(comparison.eq, "__eq__")


def quotient_of(self: Any, other: Any) -> Any:
    """``other / self``; of a number or an array it is PyTorch's ``self.reciprocal() * other``."""
    return self.reciprocal() * other if isinstance(other, np.ndarray) else _reflected_division(self, other)


def _quotient(self: Any, other: Any) -> Any:
    if isinstance(other, Array):
        return arithmetic.div(other, self)
    return arithmetic.mul(arithmetic.reciprocal(self), other)


_reflected_division = binary_operator(_quotient, "__rtruediv__")
