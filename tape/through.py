"""Writes through a view, and views of what was written to, as one node each, where plain eager mode makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops.array import Buffer, eager, shows
from ..ops.core import Step, at_once, switch
from ..ops.movement import update_slice_primitive
from ..ops.sources import zeros
from ..ops.types import Type
from ..ops.views import kind_of, replay, shown, write_through
from ..ops.vjp import unbroadcast
from ..tracing.watch import local
from .grad_mode import recorded
from .moved import MovedNode
from .tangents import levels

#: Steps that show each element once, and of contiguous memory no copy.
_IN_PLACE = frozenset({"slice", "reshape", "transpose", "diagonal"})


def is_one_node(view: Any) -> bool:
    """Whether a write to `view` is one node: in plain eager mode, where the steps that lead to it are simple ones."""
    if switch.stack or local.watcher is not None or levels.open is not None or type(view.buffer) is not Buffer:
        return False
    return all(kind_of(step) in _IN_PLACE for step in view.steps)


def written_in_one(view: Any, value: Any, title: str) -> Any:
    """What the base of `view`, or `view` itself, which is no view then, is after a write of `value`, a tensor or a
    number: its memory with one node, called `title` where there is no base. None where that takes the ops."""
    if not is_one_node(view):
        return None
    base = view.base
    before, steps, title = (view, (), title) if base is None else (base, view.steps_from_base(), "CopySlices")
    on = (0,) * before.requires_grad + (1,) * getattr(value, "requires_grad", False)
    facts = steps, view.type_, value.shape if 1 in on else ()
    whole = eager().literal(before.ndarray)
    operands = (before,) if base is None and isinstance(value, np.generic) else (before, value)
    whole._node = MovedNode.made(title, update_slice_primitive, operands, whole, on, _before_write, *facts)
    return whole


def _before_write(g: Any, wanted: Sequence[bool], steps: Sequence[Step], of: Type, shape: tuple[int, ...]) -> list[Any]:
    """The cotangents of what was written to, which has none where it was overwritten, and of what was written there."""
    interpreter, wants_value = at_once(g), wanted[-1] and len(wanted) > 1
    if interpreter is not None:
        zeroed = np.array(g.ndarray, order="C")
        part = shown(zeroed, steps)
        if shows(part, zeroed):
            of_value = interpreter.literal(part.copy("C")) if wants_value else None
            part[...] = 0
            found = [interpreter.literal(zeroed), None if of_value is None else unbroadcast(of_value, tuple(shape))]
            return found[: len(wanted)]
    of_base = (write_through(g, steps, zeros(of)) if steps else zeros(of)) if wanted[0] else None
    return [of_base, unbroadcast(replay(g, steps), tuple(shape)) if wants_value else None][: len(wanted)]


def seen_again(view: Any, base: Any, make: Any) -> Any:
    """`view` taken again of what `base`, of which it is one, is now, with the history of that."""
    with recorded():
        steps = view.steps_from_base()
        if not steps or not is_one_node(view):
            return replay(base, steps)
        again, primitive = make(view.ndarray, view.buffer, view.steps), steps[-1].primitive
        facts = steps, base.type_
        again._node = MovedNode.made(
            primitive.backward_name, primitive, (base,), again, (0,), _before_view, *facts
        )  # fmt: skip
        return again


def _before_view(g: Any, wanted: Sequence[bool], steps: Sequence[Step], of: Type) -> list[Any]:
    """Zeros, but for what the steps lead to."""
    interpreter = at_once(g)
    if interpreter is not None:
        out = np.zeros(of.shape, of.dtype.numpy)
        part = shown(out, steps)
        if shows(part, out):
            part[...] = g.ndarray
            return [interpreter.literal(out)]
    return [write_through(zeros(of), steps, g)]
