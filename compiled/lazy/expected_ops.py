"""Ops that have come before at a point of the tree of events: noted without asking again what they are.

Which event an op is follows from the tokens of its operands (an array of the segment has one shape and type), from its
numbers, and from what of it requires a gradient. So the first time these are remembered together with the event.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ops.array import UNTRACKED, Array, Buffer
from ...ops.core import Params, Primitive, Step, plain
from ...ops.exposure import is_exposed
from ...ops.types import DType, defaults
from ...tape.grad_mode import switches
from ...tape.nodes import PrimitiveNode
from ...tape.tape import Tape
from ...tensors.blank import blank
from ...tensors.operands import PLAIN_TENSORS
from ...tensors.tensor import EAGER, Tensor, make
from ..common.exactness import exact
from .at_once import CONCATENATE, FULL, is_done_at_once
from .copies import Copy, are_met, copies_between, copy_again, is_copied, numbers_again
from .deferred_calls import Deferred
from .departures import SMALL
from .event_trie import FEW, Compute, TrieNode, key_of
from .positions import check_numbers

_PLAIN = frozenset((int, bool, str, type(None), DType))  # what is the same parameter if it is equal and of one type
_FLOATS = frozenset("fd")  # float32, float64
_CHECKED = frozenset("fdl")  # and int64, in which positions are
_PARAMS: Params = {}


class KnownOp(NamedTuple):
    """An event between two points, and the operands `on` which derivatives are kept for."""

    after: TrieNode
    event: Compute
    copies: tuple[Copy, ...]
    numbers: tuple[Copy, ...]  # those that are data, each with the event that meets it
    view: tuple[Step, ...]  # the step from the operand to a view of it
    bound: int | None  # what positions are below
    constants: tuple[Any, ...]  # None for tensors and for numbers that are data
    on: tuple[int, ...]
    grad_enabled: bool
    default_dtype: Any


class NotingTape(Tape):
    """The tape above a `Deferred`: an op that has come before at this point, with these operands and parameters, is
    the event that it was, and gets the history that it got."""

    def __init__(self, below: Deferred) -> None:
        super().__init__(below, make)
        self.noting = below  # tapes around it, which have the same interpreter below, do not have this

    def left(self) -> None:
        """The frame that has entered the block is over: what is pending is computed."""
        self.noting.settle()

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
        deferred = self.noting
        if deferred.here.event is None and are_small(deferred.done_now(), operands, params):
            return EAGER.apply(primitive, operands, params)
        if primitive.is_view and self._shows_at_once(operands[0]):
            return EAGER.apply(primitive, operands, params)
        if primitive.check is not None:
            check_numbers(deferred, primitive, primitive.check, operands, params)
        key = _key(deferred, primitive, operands, params)
        if key is None:
            return super().apply(primitive, operands, params)
        here = deferred.here
        known = here.ops.get(key)
        if known is None and here.has_data:
            known = here.ops.get(_without_numbers(key, operands))
        if known is not None and known.grad_enabled is switches.enabled:
            return _noted(deferred, known, primitive, operands, params)
        segment = deferred.segment
        out = super().apply(primitive, operands, params)
        _remember(deferred, key, here, segment, primitive, operands, out)
        return out

    def _shows_at_once(self, x: Any) -> bool:
        """True for the operand of a view op that eager mode may do: what is there, and is not to be written."""
        deferred = self.noting
        if type(x) not in PLAIN_TENSORS or not deferred.shows_what_is_there(x):
            return False
        return not (deferred.here.writes and deferred.concerns(x))

    def scalar(self, value: Any, dtype: DType) -> Any:
        """A tensor of one number of the program: it is there, as the numbers of a list are."""
        return EAGER.apply(FULL, (), {"shape": (), "value": value, "dtype": dtype})

    def does_at_once(self, size: int) -> bool:
        """True if what computes so many numbers from what is there is done now."""
        return size <= SMALL and self.noting.is_idle and self.noting.here.event is None

    def works_now(self, *tensors: Any) -> bool:
        """True if nothing is put off and what is done with these tensors is done now."""
        deferred = self.noting
        return deferred.here.event is None and are_small(deferred.done_now(), tensors)

    def is_there(self, x: Any) -> bool:
        """True if something is put off, and a look at the numbers of `x` need not end that."""
        return self.noting.here.event is not None and not self.noting.is_awaited(x)

    def reads_now(self, *tensors: Any) -> bool:
        """True if elements of these tensors may be copied now."""
        is_awaited = self.noting.is_awaited
        return not any(map(is_awaited, tensors))

    def writes_now(self, target: Any, *values: Any) -> bool:
        """True if a few numbers that are there may be copied to `target`'s memory now: noting this takes longer."""
        deferred = self.noting
        if target.ndarray.size > FEW or deferred.concerns(target):
            return False
        return not any(map(deferred.is_awaited, values))

    def shows_what_is_there(self, x: Tensor) -> bool:
        """True if a view of `x` is taken at once."""
        return self.noting.shows_what_is_there(x)


