"""Tensors beside numpy's arrays, in numpy's functions and operators.

``tensor + array`` is numpy's sum, as in PyTorch (so numpy's promotion), and a tensor: `array_wrap` makes it one.
Comparison by ``==`` is the tensor's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops import arithmetic, comparison, logic
from ..ops.array import Array
from ..ops.types import FLOATING
from ..tensors.calling.operators import binary_operator
from ..tensors.creation import from_numpy
from ..tensors.data import refuse_recording

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


def array_wrap(self: Tensor, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Tensor:
    """What a function of numpy computed from this tensor, as a tensor; TypeError for types that tensors lack.

    Truth values are uint8, as in PyTorch.
    """
    array = np.asarray(array)
    return from_numpy(array.view(np.uint8) if array.dtype == np.bool_ else array)


def equals(self: Tensor, other: Any) -> Any:
    """``self == other``, which takes an array of numbers as a tensor. (``!=`` does not, as in PyTorch.)"""
    if not isinstance(other, np.ndarray):
        return _equals(self, other)
    if other.dtype.kind not in "biufc" or other.dtype.itemsize > np.dtype(_WIDEST[other.dtype.kind]).itemsize:
        return NotImplemented
    refuse_recording("comparison")
    if other.dtype.kind == "u" and other.itemsize > 1:
        other = other.astype(np.int64)  # tensors have no such type
    return comparison.eq(self, from_numpy(other))


#: The widest type that tensors have, of each kind of numpy's numbers.
_WIDEST = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64, "c": np.complex128}
_equals = binary_operator(comparison.eq, "__eq__")


def inverted(self: Tensor) -> Tensor:
    """``~self``; TypeError for what has no bits."""
    if self.dtype.category >= FLOATING:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return logic.bitwise_not(self)


def quotient_of(self: Tensor, other: Any) -> Any:
    """``other / self``; of a number or an array it is PyTorch's ``self.reciprocal() * other``."""
    return self.reciprocal() * other if isinstance(other, np.ndarray) else _reflected_division(self, other)


def _quotient(self: Any, other: Any) -> Any:
    if isinstance(other, Array):
        return arithmetic.div(other, self)
    return arithmetic.mul(arithmetic.reciprocal(self), other)


_reflected_division = binary_operator(_quotient, "__rtruediv__")
