"""Saying why: what kept the programs that exist from serving a call, and what keeps a function from being replayed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..ops.types import get_default_dtype
from ..tape.grad_mode import is_grad_enabled, is_inference_mode_enabled
from ..tensors.autocasting import state as autocast
from ..tensors.tensor import Tensor
from .common.classes import is_a
from .common.pytree import leaves, skeleton
from .common.sharing import said_of, sharing
from .common.value_text import value_text
from .execution.shape_cache import Programs
from .guards.sources import NOT_THERE
from .lazy.segments import Segments
from .parts.fallback import Fallback
from .replay.arguments import TensorArgument
from .replay.specialisation import Specialisation

LONGEST = 60  # characters of a value that is shown


@dataclass(frozen=True)
class Change:
    """What is not as it was when a specialisation was made: the thing, old and new, and the user's line."""

    what: str
    old: str = ""
    new: str = ""
    place: str = ""
    is_value: bool = False  # one of any number of Python values, or of objects in a variable; not a shape, flag or mode

    def __str__(self) -> str:
        values = f": {self.old} -> {self.new}" if self.old or self.new else ""
        return f"{self.what}{values}" + (f"  at {self.place}" if self.place else "")


def difference(of: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Change:
    """What keeps `of` from serving a call: what it is, old -> new, and the user's line. Its guards are looked at."""
    inputs = of.inputs_of(args, kwargs)
    if inputs is None:
        return Change("a tensor that was looked up at each call is not there")
    for look in (_mode, _argument, _surrounding, _number, _guard, _captured, _sharing):
        found = look(of, inputs)
        if found:
            return found
    return Change("numbers that the program computes with, or a check of them")


class Explaining:
    """The part of a compiled function that says why calls are served as they are."""

    __name__: str
    way: str
    specialisations: list[Specialisation]
    programs: Programs
    _rerun: Fallback

    def explain(self) -> str:
        """How calls are served, and why: one line for each program with what differed (old -> new) from the one before
        and the line that depends on it; then what keeps other calls from being replayed, and what to write instead.

        >>> import tracegrad as tg
        >>> step = tg.compile(lambda x: x if x.sum() > 0 else -x)
        >>> step(tg.ones(2)); print(step.explain())  # doctest: +ELLIPSIS
        tensor([1., 1.])
        <lambda>: 0 replayed programs; the latest call: eager
          Python runs at calls that no program serves, because:
            bool(tensor) (an if, while, and, or, not on it) needs a tensor's numbers ...
          What that costs: Python runs each of these calls, and no program does any of their work yet
        """
        lines = [f"{self.__name__}: {len(self.specialisations)} replayed programs; the latest call: {self.way}"]
        lines += [f"  program {i}: {_of_program(each)}" for i, each in enumerate(reversed(self.specialisations), 1)]
        losses = [loss.__name__ for loss in self.programs.backward.losses.values() if loss and loss.specialisations]
        if losses:
            lines.append(f"  Losses of its results that are programs of their own: {', '.join(losses)}")
        if self.reasons:
            lines.append("  Python runs at calls that no program serves, because:")
            for reason in self.reasons:
                what, *rest = [line.strip() for line in reason.splitlines()]
                lines.append(f"    {what}")
                lines += [f"      {line}" for line in rest]
            lines.append(f"  What that costs: {_cost(len(self.segments.programs), self.parts)}")
        return "\n".join(lines)

    @property
    def reasons(self) -> list[str]:
        """Why recordings could not be replayed: for each reason what, where and what to write instead."""
        return self._rerun.reasons

    @property
    def segments(self) -> Segments:
        """The parts of calls for which Python runs."""
        return self._rerun.segments

    @property
    def parts(self) -> list[str]:
        """Models, losses and optimizers that are programs of their own in calls for which Python runs."""
        return self._rerun.parts.titles()


def _cost(programs: int, parts: list[str]) -> str:
    """What serves the calls for which Python runs."""
    if not programs and not parts:
        return "Python runs each of these calls, and no program does any of their work yet"
    served = [f"{programs} program{'s' * (programs != 1)}"] if programs else []
    served += [f"{', '.join(dict.fromkeys(parts))} as a program of its own"] if parts else []
    return f"Python runs each of these calls; their operations are served from {', and '.join(served)}"


def _of_program(specialisation: Specialisation) -> str:
    inputs = specialisation.recording.arguments
    types = ", ".join(f"{root.node.label} {root.node.type}" for _, root in inputs) or "no tensor arguments"
    return f"{types}; {specialisation.because}"


# ------------------------------------------------------------------------------------------------------ differences


def _changed(what: str, old: Any, new: Any, place: str = "") -> Change:
    return Change(what, _short(old), _short(new), place)


def _short(value: Any) -> str:
    if is_a(value, Tensor):
        return _tensor(value)
    text = value if type(value) is str and value.startswith("<") else value_text(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _tensor(tensor: Tensor) -> str:
    flags = " requires grad" if tensor.requires_grad else ""
    order = "" if tensor.ndarray.flags.c_contiguous else " strided"
    return f"<{tensor.type_}{order}{flags}{' of inference mode' if tensor.buffer.version < 0 else ''}>"


def _mode(of: Specialisation, call: Any) -> Change | None:
    modes = of.recording.modes
    if is_grad_enabled() is not modes.grad_enabled:
        return _changed("grad mode", modes.grad_enabled, is_grad_enabled())
    if is_inference_mode_enabled() is not modes.inference:
        return _changed("inference mode", modes.inference, is_inference_mode_enabled())
    if get_default_dtype() is not modes.default_dtype:
        return _changed("default dtype", modes.default_dtype, get_default_dtype())
    if autocast.modes is not modes.autocast:
        return _changed("autocast", modes.autocast, autocast.modes)
    return None


def _argument(of: Specialisation, call: Any) -> Change | None:
    if skeleton(call) != of.arguments.skeleton:
        return Change("the number or the structure of the arguments")
    names = {path: root.node.label for path, root in of.recording.arguments}
    for path, leaf in leaves(call):
        if not of.arguments.fits_at(path, leaf):
            name = names.get(path) or "argument " + ".".join(map(str, path[1:]))
            spec = of.arguments.spec_at(path)
            if is_a(spec, TensorArgument) and is_a(leaf, Tensor) and type(leaf) is not spec.kind:
                return _changed(f"the class of {name}", spec.kind, type(leaf))
            if is_a(spec, TensorArgument) or is_a(leaf, Tensor):
                return _changed(name, spec.describe() if is_a(spec, TensorArgument) else spec, leaf)
            return replace(_changed(name, spec, leaf), is_value=True)
    return None


def _surrounding(of: Specialisation, call: Any) -> Change | None:
    for fact in of.recording.environment.facts:
        if not fact.holds():
            now = fact.source.now()
            if fact.source.tells:
                return Change(f"{fact.name}: replaced", place=fact.line)
            if now is fact.value:
                return Change(f"what is in {fact.name}", place=fact.line, is_value=True)
            return replace(_changed(fact.name, fact.value, now, fact.line), is_value=True)
    return None


def _number(of: Specialisation, call: Any) -> Change | None:
    found = of.inputs.refusing(call)
    if found is None:
        return None
    expected, now = found
    if type(expected) is bool:
        return _changed("the outcome of a comparison of numbers", expected, now)
    return replace(_changed("a number whose very value the program looks at", expected, now), is_value=True)


def _guard(of: Specialisation, call: Any) -> Change | None:
    for guard in of.recording.guards:
        if not guard.holds():
            try:
                now: Any = guard.get()
            except NOT_THERE:
                now = "<gone>"
            return replace(_changed(guard.describe, guard.value, now, guard.place), is_value=True)
    return None


def _captured(of: Specialisation, call: Any) -> Change | None:
    for root, now in of.captured.unfitting(call):
        old = f"<{root.node.type}{' requires grad' if root.requires_grad else ''}>"
        return _changed(root.node.label, old, "<none>" if now is None else now, str(root.met_at))
    for slot, had in of.captured.gradients_otherwise(call):
        old, new = ("<a tensor>", "<None>") if had else ("<None>", "<a tensor>")
        return _changed(f".grad of {slot.label or 'a tensor'}", old, new)
    return None


def _sharing(of: Specialisation, call: Any) -> Change | None:
    what, old, new = said_of(of.sharing, sharing(of.recording, of.captured, call))
    return _changed(what, old, new, f"the call of {of.recording.name}") if what else None


def first_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Change:
    """What is said of the first program."""
    given = [leaf for _, leaf in leaves((args, kwargs)) if not is_a(leaf, Tensor)]
    return Change("first recorded call" + (f" (with {', '.join(map(_short, given))})" if given else ""))
