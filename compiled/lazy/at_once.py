"""Ops of re-recorded calls that are not put off, since their operands are there and C would do nothing better.

Integers that follow from what is there are indices and labels: whoever uses them looks at their numbers, which would
end the segment. Many tensors put together are copied, each of them another operand to note.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...ops.array import Array
from ...ops.complex_numbers.parts import RETYPING
from ...ops.core import REGISTRY, Movement, Params, Pointwise, Primitive
from ...ops.types import DType
from .segment_memories import SegmentMemories

MOST_INTEGERS = 4096  # elements; more are worth a loop in C
FEW = 4  # operands

CONCATENATE, RANGE, FULL = REGISTRY["concatenate"], REGISTRY["iota"], REGISTRY["full"]
_MADE = (RANGE, FULL)
_PICKING = (REGISTRY["take"], REGISTRY["gather"])
_OF_INTEGERS = frozenset(
    p for p in REGISTRY.values() if p in _PICKING or (isinstance(p.lower, (Movement, Pointwise)) and p.check is None)
)


class WithoutC(Exception):
    """An op on a type that compiled code does not have: numpy does it now."""


def require_c(dtype: DType) -> None:
    """WithoutC for a type that compiled code does not have."""
    if not dtype.is_in_c:
        raise WithoutC(dtype.name)


def is_retyped(array: Array) -> bool:
    """True for a view of complex memory as real numbers, or the other way."""
    return bool(array.steps) and any(step.primitive in RETYPING for step in array.steps)


def is_done_at_once(deferred: SegmentMemories, primitive: Primitive, operands: Sequence[Any], params: Params) -> bool:
    """True if the op is to be done now."""
    if not operands:
        return primitive in _MADE and params["dtype"].numpy.kind == "i" and _is_small(math.prod(params["shape"]))
    if primitive is CONCATENATE and len(operands) > FEW:
        return _are_there(deferred, operands)
    if primitive not in _OF_INTEGERS or not _are_integers(operands):
        return False
    if "dtype" in params and params["dtype"].numpy.kind not in "ib":
        return False
    return _are_there(deferred, operands)


def _is_small(size: int) -> bool:
    return size <= MOST_INTEGERS


def _are_integers(operands: Sequence[Any]) -> bool:
    found = False
    for operand in operands:
        if isinstance(operand, Array):
            if operand.ndarray.dtype.kind != "i" or not _is_small(operand.ndarray.size):
                return False
            found = True
        elif operand.dtype.kind not in "ib":
            return False
    return found


def _are_there(deferred: SegmentMemories, operands: Sequence[Any]) -> bool:
    """True if no number of the operands is still to be computed, or to be written."""
    return not any(isinstance(operand, Array) and deferred.is_awaited(operand) for operand in operands)
