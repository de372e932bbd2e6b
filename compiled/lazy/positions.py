"""Checks of the numbers that a noted op meets: positions along an axis, whose bound may be known before they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.array import Array
from ...ops.core import Check, Params, Primitive
from ...ops.reductions import argmax_primitive, argmin_primitive
from .segment_memories import SegmentMemories

POSITIONS = (argmax_primitive, argmin_primitive)


def check_numbers(
    deferred: SegmentMemories, primitive: Primitive, check: Check, operands: Sequence[Any], params: Params
) -> None:
    """Raise what eager mode raises for the numbers that `primitive` meets: all checks look at integers.

    Operands of types that do not go together are told of first.
    """
    known: dict[str, Any] = dict(params)
    for name, operand in zip(primitive.inputs, operands, strict=True):
        known[f"{name}_type"] = deferred.type_of(operand)
        known[name] = operand
        if name in check.needs and isinstance(operand, Array):
            known[name] = operand.ndarray
            if operand.ndarray.dtype.kind == "i" and deferred.is_pending(operand):
                bound = deferred.bounds.get(operand.place[1]) if name == "index" and operand.place else None
                if bound is None:
                    deferred.settle()
                else:  # the check is of each index by itself: the largest stands for all
                    known[name] = np.broadcast_to(np.int64(bound - 1), operand.ndarray.shape)
    try:
        check.rule(**{name: known[name] for name in check.needs})
    except Exception:
        primitive.type_rule(*map(deferred.type_of, operands), **params)
        raise


def note_bound(
    deferred: SegmentMemories, primitive: Primitive, operands: Sequence[Any], params: Params, out: Array
) -> None:
    """Positions along an axis are below its extent, and so are views of them."""
    assert out.place is not None
    if primitive in POSITIONS:
        deferred.bounds[out.place[1]] = operands[0].ndarray.shape[params["axis"]]
    elif primitive.is_view and operands[0].place[1] in deferred.bounds:
        deferred.bounds[out.place[1]] = deferred.bounds[operands[0].place[1]]
