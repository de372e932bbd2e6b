"""Warnings that point at the user's line, however many of the library's own calls lie in between."""

from __future__ import annotations

import sys
import threading
import warnings

PACKAGE = __name__.partition(".")[0]


class Given(threading.local):
    """How many warnings this thread was given since somebody has set `count` to 0."""

    count = 0


given = Given()


def warn_user(text: str) -> None:
    """A UserWarning at the innermost line that is not this package's."""
    given.count += 1
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, UserWarning, stacklevel=depth)
