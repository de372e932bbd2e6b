"""Which of Python's functions speak to the world outside of the program, which a replay would leave out.

A function that calls one of them is re-recorded: files, the environment, clocks, the operating system.
"""

from __future__ import annotations

import builtins
import datetime
import importlib
import io
import logging
import os
import random
import string
import sys
import types
from typing import Any

from ...runtime import num_threads
from ..common.classes import is_a

_FUNCTIONS: dict[Any, str] = {
    builtins.print: "print()",
    builtins.input: "input()",
    builtins.open: "open()",
    builtins.__import__: "__import__()",
    builtins.breakpoint: "breakpoint()",
    builtins.globals: "globals()",
}
_MODULES = {
    "time": "a clock",
    "posix": "the operating system",
    "nt": "the operating system",
    "_socket": "the network",
    "_posixsubprocess": "another process",
    "_winapi": "another process",
    "select": "the operating system",
    "_io": "a file",
}
_PURE = frozenset({"fspath", "fsencode", "fsdecode", "WIFEXITED", "text_encoding"})
_CLOCKS = ("now", "utcnow", "today")
_FILES = io.IOBase.__mro__[1]  # what is open; texts in memory among them
_IN_MEMORY = (io.StringIO, io.BytesIO)
# Functions that are written in Python.
_CODES: dict[types.CodeType, str] = {
    logging.Logger._log.__code__: "logging",
    importlib.import_module.__code__: "importlib.import_module()",
    importlib.reload.__code__: "importlib.reload()",
    **{
        getattr(type(os.environ), name).__code__: "the environment"
        for name in ("__getitem__", "__setitem__", "__delitem__", "__iter__", "__len__")
    },
    **{
        getattr(num_threads, f"{verb}_num_{kind}").__code__: "the number of threads"
        for verb in ("get", "set")
        for kind in ("threads", "interop_threads")
    },
}
_PARSE = string.Formatter().parse
_OWN_RANDOM = random.Random.__mro__[1]  # what draws the numbers


def spoken_to(called: Any) -> str:
    """What a function written in C speaks to; "" if it only computes."""
    if not is_a(called, types.BuiltinFunctionType):
        return ""
    owner = called.__self__
    if owner is None or is_a(owner, types.ModuleType):
        of_module = _MODULES.get(called.__module__ or "", "") if called.__name__ not in _PURE else ""
        return _FUNCTIONS.get(called, of_module)
    if is_a(owner, type):
        return "a clock" if called.__name__ in _CLOCKS and issubclass(owner, datetime.date) else ""
    if is_a(owner, str) and called.__name__ in ("format", "format_map") and _reads_attributes(owner):
        return "str.format() of attributes, which are named in a text"
    if is_a(owner, _OWN_RANDOM):
        return "a generator of Python's random numbers"
    if owner is sys.stdout or owner is sys.stderr or is_a(owner, _FILES) and not is_a(owner, _IN_MEMORY):
        return "a file"
    return _MODULES.get(type(owner).__module__, "")


def _reads_attributes(template: str) -> bool:
    """True for ``"{0.name}"`` and ``"{0[name]}"``."""
    try:
        return any(field and not field.isidentifier() and not field.isdigit() for _, field, *_ in _PARSE(template))
    except ValueError:  # it is no template, and raises
        return True


def title(called: types.BuiltinFunctionType) -> str:
    """What the program calls a function written in C."""
    owner = called.__self__
    if owner is None or is_a(owner, types.ModuleType):
        module = str(called.__module__ or "").removeprefix("_").removeprefix("builtins")
        return f"{module}.{called.__name__}()".removeprefix(".")
    return f"{called.__qualname__}()"


def spoken_to_by(code: types.CodeType) -> str:
    """The same for Python's own functions that are written in Python."""
    return _CODES.get(code, "")
