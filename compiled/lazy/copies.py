"""Operands that a segment copies when it meets them: parts of a larger memory, memory that numpy code sees, and numbers
that are data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.array import Array
from ...ops.exposure import exposed_owners, owner_of
from .at_once import is_retyped
from .event_trie import Event, TrieInput, TrieNode, key_of
from .interpreter import DeferredOps

#: An operand by its position, and the event that has met a copy of it.
Copy = tuple[int, TrieNode]


def is_copied(deferred: DeferredOps, operand: Any) -> bool:
    """True if `operand`, which this segment has not met, is to be met as a copy, and nothing has to be done before."""
    whole = operand.buffer.whole
    owner = owner_of(whole)
    if operand.steps and is_retyped(operand):
        return False
    if owner in exposed_owners:
        return True
    if not operand.steps or operand.ndarray.size >= whole.size or owner in deferred.windows:
        return False
    if deferred.owners.get(owner, id(whole)) != id(whole) or any(owner in c.owners for c in deferred.here.captured):
        return False
    return deferred.number(whole) is None


def copies_between(before: TrieNode, after: TrieNode, positions: list[int]) -> tuple[Copy, ...] | None:
    """The events that have met copies of the operands at `positions`, in this order, and nothing else between the two
    points; None for others."""
    points = after.since(before)
    if points is None or len(points) != len(positions) or not all(_is_copy(point.event) for point in points):
        return None
    return tuple(zip(positions, points, strict=True))


def _is_copy(event: Event | None) -> bool:
    return isinstance(event, TrieInput) and not event.steps and event.dtype is not None


def copy_again(deferred: DeferredOps, operands: Any, copies: tuple[Copy, ...]) -> None:
    """Meet copies of operands as before; the point is for the caller to set."""
    for position, point in copies:
        event: Any = point.event
        operand = operands[position]
        deferred.memories[event.memory :] = [np.array(operand.ndarray, order="C")]
        if deferred.observer is not None:
            deferred.observer(point.tokens - 1, operand)


def are_met(deferred: DeferredOps, operands: Any, numbers: tuple[Copy, ...]) -> bool:
    """True if what has been met for numbers among the operands are these numbers, bit by bit."""
    for position, point in numbers:
        event: Any = point.event
        if key_of(deferred.memories[event.memory][()]) != key_of(operands[position]):
            return False
    return True


def numbers_again(deferred: DeferredOps, operands: Any, numbers: tuple[Copy, ...]) -> None:
    """Meet numbers that are data as before; the point is for the caller to set."""
    deferred.note_data([key_of(operands[position]) for position, _ in numbers])
    for position, point in numbers:
        event: Any = point.event
        number = np.array(operands[position])
        deferred.memories[event.memory :] = [number]
        if deferred.observer is not None:
            deferred.observer(point.tokens - 1, Array(number))
