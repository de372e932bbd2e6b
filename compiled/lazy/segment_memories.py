"""What a segment knows of the memory of arrays: those that it has met, those it computes, and what it is to write."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from ...ops.array import Array, Evaluator
from ...ops.callers.source_files import user_place
from ...ops.exposure import is_exposed, owner_of
from .departures import SMALL, Look
from .event_trie import FEW, TrieNode
from .segments import Segments


class SegmentMemories(Evaluator):
    """The memories of one segment, by number."""

    segments: Segments
    is_idle = False  # where nothing is put off, small ops without a history are done at once everywhere
    at_once = 0  # so many of them are done at once from here on
    _look: Look | None = None  # where the segment has begun

    def _begin(self) -> None:
        """Know nothing: a new segment begins."""
        self.segment = object()
        self.here: TrieNode = self.segments.start
        self.has_passed = False  # a backward pass has begun in it
        # By number: an array that was met; a weak reference to the memory of a result, or to the PendingArray or the
        # PendingResults that stand for it. An interrupt may leave more than there are events for; the next event puts
        # its own there, and takes away what is behind.
        self.memories: list[Any] = []
        self.number_of: dict[int, int] = {}  # identity of an array -> number of its memory
        self.owners: dict[int, int] = {}  # of arrays that were met: owner of the memory -> identity of the array
        self.windows: dict[int, list[np.ndarray]] = {}  # by owner: written parts of its memory, see `_meet_part`
        self.written: set[int] = set()  # identities of arrays that are to be written
        self.bounds: dict[int, int] = {}  # by token: what positions that are still to be computed are below
        self.pools: list[Any] = []  # gradients of this segment that are used again, if nobody holds them

    def settle(self) -> None:
        """Do what has been noted: from now on all memory holds its numbers."""
        raise NotImplementedError

    def looked(self, here: TrieNode | None) -> None:
        """The program looks at a number: a segment has come to its end, or, for None, ops that were done at once."""
        if here is not None and self._look is not None:
            self._look.note(here.small_ops)
        if not self.is_idle:
            self._look = self.segments.looks.at(user_place())
            self.at_once = self._look.at_once

    def done_now(self) -> int:
        """Operations on so few elements that have no history are done now; 0 where something is put off."""
        if self.here.event is not None:
            return 0
        if self.is_idle:
            return SMALL
        if not self.at_once:
            return 0
        self.at_once -= 1
        return FEW

    def number(self, whole: np.ndarray) -> int | None:
        """The number of a memory that this segment knows."""
        number = self.number_of.get(id(whole))
        if number is not None:
            known = self.memories[number] if number < len(self.memories) else None
            return number if known is whole or (type(known) is weakref.ref and known() is whole) else None
        for call in self.here.captured:
            if id(whole) in call.numbers:
                return call.numbers[id(whole)]
        return None

    def is_pending(self, array: Array) -> bool:
        """True if the numbers of an array are still to be computed."""
        whole = array.buffer.whole
        if id(whole) in self.written:
            return True
        number = self.number(whole)
        return number is not None and type(self.memories[number]) is weakref.ref

    def is_awaited(self, array: Array) -> bool:
        """True if the numbers of an array are still to be computed, or what is put off may write to its memory."""
        return self.is_pending(array) or (self.here.writes and self.concerns(array))

    def is_met(self, whole: np.ndarray, owner: int) -> bool:
        """True if the segment knows the memory otherwise than by parts of it that are written."""
        known = owner in self.owners and owner not in self.windows
        captured = any(owner in call.owners for call in self.here.captured)
        return known or captured or self.number(whole) is not None or is_exposed(whole)

    def concerns(self, array: Array) -> bool:
        """True if what is put off reads or writes the memory of an array."""
        owner, calls = owner_of(array.buffer.whole), self.here.captured
        known = owner in self.owners or any(owner in call.owners for call in calls)
        return known or self.number(array.buffer.whole) is not None
