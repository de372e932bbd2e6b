"""Calls whose operations keep nothing: where a derivative asks for a tensor, the function is called again.

The hooks of saved tensors of a `Region` keep a `Place` for each tensor that the call saves. The first place that a
backward pass unpacks has the function called again, and what that saves, in the same order, belongs to the places.
Regions nest: the arguments of an inner call are tensors that the outer one saves.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from ..autograd.graph import saved_tensors_hooks
from ..autograd.random_state import RandomState
from ..ops.callers.source_files import user_place
from ..ops.core import Params, Primitive, current, interpreted
from ..tape.engine import running
from ..tape.grad_mode import enable_grad
from ..tape.saved import Saved, SavedTensor, saved
from ..tape.tangents import alias_of
from ..tape.tape import Tape
from ..tensors import autocasting
from ..tensors.tensor import Tensor
from ..tracing.refusals import Refusal


class CheckpointError(RuntimeError):
    """What was computed again is not what was computed first: another number of saved tensors, other shapes or types.
    A RuntimeError, raised in the backward pass.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import CheckpointError
    >>> issubclass(CheckpointError, RuntimeError)
    True
    """


class StopRecomputation(Refusal):
    """All that was saved is there again: the function need not go on."""


class Context(Protocol):
    """A block that may be left twice, and that may be left although it was not entered."""

    def __enter__(self) -> Any: ...

    def __exit__(self, *exc_info: Any) -> Any: ...


def recomputation_refusal() -> Callable[[], Any] | None:
    """What says that nothing here can be called again, by the interpreter's level: None but in a call for all slices.

    What such a call (`func.vmap`) hands to a function is no slice, and stands for the slices only until it is over.
    """
    found: Callable[[], Any] | None = getattr(getattr(current(), "below", None), "refuse_recomputation", None)
    return found


def within(block: Context, function: Callable[[], Any]) -> Any:
    """``function()`` within `block`, which no interrupt leaves open: it is left twice, as in `ops.core.interpreted`."""
    try:
        try:
            block.__enter__()
            return function()
        finally:
            block.__exit__(None, None, None)
    finally:
        block.__exit__(None, None, None)


class AsThen:
    """A block with the random state (None: as it is) and the autocast modes of an earlier time."""

    def __init__(self, random: RandomState | None, modes: autocasting.Modes) -> None:
        self._random, self._modes = random, modes
        self._before: tuple[RandomState | None, autocasting.Modes] | None = None

    def __enter__(self) -> None:
        now = RandomState() if self._random is not None else None
        self._before = now, autocasting.state.modes
        if self._random is not None:
            self._random.put_back()
        autocasting.switch(self._modes)

    def __exit__(self, *exc_info: object) -> None:
        if self._before is not None:
            random, modes = self._before
            autocasting.switch(modes)
            if random is not None:
                random.put_back()
            self._before = None


class Log(Tape):
    """The interpreter `around`, with a line for each operation and the place in the program that calls it."""

    def __init__(self, around: Tape, lines: list[str]) -> None:
        super().__init__(around.below, around.make)
        self._around, self._lines = around, lines

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
        file, line = user_place()
        types = ", ".join(map(str, map(self.type_of, operands)))
        self._lines.append(f"{primitive.name}({types})  at {file}:{line}")
        return self._around.apply(primitive, operands, params)


class Place:
    """What is kept of a saved tensor: the how manieth of its region it is."""

    __slots__ = ("__weakref__", "number")

    def __init__(self, number: int) -> None:
        self.number = number


class Options(NamedTuple):
    """How a region is called again: only until all is there, with types compared, with its operations logged."""

    early_stop: bool
    compares: bool
    logs: bool


class Region:
    """A function and its arguments, called once, and once more for each backward pass that needs what it has saved."""

    title = "CheckpointBackward"  # for errors about arguments that were written to

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        options: Options,
        context: AbstractContextManager[Any],
        random: RandomState | None,
    ) -> None:
        self.function, self.kwargs, self.options, self.context = function, kwargs, options, context
        self.args = [saved(x, is_output=False) if isinstance(x, Tensor) else x for x in args]
        self.random, self.modes = random, autocasting.state.modes
        self.places: list[weakref.ref[Place]] = []
        self.types: list[Any] = []  # of the tensors saved
        self.lines: list[str] = []  # the operations of the first call, where they are logged
        self.is_complete = False  # the first call is done
        self.refuse = recomputation_refusal()
        self.called_at = user_place()

    def first(self, context: AbstractContextManager[Any], args: Sequence[Any]) -> Any:
        """The result of the first call, within `context`."""

        def call() -> Any:
            with context:
                return self._in_steps(self.lines, args)
            raise RuntimeError(
                "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised "
                "during the checkpointed forward. There is no value then: let the context raise it."
            )

        returned = within(saved_tensors_hooks(self.pack, self.unpack), call)
        self.is_complete = True
        return returned

    def _in_steps(self, lines: list[str], args: Sequence[Any]) -> Any:
        """The function's result, in steps whatever interprets it: of composites an interpreter saves what their
        operations do, eager mode what their forms in numpy read, and one may be at work now, the other one then."""
        interpreter = current()
        if self.options.logs and isinstance(interpreter, Tape):
            interpreter = Log(interpreter, lines)
        return interpreted(interpreter, lambda: self.function(*args, **self.kwargs))

    def pack(self, tensor: Tensor) -> Place:
        """What is kept in the place of a tensor that the first call saves."""
        if self.refuse is not None:
            self.refuse()
        place = Place(len(self.places))
        self.places.append(weakref.ref(place))
        self.types.append(self.type_of(tensor))
        return place

    def type_of(self, tensor: Tensor) -> Any:
        """What must be the same of a tensor that is computed again."""
        return (
            {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device} if self.options.compares else None
        )

    def unpack(self, place: Place) -> Tensor:
        """The tensor of a place, which is handed out once in each backward pass."""
        return self._of_this_pass().take(place.number)

    def _of_this_pass(self) -> Recomputation:
        sweep = running.sweep
        if sweep is None:  # somebody looks at what is saved
            return self.again()
        if self not in sweep.recomputed:
            sweep.recomputed[self] = self.again()
        found: Recomputation = sweep.recomputed[self]
        return found

    def again(self) -> Recomputation:
        """What the function saves when it is called as it was called first."""
        found = Recomputation(self)
        args = [x.unpack(self) if isinstance(x, SavedTensor) else x for x in self.args]
        hooks = saved_tensors_hooks(found.pack, _itself)

        def call() -> Any:
            with self.context:
                return self._in_steps(found.lines, args)

        try:
            with enable_grad():
                within(AsThen(self.random, self.modes), lambda: within(hooks, call))
        except StopRecomputation as stop:
            if stop.args[0] is not found:
                raise
        found.check()
        return found


def _itself(tensor: Tensor) -> Tensor:
    return tensor


class Recomputation:
    """One more call of a region, for one backward pass: the tensors that it has saved, until they are handed out."""

    def __init__(self, region: Region) -> None:
        self.region = region
        self.count = 0
        self.found: dict[int, Saved] = {}
        self.has_more = False  # than the first call had saved until then
        self.lines: list[str] = []

    def pack(self, tensor: Tensor) -> Tensor:
        """Take a tensor for its place; what keeps it in the graph of this call is the tensor itself.

        StopRecomputation for the last one, if the region stops early.
        """
        region, number = self.region, self.count
        expected = len(region.places)
        tensor = alias_of(tensor) if tensor.requires_grad else tensor
        if number < expected:
            self.count += 1
            if region.places[number]() is not None:
                self.found[number] = Saved(tensor, is_output=False)
        elif region.is_complete and not region.options.early_stop:
            raise self.error(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                f"forward pass, which saved {expected}."
            )
        else:
            self.has_more = True
        if region.options.early_stop and self.count == expected:
            raise StopRecomputation(self)
        return tensor

    def take(self, number: int) -> Tensor:
        """The tensor of a place, for the only time. RuntimeError if the function has written to it since."""
        if number not in self.found:
            raise self.error(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If you "
                "are calling ctx.saved_tensors in backward, make sure to do so only once."
            )
        tensor: Tensor = self.found.pop(number).unpack(self.region)
        return tensor

    def check(self) -> None:
        """CheckpointError for another number of tensors, or tensors of other types, than the first call had saved."""
        region = self.region
        if self.has_more:
            return
        if self.count != len(region.places):
            raise self.error(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(region.places)}\nNumber of tensors "
                f"saved during recomputation: {self.count}."
            )
        pairs = [(number, region.types[number], region.type_of(x.tensor)) for number, x in sorted(self.found.items())]
        if wrong := [pair for pair in pairs if pair[1] != pair[2]]:
            lines = [
                f"tensor at position {number}:\nsaved metadata: {was}\nrecomputed metadata: {now}"
                for number, was, now in wrong
            ]
            raise self.error(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                "during the forward pass.\n" + "\n".join(lines)
            )

    def error(self, what: str) -> CheckpointError:
        """The error that says `what`, where the call is, and what helps."""
        region = self.region
        name = getattr(region.function, "__qualname__", type(region.function).__name__)
        where = "{}:{}".format(*region.called_at)
        what += f"\n  in the checkpointed call of {name} at {where}\nThe function must compute the same each time. "
        if not region.options.logs:
            return CheckpointError(what + "To see which operations differ, pass debug=True to checkpoint().")
        parts = [("the original forward", region.lines), ("recomputation", self.lines)]
        shown = [f"Operations executed during {part}:\n" + "\n".join(lines) for part, lines in parts]
        return CheckpointError("\n\n".join([what + "Compare its operations.", *shown]))
