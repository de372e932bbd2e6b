"""Pointwise ops in plain eager mode on tensors of one type, floating or int64: numpy at once, nothing to promote.

Everything else (other types, numbers that do not fit, subclasses, recordings) is the interpreter's. The results are
the same; only the questions that such operands make superfluous are not asked.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np

from ..ops.array import quietly
from ..ops.core import Primitive
from ..ops.layouts.orders import in_common_order
from .grad_mode import switches
from .tape import Tape

FLOAT32, FLOAT64, INT64 = np.dtype("float32"), np.dtype("float64"), np.dtype("int64")
_FIRST, _SECOND, _BOTH = (0,), (1,), (0, 1)  # of the operands those that require gradients
_LARGEST = float(np.finfo(np.float32).max)


class DirectOps:
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
        if dtype is not FLOAT32 and dtype is not FLOAT64 and not (dtype is INT64 and primitive.keeps_integers):
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
                    return NotImplemented
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
        if dtype is not FLOAT32 and dtype is not FLOAT64 and not (dtype is INT64 and primitive.keeps_integers):
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


def number_at_once(operand: Any, dtype: np.dtype) -> Any:
    """A number of the program in a tensor's type; None for what is none, or does not fit."""
    kind = type(operand)
    if dtype is INT64:
        return np.int64(operand) if kind is int and -(2**63) <= operand < 2**63 else None
    if kind is float or kind is int or kind is np.float64:
        if -_LARGEST <= operand <= _LARGEST and (kind is not int or -(2**63) <= operand < 2**64):
            return np.float32(operand) if dtype is FLOAT32 else np.float64(operand)
        return None
    return operand if kind is np.float32 and dtype is FLOAT32 else None