def _key(deferred: Deferred, primitive: Primitive, operands: Sequence[Any], params: Params) -> Hashable:
    """What tells an op from others at one point, of which the operands have been met; None where the general way has to
    meet them."""
    if primitive is CONCATENATE and is_done_at_once(deferred, primitive, operands, params):
        return None
    segment = deferred.segment
    key: list[Any] = ["with parameters", primitive]
    kinds = _CHECKED if primitive.check is not None and _is_of_floats(operands[0]) else _FLOATS
    for operand in operands:
        if type(operand) in PLAIN_TENSORS:
            place = operand.place
            if place is None or place[0] is not segment:
                if primitive.is_view or operand.ndarray.dtype.char not in kinds:
                    return None
                if is_copied(deferred, operand):
                    key.append((_requires(operand), operand.ndarray.shape, operand.ndarray.dtype.char))
                    continue
                place = deferred.meet(operand)
                if deferred.segment is not segment:  # which others have to be met in again
                    return None
            key.append(~place[1] if _requires(operand) else place[1])
        elif isinstance(operand, np.generic):
            key.append(key_of(operand))
        else:
            return None
    for name, value in params.items():
        kind = type(value)
        key += (name, kind, value) if kind in _PLAIN else (name, *exact(value))
    return tuple(key)


def _is_of_floats(operand: Any) -> bool:
    """False for the numbers of the program, too, which a tensor may divide."""
    return isinstance(operand, Array) and operand.ndarray.dtype.char in _FLOATS


def _without_numbers(key: Any, operands: Sequence[Any]) -> Hashable:
    """The key of the ops that differ from one in their numbers only, which are data."""
    found = list(key)
    for i, operand in enumerate(operands, 2):
        if isinstance(operand, np.generic):
            found[i] = operand.dtype.char
    return tuple(found)


def are_small(size: int, operands: Sequence[Any], params: Params = _PARAMS) -> bool:
    """True for operands of at most `size` elements from which no history begins: numpy is done before the op is
    noted."""
    if not size:
        return False
    if not operands:
        return math.prod(params.get("shape", (math.inf,))) <= size
    for operand in operands:
        if type(operand) in PLAIN_TENSORS:
            if operand.ndarray.size > size or (switches.enabled and _requires(operand)):
                return False
        elif isinstance(operand, Array):
            return False
    return True


def _requires(x: Any) -> bool:
    return x._node is not None or x._requires or (x._base is not None and x.requires_grad)


def noted_as_before(deferred: Deferred, primitive: Primitive, general: Callable[..., Any], *operands: Any) -> Any:
    """``general(*operands)``, the value of one primitive."""
    if deferred.here.event is None and are_small(deferred.done_now(), operands):
        direct = plain.direct
        out = (direct.unary if len(operands) == 1 else direct.binary)(primitive, *operands)
        return general(*operands) if out is NotImplemented else out
    segment = deferred.segment
    key: list[Any] = ["without", primitive]
    given: Sequence[Any] = operands
    numbers = 0
    for operand in operands:
        if type(operand) in PLAIN_TENSORS:
            place = operand.place
            array = operand.ndarray
            if array.dtype.char not in _FLOATS:
                return general(*operands)
            if place is None or place[0] is not segment:
                if operand.steps or is_exposed(array):
                    if not is_copied(deferred, operand):
                        return general(*operands)
                    key.append((_requires(operand), array.shape, array.dtype.char))
                    continue
                place = deferred.meet(operand)
                if deferred.segment is not segment:  # which others have to be met in again
                    return general(*operands)
            key.append(~place[1] if _requires(operand) else place[1])
        elif type(operand) is int or (type(operand) is float and operand):  # 0.0 is equal to -0.0
            key.append((type(operand), operand))
            numbers += 1
        else:
            return general(*operands)
    here = deferred.here
    known = here.ops.get(tuple(key))
    if known is None and numbers and here.has_data:
        given = _with_constants(deferred, operands)
        known = here.ops.get(_without_numbers(key, given))
    if known is None:
        out = general(*operands)
        if type(out) is Tensor and out.ndarray.dtype.kind in "fb":
            given = _with_constants(deferred, operands) if numbers else operands
            _remember(deferred, tuple(key), here, segment, primitive, given, out)
        return out
    if known.grad_enabled is not switches.enabled or known.default_dtype is not defaults.dtype:
        return general(*operands)
    return _noted(deferred, known, primitive, given, _PARAMS)


