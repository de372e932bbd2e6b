"""Collections of garbage in the middle of a call: what finalisers and callbacks do then is no part of the call."""

from __future__ import annotations

import functools
import gc
import itertools
import sys
import threading
from collections import deque
from collections.abc import Callable
from operator import is_, methodcaller
from typing import Any

_ONLY_FOUND = 3  # references to what nobody else holds: the list of what was found, a variable, an argument


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


class _Restore(threading.local):
    """What is put back between the callbacks of others and the end: in C alone, since an interrupt that comes while a
    callback is entered is dropped by Python, and the callback is not run."""

    call: Callable[[], Any] = staticmethod(bool)
    start = None
    stop = property(methodcaller("call"))


_begin, _restore, _end = _Begin(), _Restore(), _End()
# Called with "start" or "stop", and with what is not used.
_first, _middle, _last = (functools.partial(getattr, each) for each in (_begin, _restore, _end))
_OWN = (_first, _middle, _last)


def _take_places() -> None:
    """Be called ahead of all other callbacks at the start, and after them at the end."""
    callbacks = gc.callbacks
    if len(callbacks) < 3 or not all(map(is_, (callbacks[0], *callbacks[-2:]), _OWN)):
        callbacks[:] = [_first, *(each for each in callbacks if not any(each is own for own in _OWN)), _middle, _last]


_take_places()


def hides_holders() -> bool:
    """True if `gc.freeze` has put objects aside."""
    return gc.get_freeze_count() > 0


def referrers(objects: list[Any]) -> list[Any]:
    """Who holds one of `objects`, but for this list, and for tuples of what is being handed over, which end at once:
    from Python 3.13 on the arguments of `gc.get_referrers` are among what it finds.

    It misses nobody: what a program has put aside by `gc.freeze` is collected again from then on, since Python looks
    through it in no other way.
    """
    if hides_holders():
        gc.unfreeze()
    found = gc.get_referrers(*objects)
    return [h for h in found if h is not objects and not (type(h) is tuple and sys.getrefcount(h) <= _ONLY_FOUND)]


Listener = tuple[Callable[[], Any], Callable[[], Any]]  # what is called at the start and at the end


def put_back_at_end(*saved: tuple[threading.local, dict[str, Any]]) -> None:
    """Give attributes of thread-local objects these values when the collection that has begun is over."""
    updates = itertools.starmap(dict.update, [(owner.__dict__, values) for owner, values in saved])
    _restore.call = functools.partial(deque, updates, 0)  # an iterator: done once, and then it holds nothing


def listening() -> Listener:
    """Who is called around each collection of this thread."""
    return _begin.call, _end.call


def set_listener(new: Listener) -> Listener:
    """Have `new` called around each collection of this thread; returns who was called before."""
    _take_places()
    before = listening()
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
