"""Pointwise ops that have come before at a point of the tree of events: noted without asking again what they are.

Which event an op is follows from the tokens of its operands (an array of the segment has one shape and type), from its
numbers, and from what of it requires a gradient. So the first time these are remembered together with the event.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...ops.array import Buffer
from ...ops.core import Primitive
from ...ops.exposure import is_exposed
from ...ops.types import defaults
from ...tape.grad_mode import switches
from ...tape.nodes import PrimitiveNode
from ...tensors.blank import blank
from ...tensors.operands import PLAIN_TENSORS
from ...tensors.tensor import Tensor
from .deferred_calls import Deferred
from .event_trie import Compute, TrieNode

_NUMBERS = frozenset((int, float))
_PARAMS: dict[str, Any] = {}


class KnownOp(NamedTuple):
    """An event between two points: what it computes, and the operands `on` which derivatives are kept for."""

    after: TrieNode
    shape: tuple[int, ...]
    dtype: np.dtype
    memory: int
    constants: tuple[Any, ...]  # None for tensors
    on: tuple[int, ...]
    grad_enabled: bool
    default_dtype: Any


def noted_as_before(deferred: Deferred, primitive: Primitive, general: Callable[..., Any], *operands: Any) -> Any:
    """``general(*operands)``, the value of one primitive."""
    segment = deferred.segment
    key: list[Any] = [primitive]
    for operand in operands:
        if type(operand) in PLAIN_TENSORS:
            place = operand.place
            if operand._base is not None or operand.ndarray.dtype.kind != "f":
                return general(*operands)
            if place is None or place[0] is not segment:
                if operand.steps or is_exposed(operand.ndarray):
                    return general(*operands)  # it is copied at each op
                place = deferred.met(operand)
                if deferred.segment is not segment:  # which others have to be met in again
                    return general(*operands)
            key.append(place[1] if operand._node is None and not operand._requires else ~place[1])
        elif type(operand) in _NUMBERS and operand:  # 0.0 is equal to -0.0
            key += (type(operand), operand)
        else:
            return general(*operands)
    here = deferred.here
    known = here.ops.get(tuple(key))
    if known is None:
        out = general(*operands)
        _remember(deferred, tuple(key), here, segment, primitive, operands, out)
        return out
    if known.grad_enabled is not switches.enabled or known.default_dtype is not defaults.dtype:
        return general(*operands)
    return _noted(deferred, known, primitive, operands)


def _noted(deferred: Deferred, known: KnownOp, primitive: Primitive, operands: tuple[Any, ...]) -> Any:
    array = np.empty(known.shape, known.dtype)
    out: Any = blank(Tensor)
    out.ndarray, out.buffer, out.steps, out.label = array, Buffer(array), (), None
    out.place = (deferred.segment, known.after.tokens - 1)
    deferred.number_of[id(array)] = known.memory
    deferred.memories[known.memory :] = [weakref.ref(array)]
    deferred.ops += 1
    deferred.here = known.after  # last, so that an interrupt leaves an op noted, or not
    if known.on:
        given = [o if constant is None else constant for o, constant in zip(operands, known.constants, strict=True)]
        out._node = PrimitiveNode.of(primitive, given, _PARAMS, out, known.on)
    return out


def _remember(
    deferred: Deferred,
    key: tuple[Any, ...],
    here: TrieNode,
    segment: Any,
    primitive: Primitive,
    operands: Any,
    out: Any,
) -> None:
    after = deferred.here
    event: Any = after.event
    if after.before is not here or deferred.segment is not segment or type(event) is not Compute:
        return
    is_plain = event.primitive is primitive and not event.is_view and event.strides is None and not event.params
    if not is_plain or event.dtype.kind not in "fb" or type(out) is not Tensor or out._base is not None:
        return
    constants = tuple(None if type(o) is int else o for o in event.operands)
    if [constant is None for constant in constants] != [type(operand) in PLAIN_TENSORS for operand in operands]:
        return
    node: Any = out._node
    on = () if node is None else node.on
    here.ops[key] = KnownOp(
        after, event.shape, event.dtype, event.memory, constants, on, switches.enabled, defaults.dtype
    )
