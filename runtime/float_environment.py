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
# Which bits say how the thread computes; as (offset, number of bytes, mask) of words. The rest is what has happened:
# the latest x87 instruction, and the flags that any computation raises, a signal handler's between two calls as well.
_CONTROLS = {
    ("linux", "x86_64"): ((0, 2, 0xFFFF), (28, 4, 0xFFFFFFC0)),  # control word of x87; MXCSR but for its flags
    ("linux", "aarch64"): ((0, 4, 0xFFFFFFFF),),  # FPCR, behind which FPSR has the flags
}.get((sys.platform, platform.machine()), ((0, _NBYTES, -1),))


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
    functions.feholdexcept(before)  # clears the flags, which differ where they are not masked
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


def _controls(ffi: Any, environment: Any) -> list[int]:
    content = bytes(ffi.buffer(environment))
    return [int.from_bytes(content[at : at + size], "little") & mask for at, size, mask in _CONTROLS]


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
