"""Threads that a program starts while results are pending: whoever computes later hears of each before it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ...ops.locks import new_lock

Listener = Callable[[], None]


class _Listening(threading.local):
    listener: Listener | None = None


_lock = new_lock()
_listening = _Listening()
_start = threading.Thread.start
_open: list[Any] = []  # for each listener of any thread


def _announced(thread: threading.Thread) -> None:
    if _listening.listener is not None:
        _listening.listener()
    _start(thread)


def hear_starts(listener: Listener | None) -> Listener | None:
    """Call `listener` before this thread starts another one, None: nobody; returns who was called before.

    Python tells nobody of a start, so ``Thread.start`` is another function while there is a listener. What a program
    starts below it, by the module ``_thread``, is not heard.
    """
    global _start
    before, _listening.listener = _listening.listener, listener
    with _lock:
        if (before is None) is not (listener is None):
            _open.append(None) if before is None else _open.pop()
        if _open and threading.Thread.start is not _announced:
            _start, threading.Thread.start = threading.Thread.start, _announced  # type: ignore[method-assign, assignment]
        elif not _open and threading.Thread.start is _announced:
            threading.Thread.start = _start  # type: ignore[method-assign]
    return before
