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
from numpy.lib.stride_tricks import as_strided

from ...ops.array import Array, Evaluator, require_writable, shows
from ...ops.core import Check, Params, Primitive, Step
from ...ops.exposure import expose, is_exposed, owner_of
from ...ops.reductions import argmax_primitive, argmin_primitive
from ..symbolic.number import exact
from .at_once import is_done_at_once
from .event_trie import Compute, TrieInput, TrieNode, Write, key_of
from .segments import LONGEST, Execution, Segments
from .varying import VARYING

POSITIONS = (argmax_primitive, argmin_primitive)


class DeferredOps(Evaluator):
    """One call's interpreter, below a tape. `segments` is shared by all calls of a function."""

    #: Is told of each array that is met: the token, and the array if it is an operand.
    observer: Callable[[int, Array | None], None] | None = None

    def __init__(self, segments: Segments) -> None:
        self.segments = segments
        self.is_observed = False  # by other threads, which see what is written to tensors from outside
        self.ops = 0  # how many were noted
        self.passing = 0  # so many segments are not worth programs: later ones will be others
        self._execution: Execution | None = None  # of the segment, once it is to be done
        self._begin()

    def _begin(self) -> None:
        self.segment = object()
        self.here: TrieNode = self.segments.start
        # By number: an array that was met; a weak reference to the memory of a result, or to the PendingArray or the
        # PendingResults that stand for it. An interrupt may leave more than there are events for; the next event puts
        # its own there, and takes away what is behind.
        self.memories: list[Any] = []
        self.number_of: dict[int, int] = {}  # identity of an array -> number of its memory
        self.owners: dict[int, int] = {}  # of arrays that were met: owner of the memory -> identity of the array
        self.written: set[int] = set()  # identities of arrays that are to be written
        self.bounds: dict[int, int] = {}  # by token: what positions that are still to be computed are below
        self.pools: list[Any] = []  # gradients of this segment that are used again, if nobody holds them

    # ------------------------------------------------------------------------------------------------ the interpreter

    def evaluate(self, primitive: Primitive, operands: Sequence[Any], params: Params, kind: Callable[..., Any]) -> Any:
        if primitive.check is not None:
            self._check(primitive, primitive.check, operands, params)
        if primitive.is_view and isinstance(operands[0], Array) and self._shows_what_is_there(operands[0]):
            return super().evaluate(primitive, operands, params, kind)
        if is_done_at_once(self, primitive, operands, params):
            return super().evaluate(primitive, operands, params, kind)
        key = (primitive, *self._tokens(operands), *map(_parameter, params.items()))
        point = self.here.next.get(key)
        if point is None:
            written = VARYING.get(primitive)
            if written is not None and self._varies(primitive, operands, params, written.parameter):
                return written.otherwise(self, operands, params, kind)
            point = self._further(primitive, operands, params)
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
            self._note_bound(primitive, operands, params, out)
        self.ops += 1
        self.here = point  # last, so that an interrupt leaves an op noted, or not
        return out

    def write(self, target: Array, value: Array | np.generic) -> None:
        require_writable(target)
        if is_exposed(target.ndarray):
            self.settle()
            super().write(target, value)
            return
        if target.place is None or target.place[0] is not self.segment:
            self._meet(target, may_be_copied=False)
        to, what = self._tokens((target, value))
        key = ("write", to, what)
        point = self.here.next.get(key)
        if point is None:
            point = self.segments.extend(self.here, key, Write(to, what if isinstance(value, Array) else value))
        self.written.add(id(target.buffer.whole))
        target.buffer.version += 1
        self.here = point
        if self.is_observed:
            self.settle()

    def read(self, array: Array, purpose: str) -> np.ndarray:
        self.settle()
        return array.ndarray

    def item(self, array: Array) -> bool | int | float:
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
        self.passing, by_numpy = max(0, self.passing - 1), self.passing > 0
        return Execution(self.segments, here, tuple(alive), memories, by_numpy)

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

    # ------------------------------------------------------------------------------------------------------- tokens

    def _tokens(self, operands: Sequence[Any]) -> list[Any]:
        """What stands for the operands in a key: tokens of arrays, constants by their bits."""
        segment = self.segment
        tokens: list[Any] = []
        for operand in operands:
            if isinstance(operand, Array):
                place = operand.place
                if place is None or place[0] is not segment:
                    place = self._meet(operand)
                tokens.append(place[1])
            else:
                tokens.append(key_of(operand))
        # An array that was met may have ended the segment; then the others have to be met again.
        return tokens if self.segment is segment else self._tokens(operands)

    def met(self, array: Array) -> tuple[Any, int]:
        """The place of an array that this segment has not seen yet, as an operand that is read."""
        return self._meet(array)

    def _meet(self, array: Array, may_be_copied: bool = True) -> tuple[Any, int]:
        """The place of an array that this segment has not seen yet.

        Of a part of a larger memory only the numbers count, which are copied now: which part it is, be it another batch
        at each call, makes no other path. So it is not with what is written (`may_be_copied` is False).
        """
        if is_exposed(array.ndarray):
            return self._met(np.array(array.ndarray, order="C"), (), array)
        whole = array.buffer.whole
        number = self.number(whole)
        if number is not None:
            key = ("view", number, array.steps)
            array.place = self._place(key, lambda: TrieInput(number, array.steps, "", (), None), array)
            return array.place
        owner = owner_of(whole)
        copied = may_be_copied and bool(array.steps) and array.ndarray.size < whole.size
        captured = any(owner in call.owners for call in self.here.captured)
        if captured or self.owners.get(owner, id(whole)) != id(whole):
            # Two arrays over one memory that do not know of each other: what one writes, the other reads.
            self.settle()
            if not copied:
                expose(whole)
                return self._meet(array)
        if copied:
            return self._met(np.array(array.ndarray, order="C"), (), array)
        self.owners[owner] = id(whole)
        self.number_of[id(whole)] = self.here.memories
        array.place = self._met(whole, array.steps, array)
        return array.place

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

    def _further(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> TrieNode:
        """An op that has not come here before: with other numbers, or altogether new."""
        if self.here.tokens >= LONGEST:
            self.settle()
        tokens = self._tokens(operands)
        parameters = tuple(map(_parameter, params.items()))
        numbers = [i for i, operand in enumerate(operands) if not isinstance(operand, Array)]
        like = (primitive, *(None if i in numbers else token for i, token in enumerate(tokens)), *parameters)
        key = (primitive, *tokens, *parameters)
        if numbers and self.segments.numbers_vary(self.here, like, key):
            for i in numbers:
                value = Array(np.array(operands[i]))
                tokens[i] = self._met(value.ndarray, (), value)[1]
        key = (primitive, *tokens, *parameters)
        if key in self.here.next:
            return self.here.next[key]
        return self.segments.extend(self.here, key, self._event(primitive, operands, tokens, params))

    def _varies(self, primitive: Primitive, operands: Sequence[Any], params: Params, parameter: str) -> bool:
        """True if ops that differ in this parameter only shall not be programs of their own."""
        tokens = self._tokens(operands)
        parameters = dict(map(_parameter, params.items()))
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
        is_view = False
        if primitive.is_view and isinstance(operands[0], Array):
            whole = operands[0].ndarray
            is_view = shows(primitive.evaluate(whole, **params), whole)
        known = tuple(t if isinstance(t, int) else o for t, o in zip(tokens, operands, strict=True))
        strides = None if is_view else _strides_of_result(primitive, operands, params)
        return Compute(primitive, known, params, self.here.memories, is_view, of.shape, of.dtype.numpy, strides)

    def _shows_what_is_there(self, array: Array) -> bool:
        """True if a view of the array can be taken now: it is new to this segment, or others see its memory, too.

        Which part of a larger memory a call looks at (a batch of all data) is then no part of what it does.
        """
        place = array.place
        if place is not None and place[0] is self.segment:
            return False
        return is_exposed(array.ndarray) or self.number(array.buffer.whole) is None

    def _check(self, primitive: Primitive, check: Check, operands: Sequence[Any], params: Params) -> None:
        """Raise what eager mode raises for the numbers that `primitive` meets: all checks look at integers."""
        known: dict[str, Any] = dict(params)
        for name, operand in zip(primitive.inputs, operands, strict=True):
            known[f"{name}_type"] = self.type_of(operand)
            known[name] = operand
            if name in check.needs and isinstance(operand, Array):
                known[name] = operand.ndarray
                if operand.ndarray.dtype.kind == "i" and self.is_pending(operand):
                    bound = self.bounds.get(operand.place[1]) if name == "index" and operand.place else None
                    if bound is None:
                        self.settle()
                    else:  # the check is of each index by itself: the largest stands for all
                        known[name] = np.broadcast_to(np.int64(bound - 1), operand.ndarray.shape)
        check.rule(**{name: known[name] for name in check.needs})

    def _note_bound(self, primitive: Primitive, operands: Sequence[Any], params: Params, out: Array) -> None:
        """Positions along an axis are below its extent, and so are views of them."""
        assert out.place is not None
        if primitive in POSITIONS:
            self.bounds[out.place[1]] = operands[0].ndarray.shape[params["axis"]]
        elif primitive.is_view and operands[0].place[1] in self.bounds:
            self.bounds[out.place[1]] = self.bounds[operands[0].place[1]]

    def is_awaited(self, array: Array) -> bool:
        """True if the numbers of an array are still to be computed, or what is put off may write to its memory."""
        return self.is_pending(array) or (self.here.writes and self.concerns(array))

    def stacked(self, arrays: Sequence[Array], axis: int, kind: Callable[..., Any]) -> Any:
        if any(map(self.is_awaited, arrays)):
            return None
        return super().stacked(arrays, axis, kind)

    def is_pending(self, array: Array) -> bool:
        """True if the numbers of an array are still to be computed."""
        whole = array.buffer.whole
        if id(whole) in self.written:
            return True
        number = self.number(whole)
        return number is not None and type(self.memories[number]) is weakref.ref

    def concerns(self, array: Array) -> bool:
        """True if what is put off reads or writes the memory of an array."""
        owner, calls = owner_of(array.buffer.whole), self.here.captured
        known = owner in self.owners or any(owner in call.owners for call in calls)
        return known or self.number(array.buffer.whole) is not None


def _strides_of_result(primitive: Primitive, operands: Sequence[Any], params: Params) -> tuple[int, ...] | None:
    """How numpy lays out the result, which follows from the operands' layouts and not from the numbers in them; None
    for the order of the axes, in which it is if the operands are."""
    if all(o.ndarray.flags.c_contiguous for o in operands if isinstance(o, Array)):
        return None
    zeros = [_zeros_laid_out_as(o.ndarray) if isinstance(o, Array) else o for o in operands]
    try:
        with np.errstate(all="ignore"):
            out = np.asarray(primitive.evaluate(*zeros, **params))
    except Exception:  # 0 is no index into nothing; then there is nothing to lay out, either
        return None
    dense = np.empty_like(out)  # a result that shows an operand in another way becomes memory of its own
    return None if dense.flags.c_contiguous else dense.strides


def _zeros_laid_out_as(array: np.ndarray) -> np.ndarray:
    last = sum((extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True))
    if not array.size or min(array.strides, default=0) < 0 or last % array.itemsize:
        return np.zeros_like(array)
    return as_strided(np.zeros(last // array.itemsize + 1, array.dtype), array.shape, array.strides)


def _parameter(item: tuple[str, Any]) -> tuple[str, Hashable]:
    """A parameter by its text where equal numbers may be different ones: 0.0 and -0.0."""
    name, value = item
    return name, exact(value)
