"""Collections of garbage in the middle of a call: what finalisers and callbacks do then is no part of the call."""

from __future__ import annotations

import functools
import gc
import threading
from collections.abc import Callable
from operator import methodcaller
from typing import Any


class _Begin(threading.local):
    """Calls ``call()`` at the start of each collection of this thread. While nobody listens this is all in C: an
    interrupt that comes within Python code of a callback would be lost."""

    call: Callable[[], Any] = staticmethod(bool)  # does nothing
    start = property(methodcaller("call"))
    stop = None


class _End(threading.local):
    """The same at the end."""

    call: Callable[[], Any] = staticmethod(bool)
    start = None
    stop = property(methodcaller("call"))


_begin, _end = _Begin(), _End()
# Called with "start" or "stop", and with what is not used.
_first, _last = functools.partial(getattr, _begin), functools.partial(getattr, _end)


def _take_places() -> None:
    """Be called ahead of all other callbacks at the start, and after them at the end."""
    callbacks = gc.callbacks
    if not callbacks or callbacks[0] is not _first or callbacks[-1] is not _last:
        callbacks[:] = [_first, *(each for each in callbacks if each not in (_first, _last)), _last]


_take_places()


def hides_holders() -> bool:
    """True if `gc.freeze` has put objects aside."""
    return gc.get_freeze_count() > 0


def referrers(objects: list[Any]) -> list[Any]:
    """Who holds one of `objects`, but for this list.

    It misses nobody: what a program has put aside by `gc.freeze` is collected again from then on, since Python looks
    through it in no other way.
    """
    if hides_holders():
        gc.unfreeze()
    return [holder for holder in gc.get_referrers(*objects) if holder is not objects]


Listener = tuple[Callable[[], Any], Callable[[], Any]]  # what is called at the start and at the end


def set_listener(new: Listener) -> Listener:
    """Have `new` called around each collection of this thread; returns who was called before."""
    _take_places()
    before = _begin.call, _end.call
    _begin.call, _end.call = new
    return before


def around_collections(listener: Listener, function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``, with `listener` called around each collection that comes meanwhile; put back twice, as in
    `ops.core.interpreted`."""
    before = _begin.call, _end.call
    try:
        try:
            set_listener(listener)
            return function(*args)
        finally:
            set_listener(before)
    finally:
        set_listener(before)
