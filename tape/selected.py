"""What a recording makes of ``x[i]``, i a tensor without dimensions: eager mode selects a view of x.

A recording does not look at i: in its graph the elements are picked, a copy. For the call that is recorded the copy
shows x's memory all the same, so that the call is eager. A write that tells a view from a copy refuses the recording.
"""

from __future__ import annotations

import weakref
from typing import Any

from ..tracing.watch import forbid, watcher

#: Memory that is shown by what was picked, and of what was picked, while a recording is made.
_picked: weakref.WeakKeyDictionary[Any, list[weakref.ref[Any]]] = weakref.WeakKeyDictionary()


def note_picked(source: Any, taken: Any, position: int) -> None:
    """`taken` was picked at `position` of the first axis of `source`."""
    taken.ndarray = source.ndarray[position, ...]
    for buffer in (source.buffer, taken.buffer):
        _picked.setdefault(buffer, []).append(weakref.ref(taken))


def declare_write_to_picked(buffer: Any) -> None:
    """Say that `buffer` is written to."""
    if _picked and watcher() is not None and any(taken() is not None for taken in _picked.get(buffer, ())):
        forbid("writing to the memory that x[i] shows, i a tensor,", "Use a number, x[int(i)].")
