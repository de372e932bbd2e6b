"""Python's profilers: while one is at work, no recording can see what a function calls, so none is made."""

from __future__ import annotations

import sys
import warnings

from ...ops.callers.source_files import user_place

_WHAT = "a profiler is at work (sys.setprofile, or cProfile up to Python 3.11)"
_ADVICE = "Call the function a few times before the profiler begins: calls that have a program are replayed then."
PROFILED = (
    f"{_WHAT}: a recording needs its place, to see what the function calls\n"
    f"  in calls of {{name}} while it is there, which are eager\n  {_ADVICE}"
)


class _Warning:
    """Given once a process."""

    def __init__(self) -> None:
        self.is_given = False

    def give(self) -> None:
        if not self.is_given:
            self.is_given = True
            text = f"{_WHAT}: compiled functions make no programs, and calls without one are eager. {_ADVICE}"
            warnings.warn_explicit(text, RuntimeWarning, *user_place())


warning = _Warning()


def is_profiled() -> bool:
    """True if this thread has a profiler; the first time, a warning says what that means."""
    if sys.getprofile() is None:
        return False
    warning.give()
    return True
