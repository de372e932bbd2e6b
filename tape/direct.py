"""Pointwise ops in plain eager mode on tensors of one type (floating, int64 or bool), or of two of which one is
floating and takes the other in: numpy at once.

Everything else (other types, numbers that do not fit, subclasses, recordings) is the interpreter's. The results are
the same; only the questions that such operands make superfluous are not asked.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np

from ..ops.array import quietly
from ..ops.core import Direct, Primitive
from ..ops.layouts.orders import in_common_order
from .grad_mode import switches
from .tape import Tape

FLOAT32, FLOAT64, INT64, BOOL = np.dtype("float32"), np.dtype("float64"), np.dtype("int64"), np.dtype(bool)
_USUAL = frozenset({FLOAT32, FLOAT64, INT64, BOOL})
_FIRST, _SECOND, _BOTH = (0,), (1,), (0, 1)  # of the operands those that require gradients
_LARGEST = float(np.finfo(np.float32).max)


class DirectOps(Direct):
    """`ops.core.Direct` for a tape; `kinds` are the classes of tensors that override nothing."""

    def __init__(self, tape: Tape, kinds: Set[type]) -> None:
        self._tape = tape
        self._make = tape.make
        self.kinds = kinds

    def unary(self, primitive: Primitive, x: Any) -> Any:
        if type(x) not in self.kinds:
            return NotImplemented
        a = x.ndarray
        dtype = a.dtype
        if dtype not in primitive.keeps:
            return NotImplemented
        value = quietly(primitive.evaluate_wide, a)
        out = self._make(value if type(value) is np.ndarray else np.asarray(value))
        if switches.enabled and (x._node is not None or x._requires or (x._base is not None and x.requires_grad)):
            self._tape.record(primitive, (x,), {}, out, _FIRST)
        return out

    def binary(self, primitive: Primitive, x: Any, y: Any) -> Any:
        kinds = self.kinds
        if type(x) in kinds:
            a = x.ndarray
            dtype = a.dtype
            if type(y) in kinds:
                b = y.ndarray
                if b.dtype is not dtype:
                    dtype = _floating_of(dtype, b.dtype)
                    if dtype is None:
                        return NotImplemented
                    if a.dtype is not dtype:
                        x = self._make(a := a.astype(dtype))
                    else:
                        y = self._make(b := b.astype(dtype))
            else:
                b = y = number_at_once(y, dtype)
        elif type(y) in kinds:
            b = y.ndarray
            dtype = b.dtype
            a = x = number_at_once(x, dtype)
        else:
            return NotImplemented
        if a is None or b is None:
            return NotImplemented
        if dtype not in primitive.keeps:
            return NotImplemented
        try:
            value = quietly(primitive.evaluate_wide, a, b)
        except ValueError:
            return NotImplemented  # the general way says what is wrong
        if b.ndim and not a.flags.c_contiguous:
            value = in_common_order(value, (a, b))
        out = self._make(value if type(value) is np.ndarray else np.asarray(value))
        if switches.enabled:
            first = a is not x and (x._node is not None or x._requires or (x._base is not None and x.requires_grad))
            if b is not y and (y._node is not None or y._requires or (y._base is not None and y.requires_grad)):
                self._tape.record(primitive, (x, y), {}, out, _BOTH if first else _SECOND)
            elif first:
                self._tape.record(primitive, (x, y), {}, out, _FIRST)
        return out

    def choice(self, primitive: Primitive, condition: Any, x: Any, y: Any) -> Any:
        """``where(condition, x, y)`` for operands of one type that lie by rows."""
        kinds = self.kinds
        first = x if type(x) in kinds else y
        if type(condition) not in kinds or type(first) not in kinds:
            return NotImplemented
        of, dtype = condition.ndarray, first.ndarray.dtype
        a, b = self._chosen(x, dtype), self._chosen(y, dtype)
        if a is None or b is None or of.dtype is not BOOL or not of.flags.c_contiguous:
            return NotImplemented
        try:
            value = quietly(primitive.evaluate_wide, of, a, b)
        except ValueError:
            return NotImplemented  # the general way says what is wrong
        out = self._make(value if type(value) is np.ndarray else np.asarray(value))
        if switches.enabled:
            operands = (condition, x if type(x) in kinds else a, y if type(y) in kinds else b)
            requiring = [i for i in (1, 2) if type(operands[i]) in kinds and operands[i].requires_grad]
            if requiring:
                self._tape.record(primitive, operands, {}, out, requiring)
        return out

    def _chosen(self, operand: Any, dtype: np.dtype) -> Any:
        """The array of an operand of a choice, or its number; None for what the general way takes."""
        if type(operand) in self.kinds:
            array = operand.ndarray
            return array if array.dtype is dtype and dtype in _USUAL and array.flags.c_contiguous else None
        return operand if type(operand) is dtype.type else number_at_once(operand, dtype)


def _floating_of(first: np.dtype, second: np.dtype) -> np.dtype | None:
    """The floating-point type of the two, where the other one is int64 or bool, whatever their shapes."""
    if first is FLOAT32 or first is FLOAT64:
        return first if second is INT64 or second is BOOL else None
    return second if (second is FLOAT32 or second is FLOAT64) and (first is INT64 or first is BOOL) else None


def number_at_once(operand: Any, dtype: np.dtype) -> Any:
    """A number of the program in a tensor's type; None for what is none, or does not fit."""
    kind = type(operand)
    if dtype is INT64:
        return np.int64(operand) if kind is int and -(2**63) <= operand < 2**63 else None
    if dtype is not FLOAT32 and dtype is not FLOAT64:
        return None
    if kind is float or kind is int or kind is np.float64:
        if -_LARGEST <= operand <= _LARGEST and (kind is not int or -(2**63) <= operand < 2**64):
            return np.float32(operand) if dtype is FLOAT32 else np.float64(operand)
        return None
    return operand if kind is np.float32 and dtype is FLOAT32 else None
