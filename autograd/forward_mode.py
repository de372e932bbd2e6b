"""The interpreter of forward mode: computes, beside each value, how it changes along the tangents of dual tensors.

No operation has a rule for that. Its derivative follows from the rule of the backward pass: this is linear in the
cotangent, and going backwards through a linear function is its adjoint, here the adjoint of an adjoint. So a tangent is
the gradient, by a cotangent that may be anything, of what the rule makes of that cotangent.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from ..ops.core import Params, Primitive, bind, current, interpreted, switch
from ..ops.identity import copy
from ..ops.movement import broadcast
from ..ops.pointwise import cast
from ..ops.sources import zeros
from ..ops.types import DIFFERENTIABLE_KINDS, DType, Type
from ..ops.views import replay, write_through
from ..ops.vjp import unbroadcast
from ..tape.grad_mode import enable_grad, switches
from ..tape.nodes import PrimitiveNode
from ..tape.reverse import grad_within
from ..tape.saved import packing, without_hooks
from ..tape.tangents import Level, Region, levels
from ..tape.tape import Tape
from ..tracing.watch import watcher

Tangents = Mapping[int, Any]  # of the operands that have one, by their places
#: The cotangents of an operation's operands for those of its results; None where there is none.
PullBack = Callable[[list[Any]], Sequence[Any]]


class ForwardTape(Tape):
    """Lets `around` compute values and record them for `backward()`, and keeps tangents in `level`.

    Tangents are computed by `around`, too: where it records, they may be differentiated.
    """

    def __init__(self, level: Level) -> None:
        self.around, self.level = level.around, level
        super().__init__(self.around.below, self.around.make)

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
        out = self.around.apply(primitive, operands, params)
        if primitive.is_view and out.buffer is operands[0].buffer:
            self.level.follow(out, operands[0])
            return out
        if out.ndarray.dtype.kind in DIFFERENTIABLE_KINDS and (tangents := self.tangents_of(operands)):
            on = primitive.differentiable(sorted(tangents))
            if on:
                self._beside(self._follow, primitive, operands, params, out, on, tangents)
        return out

    def _beside(self, function: Callable[..., None], *args: Any) -> None:
        """``function(*args)``, which computes tangents: what is saved on the way is no hook's business."""
        with without_hooks() if packing.hooks else nullcontext():
            interpreted(self.around, function, *args)

    def _follow(
        self,
        primitive: Primitive,
        operands: Sequence[Any],
        params: Params,
        out: Any,
        on: tuple[int, ...],
        tangents: Tangents,
    ) -> None:
        if primitive.linear:
            found = bind(primitive, *_linear_operands(primitive, operands, tangents), **params)
            self.level.give(out, owned(found, tangents.values()))
            return
        wanted = [i in on for i in range(len(operands))]

        def pull_back(cotangents: list[Any]) -> list[Any]:
            node = PrimitiveNode.of(primitive, operands, params, out, on)
            listening = watcher()
            if listening is not None:
                node.origin = listening.origin()
            return node.backward(cotangents, wanted)

        self._give([out], operands, tangents, pull_back)

    def give(
        self,
        results: Sequence[Any],
        constant: Sequence[int],
        tangents: Tangents,
        operands: Sequence[Any],
        pull_back: PullBack,
    ) -> None:
        """Give its tangent to each result of `operands` but those at the places `constant`; see `pushed`."""
        if tangents:
            self._beside(self._give, results, operands, tangents, pull_back, constant)

    def _give(
        self,
        results: Sequence[Any],
        operands: Sequence[Any],
        tangents: Tangents,
        pull_back: PullBack,
        constant: Sequence[int] = (),
    ) -> None:
        changing = [
            i for i, x in enumerate(results) if x.ndarray.dtype.kind in DIFFERENTIABLE_KINDS and i not in constant
        ]

        def of_all(cotangents: list[Any]) -> Sequence[Any]:
            given: list[Any] = [None] * len(results)
            for i, g in zip(changing, cotangents, strict=True):
                given[i] = g
            return pull_back(given)

        found = pushed(of_all, operands, [results[i].type_ for i in changing], tangents) if changing else []
        for i, tangent in zip(changing, found, strict=True):
            self.level.give(results[i], owned(tangent, tangents.values()))

    def tangents_of(self, operands: Sequence[Any]) -> Tangents:
        """The tangents of those operands that have one; of none in inference mode."""
        if switches.inference:
            return {}
        found = {}
        for i, x in enumerate(operands):
            if hasattr(x, "buffer") and self.level.has_tangent(x):
                found[i] = self.level.tangent_of(x)
        return found

    def write(self, target: Any, value: Any) -> None:
        tangents = self.tangents_of([value])
        self.around.write(target, value)
        if tangents or (not switches.inference and self.level.has_tangent(target)):
            interpreted(self.around, _write_tangent, self.level.region_of(target), target, tangents.get(0))

    def stacked(self, tensors: Sequence[Any], axis: int) -> Any:
        return None if self.tangents_of(tensors) else self.around.stacked(tensors, axis)

    def constant(self, number: Any, dtype: DType) -> Any:
        return self.around.constant(number, dtype)

    def type_of(self, operand: Any) -> Type:
        return self.around.type_of(operand)

    def is_number(self, operand: Any) -> bool:
        return self.around.is_number(operand)


