"""Threads that a program starts while results are pending: whoever computes later hears of each before it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ...ops.locks import new_lock

Listener = Callable[[threading.Thread], None]


class _Listening(threading.local):
    listener: Listener | None = None


_lock = new_lock()
_listening = _Listening()
_start = threading.Thread.start
_open: dict[int, Listener] = {}  # by thread: setting one again, after an interrupt, changes nothing


def _announced(thread: threading.Thread) -> None:
    if _listening.listener is not None:
        _listening.listener(thread)
    _start(thread)


def heard_by() -> Listener | None:
    """Who is called before this thread starts another one."""
    return _listening.listener


def hear_starts(listener: Listener | None) -> Listener | None:
    """Call `listener` with each thread that this one starts, before it runs (None: nobody); returns the one before.

    Python tells nobody of a start, so ``Thread.start`` is another function while there is a listener. What a program
    starts below it, by the module ``_thread``, is not heard.
    """
    global _start
    before, me = _listening.listener, threading.get_ident()
    with _lock:
        if listener is None:
            _open.pop(me, None)
        else:
            _open[me] = listener
        if _open and threading.Thread.start is not _announced:
            _start, threading.Thread.start = threading.Thread.start, _announced  # type: ignore[method-assign, assignment]
        elif not _open and threading.Thread.start is _announced:
            threading.Thread.start = _start  # type: ignore[method-assign]
    _listening.listener = listener
    return before
