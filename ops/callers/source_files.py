"""Whose code a file is: the package's own, Python's library's, or that of a program that uses the package."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

_PACKAGE = str(Path(__file__).absolute().parents[2]) + os.sep
# Programs that live inside the checkout but are users of the package, not part of it.
USERS = ("tests", "examples", "benchmarks")
_USERS = tuple(_PACKAGE + folder + os.sep for folder in (*USERS, ".venv"))
_WRITTEN = "<tracegrad: "  # code that the package writes as text


_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = tuple(_STANDARD + folder + os.sep for folder in ("site-packages", "dist-packages"))


@functools.lru_cache(maxsize=4096)
def is_standard_file(filename: str) -> bool:
    """True for code of Python's library."""
    return filename.startswith("<frozen") or (filename.startswith(_STANDARD) and not filename.startswith(_INSTALLED))


@functools.lru_cache(maxsize=4096)
def is_user_file(filename: str) -> bool:
    """True for code that uses the package, False for the package's own and for Python's library."""
    return not is_standard_file(filename) and not is_own_file(filename)


@functools.lru_cache(maxsize=4096)
def is_own_file(filename: str) -> bool:
    """True for the package's own code."""
    return filename.startswith(_WRITTEN) or (filename.startswith(_PACKAGE) and not filename.startswith(_USERS))


def title_of_written(what: str) -> str:
    """What stands in the place of a file for code that the package writes as text, which is its own code, too.

    >>> title_of_written("guards")
    '<tracegrad: guards>'
    """
    return f"{_WRITTEN}{what}>"


def folder_of(filename: str) -> str:
    """The package's folder in which a file of its own code is; "" for what is not in one."""
    return filename[len(_PACKAGE) :].partition(os.sep)[0] if filename.startswith(_PACKAGE) else ""


def user_place() -> tuple[str, int]:
    """File and line of the innermost user frame; ("", 0) if there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if is_user_file(code.co_filename):
            return code.co_filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "", 0