def _with_constants(deferred: Deferred, operands: Sequence[Any]) -> Sequence[Any]:
    """The operands of an op of one tensor, numbers as constants of its type."""
    of = next(operand for operand in operands if type(operand) in PLAIN_TENSORS).type_.dtype
    return [o if type(o) in PLAIN_TENSORS else deferred.constant(o, of) for o in operands]


def _noted(deferred: Deferred, known: KnownOp, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
    event = known.event
    copy_again(deferred, operands, known.copies)
    if known.numbers:
        numbers_again(deferred, operands, known.numbers)
    out: Any = blank(Tensor)
    out.label = None
    out.place = (deferred.segment, known.after.tokens - 1)
    if known.view:
        base: Any = operands[0]
        out.ndarray, out.buffer = primitive.evaluate(base.ndarray, **params), base.buffer
        out.steps = (*base.steps, *known.view)
        out.note_view_of(base)
    else:
        array = out.ndarray = event.memory_for_result()
        buffer = out.buffer = Buffer(array)
        out.steps = ()
        if switches.inference:
            buffer.version = UNTRACKED
        deferred.number_of[id(array)] = event.memory
        deferred.memories[event.memory :] = [weakref.ref(array)]
    if known.bound is not None:
        deferred.bounds[known.after.tokens - 1] = known.bound
    deferred.ops += 1
    deferred.here = known.after  # last, so that an interrupt leaves an op noted, or not
    if known.on:
        given = [o if constant is None else constant for o, constant in zip(operands, known.constants, strict=True)]
        out._node = PrimitiveNode.of(primitive, given, params, out, known.on)
    return out


def _remember(
    deferred: Deferred,
    key: Hashable,
    here: TrieNode,
    segment: Any,
    primitive: Primitive,
    operands: Any,
    out: Any,
) -> None:
    """Keep what was noted for the op, if that was one event with these operands."""
    after = deferred.here
    event: Any = after.event
    if deferred.segment is not segment or type(event) is not Compute or after.before is None:
        return
    if event.primitive is not primitive or type(out) is not Tensor:
        return
    copied = [i for i, o in enumerate(operands) if type(o) in PLAIN_TENSORS and not (o.place and o.place[0] is segment)]
    met = [type(o) is int for o in event.operands]
    varying = [i for i, o in enumerate(operands) if isinstance(o, np.generic) and met[i]]
    if met != [type(o) in PLAIN_TENSORS or i in varying for i, o in enumerate(operands)]:
        return
    if varying and out.ndarray.dtype.kind not in "fb":
        return  # the numbers decide what positions are below
    copies = copies_between(here, after.before, [*copied, *varying])
    if copies is None or not are_met(deferred, operands, copies[len(copied) :]):
        return
    constants = tuple(None if type(o) is int else o for o in event.operands)
    node: Any = out._node
    if node is not None and (not isinstance(node, PrimitiveNode) or node.primitive is not primitive):
        return
    if varying:
        key, here.has_data = _without_numbers(key, operands), True
    here.ops[key] = KnownOp(
        after, event, copies[: len(copied)], copies[len(copied) :],
        (Step(primitive, tuple(event.params.items())),) if event.is_view else (),
        deferred.bounds.get(after.tokens - 1), constants, () if node is None else node.on, switches.enabled,
        defaults.dtype,
    )  # fmt: skip
