"""Listening to what is called, as `sys.setprofile` does, with what is known to say nothing left out in C."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import LoadFailed, printable, three_parts
from .float_environment import unchanged
from .program import ffi

SOURCE = Path(__file__).with_name("listener.c")
FLAGS = ("-std=gnu17", "-O2", "-fPIC", "-fvisibility=hidden")
_PYTHONS = ("PyFrame_GetCode", "PyObject_CallFunction", "Py_DecRef", "PyEval_SetProfile")  # as in the C, in its order


class Listener:
    """``begin(note)`` is ``sys.setprofile(note)`` without the events of code whose identity `add` was given: of the
    others `note` hears calls, returns and calls of C. Code that is added must not be gone before the process is."""

    def __init__(self, library: Any) -> None:
        self.add: Callable[[int], int] = library.tracegrad_listener_add
        self.begin: Callable[[Any], None] = library.tracegrad_listener_begin
        library.tracegrad_listener_add.argtypes = [ctypes.c_size_t]
        library.tracegrad_listener_begin.argtypes = [ctypes.py_object]
        library.tracegrad_listener_begin.restype = None


def is_possible() -> bool:
    """Whether this Python has what the C asks for, and the lock that it relies on."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return False
    return ffi is not None and all(hasattr(ctypes.pythonapi, name) for name in _PYTHONS)


def load_listener(path: str | os.PathLike[str], stands_at: str | None = None) -> Listener:
    """The library at `path`, built from `listener.c`; `stands_at` as for `program.load`. LoadFailed, if there is no
    such library, or loading it changes how the process computes."""
    path = Path(path).absolute()
    try:
        library = unchanged(ffi, path, lambda: ctypes.PyDLL(stands_at or os.fspath(path)))
        own = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in _PYTHONS]
        library.tracegrad_listener_python((ctypes.c_void_p * len(own))(*own))
        return Listener(library)
    except (AttributeError, OSError, UnicodeError) as error:
        raise LoadFailed(three_parts(f"no listener: {error}", printable(path), "clear the cache")) from error
