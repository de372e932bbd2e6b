"""Checks of the numbers that a noted op meets: positions along an axis, whose bound may be known before they are."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.array import Array
from ...ops.core import Check, Params, Primitive
from ...ops.reductions import argmax_primitive, argmin_primitive
from .segment_memories import SegmentMemories

POSITIONS = (argmax_primitive, argmin_primitive)
_UNCHECKED = "fcV"  # kinds of numpy types that no check looks at: floating ones (bfloat16 is a "V"), complex ones


def check_numbers(
    deferred: SegmentMemories, primitive: Primitive, check: Check, operands: Sequence[Any], params: Params
) -> None:
    """Raise what eager mode raises for the numbers that `primitive` meets: all checks look at integers.

    Operands of types that do not go together are told of first.
    """
    needs = check.needs
    known: dict[str, Any] = {name: value for name, value in params.items() if name in needs}
    for name, operand in zip(primitive.inputs, operands, strict=True):
        if name in needs:
            known[name] = _numbers_checked(deferred, name, operand)
        if (of := f"{name}_type") in needs:
            known[of] = deferred.type_of(operand)
    try:
        check.rule(**known)
    except Exception:
        primitive.type_rule(*map(deferred.type_of, operands), **params)
        raise


def _numbers_checked(deferred: SegmentMemories, name: str, operand: Any) -> Any:
    if not isinstance(operand, Array):
        return operand
    array = operand.ndarray
    if array.dtype.kind not in _UNCHECKED and deferred.is_pending(operand):
        bound = deferred.bounds.get(operand.place[1]) if name == "index" and operand.place else None
        if bound is not None:  # the check is of each index by itself: the largest stands for all
            return _repeated(bound - 1, array.shape)
        deferred.settle()
    return array


@functools.lru_cache(maxsize=256)
def _repeated(number: int, shape: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(np.int64(number), shape)


def note_bound(
    deferred: SegmentMemories, primitive: Primitive, operands: Sequence[Any], params: Params, out: Array
) -> None:
    """Positions along an axis are below its extent, and so are views of them."""
    assert out.place is not None
    if primitive in POSITIONS:
        deferred.bounds[out.place[1]] = operands[0].ndarray.shape[params["axis"]]
    elif primitive.is_view and operands[0].place[1] in deferred.bounds:
        deferred.bounds[out.place[1]] = deferred.bounds[operands[0].place[1]]