def pushed(pull_back: PullBack, operands: Sequence[Any], results: Sequence[Type], tangents: Tangents) -> list[Any]:
    """How results of these types change along the `tangents` of their `operands`.

    `pull_back` gives the cotangents of the operands, None where there is none, for cotangents of the results.
    """
    recorded = switches.enabled and any(getattr(x, "requires_grad", False) for x in (*operands, *tangents.values()))
    with enable_grad():
        cotangents = [zeros(of).requires_grad_() for of in results]
        found = pull_back(cotangents)
        pairs = [(found[i], t) for i, t in tangents.items() if found[i] is not None and found[i].requires_grad]
        if not pairs:
            return [zeros(of) for of in results]
        linear = [unbroadcast(g, t.ndarray.shape) for g, t in pairs]
        along = [t if t.dtype is g.dtype else cast(t, g.dtype) for g, t in pairs]
        changes = grad_within(linear, cotangents, along, create_graph=recorded, materialize_grads=True)
    return [x if recorded else x.detach() for x in changes]


def _linear_operands(primitive: Primitive, operands: Sequence[Any], tangents: Tangents) -> list[Any]:
    """The operands, with the tangents of those in which the primitive is linear in their places."""
    found = list(operands)
    for i, name in enumerate(primitive.inputs):
        if name in primitive.linear:
            of = current().type_of(operands[i])
            tangent = tangents.get(i)
            found[i] = (
                zeros(of) if tangent is None else tangent if tangent.dtype is of.dtype else cast(tangent, of.dtype)
            )
    return found


def owned(tangent: Any, others: Any) -> Any:
    """`tangent` in memory that none of the `others` shows, each element at a place of its own."""
    shared = tangent.base is not None or tangent.steps or any(tangent.buffer is other.buffer for other in others)
    return copy(tangent) if shared or not tangent.ndarray.flags.writeable else tangent


def _write_tangent(region: Region, target: Any, tangent: Any) -> None:
    """`target` has got numbers with this tangent, None: constants."""
    of: Type = target.type_
    tangent = zeros(of) if tangent is None else tangent
    tangent = tangent if tangent.dtype is of.dtype else cast(tangent, of.dtype)
    tangent = tangent if tangent.ndarray.shape == of.shape else broadcast(tangent, of.shape)
    steps = region.steps_to(target)
    if steps is None:
        raise NotImplementedError("forward AD of a write to a view beyond the dual tensor. Write to a clone() of it.")
    if region.tangent is None:
        region.tangent = copy(zeros(region.of))
    if switches.enabled and (tangent.requires_grad or region.tangent.requires_grad):
        region.tangent = write_through(region.tangent, steps, tangent) if steps else copy(tangent)
    else:
        tape: Any = current()
        tape.write(replay(region.tangent, steps) if steps else region.tangent, tangent)


def forward_tape() -> ForwardTape | None:
    """The interpreter of this thread, if it is one of forward mode."""
    tape = current()
    return tape if isinstance(tape, ForwardTape) else None


class OpenLevel:
    """The level of this thread from its beginning to its end: an entry of the stack of interpreters."""

    def __init__(self) -> None:
        self.level = Level(current())
        self.tape = ForwardTape(self.level)
        # It stays until it is taken away, whichever function has entered it: it is the thread's outermost frame's.
        frame = sys._getframe()
        while frame.f_back is not None:
            frame = frame.f_back
        switch.stack = (*switch.stack, (self.tape, frame))
        levels.open = self.level

    def require(self) -> None:
        """RuntimeError where the interpreters around have ended, and this one with them."""
        if not any(entry[0] is self.tape for entry in switch.stack):
            raise RuntimeError(
                "The forward AD level was entered within a compiled function, a deferred block or vmap, which has "
                "ended since. Exit the level there: write `with dual_level():`."
            )

    def end(self) -> None:
        """Forget all tangents."""
        levels.open = None
        switch.stack = tuple(entry for entry in switch.stack if entry[0] is not self.tape)
