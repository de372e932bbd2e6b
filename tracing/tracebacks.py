"""Errors as a program sees them: tracebacks without the library's frames, and notes behind the message.

A *boundary* is a function through which programs enter the library. Where an error leaves the outermost one, the frames
of the library are taken out of its traceback: what stays are the program's frames, as in PyTorch, whose C++ has none.
All of them stay with TRACEGRAD_FULL_TRACEBACK=1 in the environment, and where the library did not mean to raise: its
own code, or a library below it, has failed, which only the whole traceback explains.
"""

from __future__ import annotations

import ctypes
import dis
import os
import re
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any, TypeVar

from ..ops.callers.source_files import is_own_file, is_standard_file, is_user_file

F = TypeVar("F", bound=Callable[..., Any])

VARIABLE = "TRACEGRAD_FULL_TRACEBACK"
HAS_NOTES = sys.version_info >= (3, 11)
#: Whether Python keeps the traceback of what was caught beside the error, too.
_KEPT_APART = sys.version_info < (3, 11)

_boundaries: set[CodeType] = set()
_RAISES = {dis.opmap["RAISE_VARARGS"], dis.opmap["RERAISE"]}
#: What Python says of arguments that a function does not take: the caller's doing, whoever hands them on.
_ARGUMENTS = re.compile(r"\(\) (takes|missing|got an unexpected keyword|got multiple values|got some positional)")


def boundary(function: F) -> F:
    """A function that programs call; where an exception leaves it, it calls `fold` and raises the same again."""
    _boundaries.add(function.__code__)
    return function


def fold(error: BaseException) -> None:
    """Take the library's frames out of the traceback of `error`, to be called where a boundary has caught it.

    Nothing is done within another boundary, for what is no error (KeyboardInterrupt), and where all frames are wanted.
    """
    if not isinstance(error, Exception) or os.environ.get(VARIABLE, "0") not in ("", "0"):
        return
    if _is_within_boundary(sys._getframe(2)):
        return
    entries = list(entries_of(error))
    if not entries or not _is_explained(error, entries):
        return
    _set_traceback(error, [entry for entry in entries if not is_own_file(_file(entry))])
    context = error.__context__
    if context is not None and not any(_is_program(entry.tb_frame) for entry in entries_of(context)):
        error.__suppress_context__ = True  # what the library has caught; it stays in `__context__`


def note(error: BaseException, text: str) -> None:
    """Let `text` follow the message of `error` wherever that is printed with its traceback.

    It is one of the error's `__notes__`. Python 3.10 does not print these: there it goes behind the message as well if
    the library has made that, and nobody's else.
    """
    if HAS_NOTES:
        error.add_note(text)  # type: ignore[attr-defined]
        return
    error.__dict__.setdefault("__notes__", []).append(text)
    entries = list(entries_of(error))
    plain = type(error).__str__ in (BaseException.__str__, Exception.__str__) and len(error.args) == 1
    if plain and isinstance(error.args[0], str) and entries and is_own_file(_file(entries[-1])):
        error.args = (f"{error.args[0]}\n{text}",)


def entries_of(error: BaseException) -> Iterator[TracebackType]:
    """The entries of an error's traceback, the outermost first."""
    entry = error.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next


def line_of_user(error: BaseException) -> str:
    """``file:line`` of the program's innermost frame on the way to `error`, or of whoever is calling; "" if none."""
    found = ""
    inside = False  # of the library's own work: what it calls in turn is not the program's
    for entry in entries_of(error):
        file = _file(entry)
        if is_own_file(file):
            inside = True
        elif _is_program(entry.tb_frame) or (is_user_file(file) and not inside):
            found, inside = f"{file}:{entry.tb_lineno}", False
    return found or _line_of_caller(sys._getframe(1))


def _is_program(frame: FrameType) -> bool:
    return is_user_file(frame.f_code.co_filename) and not _is_below(frame)


def _is_below(frame: FrameType) -> bool:
    """True for code of a library that this package is built on."""
    return frame.f_globals.get("__name__", "").partition(".")[0] in ("numpy", "ml_dtypes", "cffi", "jinja2")


def _line_of_caller(frame: FrameType | None) -> str:
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _is_within_boundary(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code in _boundaries:
            return True
        frame = frame.f_back
    return False


def _is_explained(error: Exception, entries: list[TracebackType]) -> bool:
    """True if the program's own code has failed, or the library has refused something on purpose."""
    last = entries[-1]
    if last.tb_frame.f_code.co_name == "__getattr__" and len(entries) > 1 and is_own_file(_file(entries[-2])):
        return False  # the library itself has looked for what is not there
    if is_own_file(_file(last)):
        code = last.tb_frame.f_code.co_code
        deliberate = last.tb_lasti >= 0 and code[last.tb_lasti] in _RAISES
        return deliberate or (type(error) is TypeError and _ARGUMENTS.search(str(error)) is not None)
    nearest = next(entry for entry in reversed(entries) if not is_standard_file(_file(entry)) or entry is entries[0])
    return not is_own_file(_file(nearest)) and not _is_below(nearest.tb_frame)


def _set_traceback(error: Exception, kept: list[TracebackType]) -> None:
    rest = None
    for entry in reversed(kept):
        rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    error.__traceback__ = rest
    if _KEPT_APART and sys.exc_info()[1] is error:
        _set_caught_traceback(error, rest)


def _set_caught_traceback(error: Exception, traceback: TracebackType | None) -> None:
    """Python 3.10 raises again with the traceback that it keeps beside the error that it has caught: replace that.

    The function of its C interface takes over a reference to each of what it is given.
    """
    given = [ctypes.py_object(type(error)), ctypes.py_object(error)]
    if traceback is not None:
        given.append(ctypes.py_object(traceback))
    for each in given:
        ctypes.pythonapi.Py_IncRef(each)
    ctypes.pythonapi.PyErr_SetExcInfo(*given, *[None] * (3 - len(given)))


def _file(entry: TracebackType) -> str:
    return entry.tb_frame.f_code.co_filename
