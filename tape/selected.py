"""What a recording makes of ``x[i]``, i a tensor without dimensions or a number that is data: eager mode selects a
view of x.

A recording does not look at i: in its graph the elements are picked, a copy. For the call that is recorded the copy
shows x's memory all the same. Where the program tells a view from a copy (a write to either, a result that is kept)
the recording is refused, and what was picked becomes the view that it is in eager mode: of x, with x's versions, and
with a history that writes go into.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ops.array import Array, Buffer
from ..ops.core import REGISTRY, Step
from ..tracing.watch import forbid, local
from .grad_mode import switches


class _Pick(NamedTuple):
    """How what was picked is seen as a view."""

    taken: weakref.ref[Any]
    buffer: weakref.ref[Buffer]
    source: Any
    steps: tuple[Step, ...]  # from the source
    without_grad: bool  # picked in no_grad(), or of what was viewed in it


class _ByMemory:
    """A mapping by the identity of memory, whichever buffer shows it, for as long as there is that memory."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[weakref.ref[np.ndarray], Any]] = {}

    def __len__(self) -> int:
        return len(self._found)

    def get(self, whole: np.ndarray, default: Any = None) -> Any:
        known, value = self._found.get(id(whole), (None, default))
        return value if known is not None and known() is whole else default

    def set(self, whole: np.ndarray, value: Any) -> None:
        self._found[id(whole)] = (weakref.KeyedRef(whole, self._forget, id(whole)), value)

    def pop(self, whole: np.ndarray) -> Any:
        value = self.get(whole)
        self._found.pop(id(whole), None)
        return value

    def _forget(self, gone: weakref.KeyedRef[int, np.ndarray]) -> None:
        if self._found.get(gone.key, (None,))[0] is gone:
            del self._found[gone.key]


#: While a recording is made, by memory that was picked or picked from: the memory of what was picked, and whom to tell.
_picked = _ByMemory()
_picks = _ByMemory()  # by the memory of what was picked


def _refuse() -> None:
    forbid(
        "a view x[i], i a tensor, that is returned, kept or written to (or whose memory is)",
        "Use a number, x[int(i)], or a copy, x[i].clone().",
    )


def note_picked(source: Any, taken: Any, position: tuple[Any, ...], otherwise: Callable[[], None] = _refuse) -> None:
    """`taken` was picked at `position` (ints and slices, one for each of the first axes) of `source`.

    `otherwise` is called where the program tells that it is a view.
    """
    everywhere = (*position, ...)  # with the ellipsis numpy gives a view of single elements, too
    taken.ndarray = source.ndarray[everywhere]
    steps = _steps(position, source.ndarray.shape, taken.ndarray.shape)
    without_grad = source.viewed_without_grad or not switches.enabled
    memory = taken.buffer.whole
    _picks.set(memory, _Pick(weakref.ref(taken), weakref.ref(taken.buffer), source, steps, without_grad))
    for whole in (*_behind(source.buffer.whole), memory):
        known = [each for each in _picked.get(whole, ()) if each[0]() is not None]
        _picked.set(whole, [*known, (weakref.ref(memory), otherwise)])


def is_picked(buffer: Buffer) -> bool:
    """True for the memory of what was picked, and is a view in eager mode."""
    return bool(_picks) and _picks.get(buffer.whole) is not None


def _behind(whole: np.ndarray) -> list[np.ndarray]:
    """The memory `whole`, and that of what it was picked from, which may have been picked, too."""
    found = [whole]
    while (pick := _picks.get(found[-1])) is not None:
        found.append(pick.source.buffer.whole)
    return found


def _steps(position: tuple[Any, ...], extents: Sequence[int], shape: tuple[int, ...]) -> tuple[Step, ...]:
    """The view ``x[position]`` of x, which has these extents, as steps; its own shape is `shape`."""
    bounds = []
    for axis, extent in enumerate(extents):
        at = position[axis] if axis < len(position) else slice(None)
        bounds.append(at.indices(extent) if isinstance(at, slice) else (at % extent, at % extent + 1, 1))
    starts, stops, steps = zip(*bounds, strict=True)
    window = Step(REGISTRY["slice"], (("starts", starts), ("stops", stops), ("steps", steps)))
    if all(isinstance(at, slice) for at in position):
        return (window,)
    return (window, Step(REGISTRY["reshape"], (("shape", shape),)))


def declare_write_to_picked(buffer: Buffer) -> None:
    """Say that `buffer` is written to, before anything else is done for the write: it is asked of views whether the
    write is refused."""
    if local.watcher is not None and _picked:
        for taken, otherwise in _picked.get(_behind(buffer.whole)[-1], ()):
            if (memory := taken()) is not None:
                otherwise()
                _become_views(memory)


def declare_kept(tensors: Iterable[Any]) -> None:
    """Say that these tensors, and whatever else it is, outlive the call."""
    for tensor in tensors if _picked else ():
        if isinstance(tensor, Array):
            memory = tensor.buffer.whole
            for taken, otherwise in _picked.get(memory, ()):
                if taken() is memory:
                    otherwise()
                    _become_views(memory)


def _become_views(memory: np.ndarray) -> None:
    """Let all tensors that show what was picked, whose memory this is, be what they are in eager mode."""
    pick = _picks.pop(memory)
    if pick is None:
        return
    _become_views(pick.source.buffer.whole)
    whole = pick.source.buffer.whole
    for buffer in gc.get_referrers(memory):
        if isinstance(buffer, Buffer) and buffer.whole is memory:
            for tensor in gc.get_referrers(buffer):
                if isinstance(tensor, Array) and tensor.buffer is buffer:
                    _show(tensor, pick)
            buffer.whole = whole  # what still shows it has versions of its own: .data, results of inference mode


def _show(tensor: Any, pick: _Pick) -> None:
    """Let `tensor`, which shows what was picked, show the source's memory."""
    source = pick.source
    tensor.steps = (*source.steps, *pick.steps, *tensor.steps)
    if tensor.buffer is pick.buffer():
        tensor.buffer = source.buffer
        taken = pick.taken()
        if tensor is taken or (taken is not None and tensor._base is taken):  # not what was detached, nor its views
            viewed_without_grad = pick.without_grad or tensor.viewed_without_grad
            tensor.note_view_of(source)
            tensor.viewed_without_grad = viewed_without_grad
