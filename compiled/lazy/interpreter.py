"""The interpreter of re-recorded calls: ops are noted, and done when their numbers are needed.

Python runs at each call, as in eager mode. An op gets the memory of its result at once and is appended to the segment;
`settle` does the segment: when the program looks at a number, and at the end of the call. So control flow, exceptions,
appended lists and counters are Python's own, and only what C is good at is done in C.

Three kinds of ops are not put off: those that may fail for the numbers they meet are checked first, as eager mode
does; reads of memory that numpy code may write to are done from a copy made now; writes to it are done now.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ...ops.array import Array, require_writable, shows
from ...ops.core import Params, Primitive, Step
from ...ops.exposure import expose, is_exposed, owner_of
from ...ops.memory import overlaps_itself
from .at_once import WithoutC, is_done_at_once, is_retyped, require_c
from .event_trie import Compute, TrieInput, TrieNode, Write, key_of, parameter_key
from .positions import check_numbers, note_bound
from .result_layout import strides_of_result
from .segment_memories import SegmentMemories
from .segments import LONGEST, Execution, Segments
from .varying import VARYING

MOST_DATA = 256  # numbers of one call that are kept in mind
EVERYWHERE = frozenset(key_of(np.dtype(kind).type(n)) for kind in "?lfd" for n in (0, 0.5, 1, 2, -0.5, -1, -2))


class DeferredOps(SegmentMemories):
    """One call's interpreter, below a tape. `segments` is shared by all calls of a function."""

    #: Is told of each array that is met: the token, and the array if it is an operand.
    observer: Callable[[int, Array | None], None] | None = None

    def __init__(self, segments: Segments) -> None:
        self.segments = segments
        self.is_observed = False  # by other threads, which see what is written to tensors from outside
        self.ops = 0  # how many were noted
        self.passing = 0  # so many segments are not worth new programs: later ones will be others
        self._execution: Execution | None = None  # of the segment, once it is to be done
        self._data: set[Hashable] = set()  # numbers that are data somewhere in this call, by their bits
        self._begin()

    # ------------------------------------------------------------------------------------------------ the interpreter

    def evaluate(self, primitive: Primitive, operands: Sequence[Any], params: Params, kind: Callable[..., Any]) -> Any:
        try:
            return self._noted(primitive, operands, params, kind)
        except WithoutC:
            self.settle()
            return super().evaluate(primitive, operands, params, kind)

    def _noted(self, primitive: Primitive, operands: Sequence[Any], params: Params, kind: Callable[..., Any]) -> Any:
        if primitive.check is not None:
            check_numbers(self, primitive, primitive.check, operands, params)
        if primitive.is_view and isinstance(operands[0], Array) and self.shows_what_is_there(operands[0]):
            out = super().evaluate(primitive, operands, params, kind)
            if self.here.writes and self.concerns(operands[0]) and not shows(out.ndarray, operands[0].ndarray):
                self.settle()  # what cannot be seen as a view was copied, before what is noted was written
                out = super().evaluate(primitive, operands, params, kind)
            return out
        if is_done_at_once(self, primitive, operands, params):
            return super().evaluate(primitive, operands, params, kind)
        tokens = self._tokens(operands)
        point = self.here.next.get((primitive, *tokens, *map(parameter_key, params.items())))
        if point is None:
            written = VARYING.get(primitive)
            if written is not None and self._varies(primitive, tokens, params, written.parameter):
                return written.otherwise(self, operands, params, kind)
            point = self._further(primitive, operands, params, tokens)
        event: Any = point.event
        if event.is_view:
            base = operands[0]
            step = Step(primitive, tuple(params.items()))
            out = kind(primitive.evaluate(base.ndarray, **params), base.buffer, (*base.steps, step))
        else:
            out = kind(event.memory_for_result())
            self.number_of[id(out.ndarray)] = event.memory
            self.memories[event.memory :] = [weakref.ref(out.ndarray)]
        out.place = (self.segment, point.tokens - 1)
        if out.ndarray.dtype.kind == "i":
            note_bound(self, primitive, operands, params, out)
        self.ops += 1
        self.here = point  # last, so that an interrupt leaves an op noted, or not
        return out

    def write(self, target: Array, value: Array | np.generic) -> None:
        require_writable(target)
        is_at_once = self.done_now() > 0 or self._is_written_now(target)  # then the value is there
        tokens = None if is_at_once else self._tokens_of_write(target, value)
        if tokens is None:
            self.settle()
            super().write(target, value)
            return
        to, what = tokens
        key = ("write", to, what)
        point = self.here.next.get(key)
        if point is None and not isinstance(value, Array) and self._are_data(("write", to), key, (what,)):
            what = self._number_met(value)
            key = ("write", to, what)
            point = self.here.next.get(key)
        if point is None:
            written = what if isinstance(what, int) else value
            assert not isinstance(written, Array)
            point = self.segments.extend(self.here, key, Write(to, written))
        self.written.add(id(target.buffer.whole))
        target.buffer.version += 1
        self.here = point
        if self.is_observed:
            self.settle()

    def note_write(self, target: Array) -> None:
        """What else there is to a write that is an event, for functions that note several."""
        self.written.add(id(target.buffer.whole))
        target.buffer.version += 1

    def read(self, array: Array, purpose: str) -> np.ndarray:
        self.settle()
        return array.ndarray

    def item(self, array: Array) -> bool | int | float:
        if self.here.event is None or self.is_awaited(array):
            self.settle()
        return super().item(array)

    def peek(self, array: Array) -> np.ndarray:
        self.settle()
        return array.ndarray

    def require(self, array: Array, requirement: Any, facts: tuple[int, ...]) -> None:
        if self.is_pending(array):
            self.settle()
        super().require(array, requirement, facts)

    def peek_if_pending(self, array: Array) -> np.ndarray:
        """The numbers of an array, for a check that is made now."""
        if self.is_pending(array):
            self.settle()
        return array.ndarray

    # ----------------------------------------------------------------------------------------------------- settling

    def settle(self) -> None:
        """Do what has been noted: from now on all memory holds its numbers.

        An interrupt comes through when that is done: what it has left is done by numpy.
        """
        if self.here.event is None:
            if self.at_once:
                self.looked(None)
            return
        try:
            self._settle()
        except BaseException:
            try:
                self._settle()
            finally:
                self._begin()  # an error of the work itself comes again: it is dropped
                self._execution = None
            raise

    def _settle(self) -> None:
        if self._execution is None:
            self._execution = self._execution_of(self.here)
        self._execution.finish()
        self.looked(self.here)
        self._begin()
        self._execution = None

    def _execution_of(self, here: TrieNode) -> Execution:
        memories = self.memories[: here.memories]
        for pool in self.pools:
            if pool.is_free():
                for number in pool.numbers.values():
                    memories[number] = None
        alive = []
        for i in here.computed:
            reference = memories[i]
            memory = memories[i] = reference and reference()
            if memory is not None:
                if type(memory) is not np.ndarray:
                    memory = memories[i] = memory.now(i)
                    alive.append(i)
                elif memory.size:
                    alive.append(i)
        self.passing, is_passing = max(0, self.passing - 1), self.passing > 0
        return Execution(self.segments, here, tuple(alive), memories, is_passing)

    # ------------------------------------------------------------------------------------------------------- tokens

    def _tokens(self, operands: Sequence[Any]) -> list[Any]:
        """What stands for the operands in a key: tokens of arrays, constants by their bits."""
        segment = self.segment
        tokens: list[Any] = []
        for operand in operands:
            if isinstance(operand, Array):
                place = operand.place
                if place is None or place[0] is not segment:
                    place = self.meet(operand)
                tokens.append(place[1])
            else:
                tokens.append(key_of(operand))
        # An array that was met may have ended the segment; then the others have to be met again.
        return tokens if self.segment is segment else self._tokens(operands)

    def _tokens_of_write(self, target: Array, value: Array | np.generic) -> tuple[int, Any] | None:
        """The tokens of what is written to and of the value; None if the write cannot be put off after all.

        The value comes first: of a part of the memory that is written its numbers are copied. What is written stands
        for itself, so it is never met as an operand would be, not even where meeting one has ended the segment.
        """
        while True:
            [what] = self._tokens((value,))
            segment = self.segment
            place = target.place
            if place is None or place[0] is not segment:
                place = self._meet_part(target)
                if self._is_written_now(target):  # meeting it may have found that numpy sees the memory
                    return None
            if self.segment is segment:
                return place[1], what

    @staticmethod
    def _is_written_now(target: Array) -> bool:
        return is_exposed(target.ndarray) or is_retyped(target) or not target.type_.dtype.is_in_c

    def meet(self, array: Array, may_be_copied: bool = True) -> tuple[Any, int]:
        """The place of an array that this segment has not seen yet.

        Of a part of a larger memory only the numbers count, which are copied now: which part it is, be it another batch
        at each call, makes no other path. So it is not with what is written (`may_be_copied` is False).
        """
        require_c(array.type_.dtype)
        if is_retyped(array) and self.is_awaited(array):
            self.settle()
        if is_retyped(array) or is_exposed(array.ndarray):
            return self._met(np.array(array.ndarray, order="C"), (), array)
        whole = array.buffer.whole
        number = self.number(whole)
        if number is not None:
            key = ("view", number, array.steps)
            array.place = self._place(key, lambda: TrieInput(number, array.steps, "", (), None), array)
            return array.place
        owner = owner_of(whole)
        copied = may_be_copied and bool(array.steps) and array.ndarray.size < whole.size
        if owner in self.windows:
            self.settle()
            return self.meet(array, may_be_copied)
        captured = any(owner in call.owners for call in self.here.captured)
        if captured or self.owners.get(owner, id(whole)) != id(whole):
            # Two arrays over one memory that do not know of each other: what one writes, the other reads.
            self.settle()
            if not copied:
                expose(whole)
                return self.meet(array)
        if copied:
            return self._met(np.array(array.ndarray, order="C"), (), array)
        self.owners[owner] = id(whole)
        self.number_of[id(whole)] = self.here.memories
        array.place = self._met(whole, array.steps, array)
        return array.place

    def _meet_part(self, target: Array) -> tuple[Any, int]:
        """The place of an array that is written, and that this segment has not seen yet.

        A part of a larger memory of which nothing else is known stands for itself, so that a call which writes another
        row takes the same path.
        """
        whole, part = target.buffer.whole, target.ndarray
        owner = owner_of(whole)
        if not 0 < part.size < whole.size or overlaps_itself(part) or self.is_met(whole, owner):
            return self.meet(target, may_be_copied=False)
        if any(np.may_share_memory(part, other) for other in self.windows.get(owner, ())):
            self.settle()
        self.windows.setdefault(owner, []).append(part)
        self.owners[owner] = id(part)
        target.place = self._met(part, (), target)
        return target.place

    def _met(self, whole: np.ndarray, steps: Any, array: Array | None) -> tuple[Any, int]:
        number = self.here.memories
        name = (None if array is None else array.label) or f"input_{number}"
        self.memories[number:] = [whole]
        key = ("met", whole.shape, whole.strides, whole.dtype, steps)
        return self._place(key, lambda: TrieInput(number, steps, name, whole.shape, whole.dtype), array)

    def _place(self, key: Hashable, event: Callable[[], Any], array: Array | None) -> tuple[Any, int]:
        point = self.here.next.get(key)
        if point is None:
            point = self.segments.extend(self.here, key, event())
        if self.observer is not None:
            self.observer(point.tokens - 1, array)
        self.here = point
        return self.segment, point.tokens - 1

    # ------------------------------------------------------------------------------------------------------ new events

    def _further(self, primitive: Primitive, operands: Sequence[Any], params: Params, tokens: list[Any]) -> TrieNode:
        """An op that has not come here before: with other numbers, or altogether new."""
        if self.here.tokens >= LONGEST:
            self.settle()
            tokens = self._tokens(operands)
        parameters = tuple(map(parameter_key, params.items()))
        numbers = [i for i, operand in enumerate(operands) if not isinstance(operand, Array)]
        like = (primitive, *(None if i in numbers else token for i, token in enumerate(tokens)), *parameters)
        key = (primitive, *tokens, *parameters)
        if numbers and self._are_data(like, key, [tokens[i] for i in numbers]):
            for i in numbers:
                tokens[i] = self._number_met(operands[i])
        key = (primitive, *tokens, *parameters)
        if key in self.here.next:
            return self.here.next[key]
        return self.segments.extend(self.here, key, self._event(primitive, operands, tokens, params))

    def _are_data(self, like: Hashable, key: Hashable, numbers: Sequence[Hashable]) -> bool:
        """True if the numbers of an event that has not come here before are operands.

        A number that is data at one place of a call is at those behind it, too: a scale that the loss is multiplied by,
        and each gradient divided by, makes one more program when it changes, not one for each place.
        """
        if not self.segments.numbers_vary(self.here, like, key, not self._data.isdisjoint(numbers)):
            return False
        self.note_data(numbers)
        return True

    def note_data(self, numbers: Sequence[Hashable]) -> None:
        """Keep in mind that these numbers are data somewhere in this call; not those that stand everywhere: that
        another place has the same one says nothing of it."""
        if len(self._data) >= MOST_DATA:
            self._data.clear()
        self._data.update(number for number in numbers if number not in EVERYWHERE)

    def _number_met(self, number: np.generic) -> int:
        """The token of a number that is data."""
        value = Array(np.array(number))
        return self._met(value.ndarray, (), value)[1]

    def _varies(self, primitive: Primitive, tokens: Sequence[Any], params: Params, parameter: str) -> bool:
        """True if ops that differ in this parameter only shall not be programs of their own."""
        parameters = dict(map(parameter_key, params.items()))
        key = (primitive, *tokens, *parameters.items())
        del parameters[parameter]
        return self.segments.parameter_varies(self.here, (primitive, *tokens, *parameters.items()), key, primitive)

    def constant_met(self, values: np.ndarray) -> Array:
        """Numbers of the program as data."""
        array = Array(values)
        array.place = self._met(values, (), array)
        return array

    def _event(self, primitive: Primitive, operands: Sequence[Any], tokens: Sequence[Any], params: Params) -> Compute:
        """The op as an event; its type rule raises what eager mode raises."""
        of = primitive.type_rule(*map(self.type_of, operands), **params)
        require_c(of.dtype)
        is_view = False
        if primitive.is_view and isinstance(operands[0], Array):
            whole = operands[0].ndarray
            is_view = shows(primitive.evaluate(whole, **params), whole)
        known = tuple(t if isinstance(t, int) else o for t, o in zip(tokens, operands, strict=True))
        strides = None if is_view else strides_of_result(primitive, operands, params)
        return Compute(primitive, known, params, self.here.memories, is_view, of.shape, of.dtype.numpy, strides)

    def shows_what_is_there(self, array: Array) -> bool:
        """True if a view of the array can be taken now: it is new to this segment, or others see its memory, too.

        Which part of a larger memory a call looks at (a batch of all data) is then no part of what it does.
        """
        place = array.place
        if place is not None and place[0] is self.segment:
            return False
        return is_exposed(array.ndarray) or self.number(array.buffer.whole) is None

    def stacked(self, arrays: Sequence[Array], axis: int, kind: Callable[..., Any]) -> Any:
        is_awaited = self.here.event is not None and any(map(self.is_awaited, arrays))
        return None if is_awaited else super().stacked(arrays, axis, kind)
