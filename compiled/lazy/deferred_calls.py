"""Compiled graphs among what re-recorded calls note: a model's forward, a loss, a backward pass, an optimizer's step.

A call of such a graph is one event, so that the program of a segment joins the graphs of all calls in it.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.array import Array
from ...ops.core import current
from ...ops.identity import copy_primitive
from .event_trie import Call, Compute, Met
from .interpreter import DeferredOps
from .program_calls import PendingArray, ProgramCall

NOT_NOTED = object()  # what is given for a call that has to be made now
CALL = 2  # that a call counts among ops: what is made of it is worth a program


class Deferred(DeferredOps):
    """The interpreter of re-recorded calls: ops and calls of compiled graphs are noted."""

    records_parts = True  # False within a call of a part that is recorded another time

    def call(self, program: ProgramCall, operands: Sequence[Any], fresh: Sequence[Any]) -> bool:
        """Note a call of a compiled graph. `operands` are its inputs that differ from call to call (Arrays and
        PendingArrays), `fresh` what its results will be in (arrays, PendingArrays).

        False, with nothing noted, where captured memory of the program overlaps with that of its operands.
        """
        if not self.owners.keys().isdisjoint(program.owners) and self._overlaps(program):
            self.settle()
        tokens = self._tokens_of_call(program, operands)
        if not self.owners.keys().isdisjoint(program.owners) and self._overlaps(program):
            return False
        known = self.number_of
        key = (program.key, () if known.keys().isdisjoint(program.wholes) else self._relation(program), *tokens)
        point = self.here.next.get(key)
        if point is None:
            point = self.segments.extend(self.here, key, self._call_event(program, tokens))
        event: Any = point.event
        self.memories[self.here.memories :] = event.arrays
        self.written |= event.written
        first = event.first_result
        for number, result in enumerate(fresh, first):
            self.number_of[id(result)] = number
            self.memories.append(weakref.ref(result))
            if type(result) is PendingArray:
                result.place = (self.segment, point.tokens - len(fresh) + number - first)
        self.ops += CALL
        self.here = point  # last, so that an interrupt leaves a call noted, or not
        return True

    def place_of_result(self, index: int, count: int) -> tuple[Any, int]:
        """Where result number `index` of the `count` results of the latest call is, for the tensor that shows it."""
        return self.segment, self.here.tokens - count + index

    def numbers_since(self, count: int) -> dict[int, int]:
        """The memories from number `count` on that are still alive: their numbers behind it by identity."""
        met = ((self.memories[number], number - count) for number in range(count, self.here.memories))
        alive = ((m() if type(m) is weakref.ref else m, i) for m, i in met)
        return {id(memory): i for memory, i in alive if memory is not None}

    def copied(self, array: Array) -> PendingArray:
        """What `array` holds now, if somebody still wants to know when the segment is done."""
        token = self._tokens((array,))[0]
        key = ("copied", token)
        point = self.here.next.get(key)
        if point is None:
            of = array.type_
            event = Compute(copy_primitive, (token,), {}, self.here.memories, False, of.shape, of.dtype.numpy)
            point = self.segments.extend(self.here, key, event)
        pending = PendingArray(array.ndarray.shape, array.ndarray.dtype)
        self.number_of[id(pending)] = self.here.memories
        self.memories[self.here.memories :] = [weakref.ref(pending)]
        pending.place = (self.segment, point.tokens - 1)
        self.here = point
        return pending

    def _tokens_of_call(self, program: ProgramCall, operands: Sequence[Any]) -> list[int]:
        segment, tokens = self.segment, []
        for operand in operands:
            place = operand.place
            known = place is not None and place[0] is segment
            tokens.append(place[1] if known else self._token_of_operand(program, operand))
        # An array that was met may have ended the segment; then the others have to be met again.
        return tokens if self.segment is segment else self._tokens_of_call(program, operands)

    def _overlaps(self, program: ProgramCall) -> bool:
        """True if this segment has met memory that captured memory of `program` overlaps with, in another way."""
        by_owner = program.wholes_by_owner
        return any(by_owner.get(owner, whole) != whole for owner, whole in self.owners.items())

    def _token_of_operand(self, program: ProgramCall, operand: Any) -> int:
        if isinstance(operand, Array):
            return self.meet(operand, may_be_copied=id(operand.buffer.whole) not in program.wholes)[1]
        return self._met(operand.now(), (), None)[1]

    def _relation(self, program: ProgramCall) -> tuple[tuple[int, int], ...]:
        """Which captured arrays of the program this segment has met as something else than captured arrays."""
        return tuple((i, self.number_of[w]) for i, w in enumerate(program.order) if w in self.number_of)

    def _call_event(self, program: ProgramCall, tokens: Sequence[int]) -> Call:
        arrays: list[np.ndarray] = []
        names: list[str] = []
        numbers: dict[int, int] = {}
        met: list[Met] = []
        for label, array in program.captured:
            whole = array.buffer.whole
            number = self.number(whole)
            if number is None:
                number = numbers.get(id(whole))
            if number is None:
                number = numbers[id(whole)] = self.here.memories + len(arrays)
                arrays.append(whole)
                names.append(array.label or label)
            met.append(Met(label, number, array.steps))
        written = frozenset(id(array.buffer.whole) for label, array in program.captured if label in program.written)
        operands = tuple(zip(program.operands, tokens, strict=True))
        first = self.here.memories + len(arrays)
        return Call(
            program.graph, operands, tuple(met), tuple(arrays), tuple(names), numbers, program.results, first, written,
            program.owners, program,
        )  # fmt: skip


def deferring() -> Deferred | None:
    """The interpreter of this thread, if it computes later and makes programs of what it notes."""
    below = getattr(current(), "below", None)
    return below if type(below) is Deferred and below.segments.are_open else None
