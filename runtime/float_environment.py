"""How this thread computes: rounding mode, traps, and whether small numbers are flushed to zero.

A library that was linked with `-ffast-math` switches flushing on when it is loaded, for numpy and everything else.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import LoadFailed, printable, three_parts

_NBYTES = 256  # more than the environment has on any processor
# On x86 the rest is about the latest x87 instruction: the control words of x87 and SSE say how it computes.
_CONTROLS = ((0, 2), (28, 32)) if platform.machine() == "x86_64" and sys.platform == "linux" else ((0, _NBYTES),)


class FloatEnvironmentChanged(LoadFailed):
    """Loading a library has changed how the thread computes, which was taken back."""


def unchanged(ffi: Any, path: Path, load: Callable[[], Any]) -> Any:
    """``load()``, the library at `path`; if that has changed the environment, FloatEnvironmentChanged, and it is put
    back.

    It is an attribute of the thread: a context manager would put it back when its generator is finalised, which after
    an interrupt may be at any time.
    """
    functions = _functions(ffi)
    if functions is None:
        return load()
    before, now = ffi.new("char[]", _NBYTES), ffi.new("char[]", _NBYTES)
    functions.feholdexcept(before)  # also clears the flags that any computation raises, which would differ
    functions.fegetenv(now)
    expected = _controls(ffi, now)
    try:
        library = load()
        functions.feholdexcept(now)
        functions.fegetenv(now)
        found = _controls(ffi, now)
    finally:
        functions.fesetenv(before)
    if found != expected:
        what = "loading the compiled program changes how the process computes (small numbers become zero, or the like)"
        remedy = "take -ffast-math and its like out of the compiler's wrapper or configuration, or set another CC"
        raise FloatEnvironmentChanged(three_parts(what, printable(path), remedy))
    return library


def _controls(ffi: Any, environment: Any) -> list[bytes]:
    content = bytes(ffi.buffer(environment))
    return [content[start:end] for start, end in _CONTROLS]


def _functions(ffi: Any) -> Any:
    """The C library's functions; None on a system that has them elsewhere."""
    for name in (None, "libm.so.6"):
        try:
            library = ffi.dlopen(name)
            if library.fegetenv and library.fesetenv and library.feholdexcept:
                return library
        except (OSError, ffi.error):
            continue
    return None
