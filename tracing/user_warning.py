"""Warnings that point at the user's line, however many of the library's own calls lie in between."""

from __future__ import annotations

import os
import sys
import threading
import warnings

import numpy as np

from ..ops.callers.source_files import is_user_file
from .settings import Setting
from .watch import forbid

_NUMPY = os.path.dirname(np.__file__) + os.sep


class Given(threading.local):
    """How many warnings this thread was given since somebody has set `count` to 0."""

    count = 0


class Once:
    """Which warnings were given that come once in a process, unless each is wanted (`set_warn_always`)."""

    def __init__(self) -> None:
        self.always = Setting("whether warnings come always", False)
        self.texts: set[str] = set()


given = Given()
once = Once()


def _is_users(filename: str) -> bool:
    return is_user_file(filename) and not filename.startswith(_NUMPY)


def warn_user(text: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the innermost line that is neither this package's nor of numpy's or Python's own.

    Python's filters decide at each call whether it is shown, or is an error there: a replay could not.
    """
    given.count += 1
    forbid(f"the warning {text.partition('.')[0]!r}", "Do what it says.")
    warn_at_user(text, category)


def warn_at_user(text: str, category: type[Warning]) -> None:
    """The same of what the library does by itself, which no replay would have to say again."""
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and not _is_users(frame.f_code.co_filename):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)


def warn_once(text: str, family: str = "") -> None:
    """`warn_user` at the first call of the process (with this text, or of the family), as PyTorch's C++ code warns."""
    if once.always.get() or (family or text) not in once.texts:
        once.texts.add(family or text)
        warn_user(text)


def deprecated_for(old: str, new: str) -> str:
    """The text for a function that has another name now."""
    return f"{old} is deprecated in favor of {new} and will be removed in a future PyTorch release."
