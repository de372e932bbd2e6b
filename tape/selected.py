"""What a recording makes of ``x[i]``, i a tensor without dimensions or a number that is data: eager mode selects a
view of x.

A recording does not look at i: in its graph the elements are picked, a copy. For the call that is recorded the copy
shows x's memory all the same, so that the call is eager. A write that tells a view from a copy refuses the recording.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ..tracing.watch import forbid, watcher

#: Memory that is shown by what was picked, and of what was picked, while a recording is made.
_picked: weakref.WeakKeyDictionary[Any, list[tuple[weakref.ref[Any], Callable[[], None]]]]
_picked = weakref.WeakKeyDictionary()
_behind: weakref.WeakKeyDictionary[Any, tuple[Any, ...]] = weakref.WeakKeyDictionary()  # what each was picked from


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
    behind = (source.buffer, *_behind.get(source.buffer, ()))  # what was picked may be picked from
    _behind[taken.buffer] = behind
    for buffer in (*behind, taken.buffer):
        known = [each for each in _picked.get(buffer, ()) if each[0]() is not None]
        _picked[buffer] = [*known, (weakref.ref(taken.buffer), otherwise)]


def declare_write_to_picked(buffer: Any) -> None:
    """Say that `buffer` is written to."""
    if watcher() is not None and _picked:
        for taken, otherwise in _picked.get(buffer, ()):
            if taken() is not None:
                otherwise()


def declare_kept(tensors: Iterable[Any]) -> None:
    """Say that these tensors, and whatever else it is, outlive the call."""
    for tensor in tensors if _picked else ():
        buffer = getattr(tensor, "buffer", None)
        for taken, otherwise in () if buffer is None else _picked.get(buffer, ()):
            if taken() is buffer:
                otherwise()
