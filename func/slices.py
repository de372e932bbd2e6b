"""A mapped function called for each slice in a recording, and whether it writes to what is not its own.

What all slices share is written once in a call for all of them, and must not be written with what differs between
slices. In a call for each slice such a write cannot be told from others when it is done, but it can be refused.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..ops.core import Params, Primitive, current, interpreted
from ..tape.tape import Tape
from ..tracing.refusals import Refusal, Refusing, unless_refused


class WritesOutside(Refusal):
    """The function writes to memory that is neither of its slices nor made by itself."""


class SlicesTape(Refusing, Tape):
    """The tape around, which refuses writes to memory but that of `shared`, and what was made since."""

    def __init__(self, around: Tape, shared: Sequence[Any]) -> None:
        super().__init__(around.below, around.make)
        self._own = {id(x.buffer.whole): weakref.ref(x.buffer.whole) for x in shared}

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
        out = super().apply(primitive, operands, params)
        if not primitive.is_view or out.buffer is not operands[0].buffer:
            self._note(out)
        return out

    def literal(self, values: Any) -> Any:
        out = super().literal(values)
        self._note(out)
        return out

    def _note(self, out: Any) -> None:
        self._own[id(out.buffer.whole)] = weakref.ref(out.buffer.whole)

    def write(self, target: Any, value: Any) -> None:
        whole = target.buffer.whole
        known = self._own.get(id(whole))
        if (known is None or known() is not whole) and not is_of_generator(target):
            self.refuse(WritesOutside())
        super().write(target, value)


def is_of_generator(target: Any) -> bool:
    """Whether a tensor is the state of a generator: slices draw from it one after the other."""
    label = getattr(target, "label", None)
    return label is not None and label.startswith("generator.")


def called(function: Callable[..., Any], slices: Sequence[Any], *arguments: Any) -> Any:
    """``function(*arguments)``. WritesOutside, before the write, for one to memory that is not that of `slices`."""
    around = current()
    if not isinstance(around, Tape):
        return function(*arguments)
    tape = SlicesTape(around, slices)
    return unless_refused(tape, interpreted, tape, function, *arguments)
