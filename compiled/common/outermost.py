"""Where the user's code enters compiled functions, and what is put in order where such a call ends by an exception."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar

from ...ops.core import drop_stale_interpreters
from ...ops.locks import release_all
from ...tracing.tracebacks import boundary, fold

F = TypeVar("F", bound=Callable)

_entries: set[types.CodeType] = set()


def entry(function: F) -> F:
    """A function through which threads enter; it calls `clean_up` for every exception that it lets through, and may
    call `tracebacks.fold`."""
    _entries.add(function.__code__)
    return boundary(function)


def entered(function: F) -> F:
    """The same of a function whose calls may cost one more."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            clean_up()
            fold(error)
            raise

    return entry(called)  # type: ignore[return-value]


def clean_up() -> None:
    """An interrupt may have come between a lock's last instruction and its release. What this thread holds is nobody's,
    unless it has entered more than once and is still at work.
    """
    frame = sys._getframe(1).f_back
    while frame is not None and frame.f_code not in _entries:
        frame = frame.f_back
    if frame is None:
        drop_stale_interpreters()
        release_all()
