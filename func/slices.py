"""A mapped function called for each slice in a recording, and whether it stays within what it makes itself.

What all slices share is written once in a call for all of them, and must not be written with what differs between
slices. In a call for each slice such a write cannot be told from others when it is done, but it can be refused. So is a
result that shows memory from outside: a call for all slices returns a view of it, stacked results are a copy.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ..functional.trees import flatten_tree
from ..ops.core import Params, Primitive, current, interpreted
from ..tape.tape import Tape
from ..tensors.tensor import Tensor
from ..tracing.refusals import Refusal, Refusing, unless_refused


class Outside(Refusal):
    """The function does something with memory that it has not made itself; `what` says it in words."""

    what = ""


class WritesOutside(Outside):
    """It writes to what is not of its slices either."""

    what = "writes to memory from outside"


class ShowsOutside(Outside):
    """It returns a view of it."""

    what = "returns a view of its slice or of memory from outside"


class SlicesTape(Refusing, Tape):
    """The tape around, which refuses writes to memory but that of `shared`, and what was made since."""

    def __init__(self, around: Tape, shared: Sequence[Any]) -> None:
        super().__init__(around.below, around.make)
        self._shared = {id(x.buffer.whole) for x in shared}
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
        if not self._is_own(target) and not is_of_generator(target):
            self.refuse(WritesOutside())
        super().write(target, value)

    def _is_own(self, x: Any) -> bool:
        known = self._own.get(id(x.buffer.whole))
        return known is not None and known() is x.buffer.whole

    def check_results(self, results: Sequence[Any]) -> None:
        """ShowsOutside if one of these tensors was not made within."""
        for x in results:
            if not self._is_own(x) or id(x.buffer.whole) in self._shared:
                self.refuse(ShowsOutside())


def is_of_generator(target: Any) -> bool:
    """Whether a tensor is the state of a generator: slices draw from it one after the other."""
    label = getattr(target, "label", None)
    return label is not None and label.startswith("generator.")


def called(function: Callable[..., list[Any]], slices: Sequence[Any], *arguments: Any) -> list[Any]:
    """``function(*arguments)``, what a mapped function returns for each of its slices; `slices` are of these tensors.

    WritesOutside, before the write, for one to other memory. ShowsOutside for a result that is no new tensor.
    """
    around = current()
    if not isinstance(around, Tape):
        return function(*arguments)
    tape = SlicesTape(around, slices)

    def checked() -> list[Any]:
        results = function(*arguments)
        tape.check_results([x for result in results[:1] for x in flatten_tree(result)[0] if isinstance(x, Tensor)])
        return results

    return unless_refused(tape, interpreted, tape, checked)
