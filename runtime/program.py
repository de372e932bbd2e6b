"""Loading a shared library and calling its step: cffi in ABI mode, out of line, one pointer per call."""

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy import ndarray  # by its own name: a look-up less in `address_of`

from . import threads
from .errors import LoadFailed, ToolchainMissing, printable, three_parts
from .float_environment import FloatEnvironmentChanged, unchanged

try:
    from ._abi import ffi
except ModuleNotFoundError:  # eager mode needs numpy only, and imports this module too
    ffi = None

# In CPython `id` is the object's address, and `char *data` right behind the object header is part of numpy's binary
# interface (every extension module reads it there by macro), so it cannot move. Seen as a table of words that begins
# one header above address zero, memory has that pointer at `id / 8`, 8 bytes being a word: 0.2 µs, where
# `ffi.from_buffer` with a cast takes 0.5 and knows only contiguous arrays, and `array.ctypes.data` takes 1.5.
# In loops: ``DATA_POINTERS[id(array) >> 3]`` of what is known to be a numpy array.
DATA_POINTERS: Any = None if ffi is None else ffi.cast("uintptr_t *", object.__basicsize__)


# By file name, which holds a hash of the content: a library that is loaded does not run its start-up code again.
_refused: dict[str, str] = {}


class Program:
    """A loaded library. `call(slots.pointer)` runs one step without the GIL; it returns 0 or a positive error code.

    The library stays loaded as long as there is `call`, which may outlive the Program; a call that another thread is in
    holds it, too.
    """

    __slots__ = ("call", "path")

    def __init__(self, path: Path, call: Callable[[Any], int]) -> None:
        self.path = path
        self.call = call  # cffi's own function object: nothing stands between the caller and C

    def __repr__(self) -> str:
        return f"Program({str(self.path)!r})"


def load(path: str | os.PathLike[str], stands_at: str | None = None) -> Program:
    """Load the library at `path`, which exports `int tracegrad_step(void *const *slots)`.

    `stands_at` is another path to the same file, which nobody can put something else in the place of. Raises LoadFailed
    when it cannot be loaded, or when loading it changes how this process computes (which is taken back);
    ToolchainMissing when cffi is not installed. A damaged library kills the process: pass what `build` returned.
    """
    path = Path(path).absolute()
    library = _library(path, stands_at)
    threads.attach(library, ffi)
    try:
        # With the last reference to the function its library goes: five mappings and 30 kB for each.
        return Program(path, ffi.gc(library.tracegrad_step, functools.partial(_close, ffi.dlclose, library)))
    except ffi.error as error:
        remedy = "define `int tracegrad_step(void *const *slots)` with default visibility"
        raise LoadFailed(three_parts("the library has no function tracegrad_step", printable(path), remedy)) from error


def load_pool(path: str | os.PathLike[str], stands_at: str | None = None) -> Any:
    """Load the worker pool, built from `pool.c`, and let programs use it. Raises what `load` does."""
    path = Path(path).absolute()
    pool = _library(path, stands_at, os.RTLD_NODELETE)  # its threads run until the process ends
    try:
        threads.set_pool(pool, ffi)
    except (AttributeError, ffi.error) as error:
        raise LoadFailed(three_parts("the library is no worker pool", printable(path), "clear the cache")) from error
    return pool


def _library(path: Path, stands_at: str | None, mode: int = 0) -> Any:
    require_cffi()
    if path.name in _refused:
        raise LoadFailed(_refused[path.name])
    try:
        return unchanged(ffi, path, lambda: _opened(path, stands_at or os.fspath(path), mode))
    except FloatEnvironmentChanged as error:
        _refused[path.name] = str(error)
        raise


def _opened(path: Path, stands_at: str, mode: int) -> Any:
    try:
        return ffi.dlopen(stands_at, os.RTLD_NOW | os.RTLD_LOCAL | mode)
    except (OSError, UnicodeError) as error:  # UnicodeError: bytes that are not UTF-8, on a system without /proc
        words = str(error).rpartition(": ")[2]  # behind the path, twice
        remedy = "set TRACEGRAD_CACHE_DIR to a folder that programs may run from (not mounted with noexec)"
        what = f"the compiled program cannot be loaded: {words}"
        raise LoadFailed(three_parts(what, printable(path), remedy)) from error


def _close(dlclose: Callable[[Any], None], library: Any, function: Any) -> None:
    """Without globals, which are gone where a traceback has kept the function until Python ends."""
    dlclose(library)


class SlotTable:
    """The table of addresses that a step is called with. It keeps no array alive; whoever fills it does. `words` are
    the addresses as integers, to be read and written.

    >>> slots = SlotTable(2)
    >>> slots.set_address(0, 0)
    >>> slots.set_array(1, np.zeros(3))
    """

    __slots__ = ("pointer", "words")

    def __init__(self, length: int) -> None:
        require_cffi()
        self.pointer = ffi.new("void *[]", length)
        # Writing an integer through this view costs a fifth of making a `void *` for it. The view owns the table too.
        self.words = memoryview(ffi.buffer(self.pointer)).cast("B").cast("L")  # an address, on every POSIX system

    def __len__(self) -> int:
        return len(self.words)

    def set_address(self, index: int, address: int) -> None:
        """Put `address` into a slot; IndexError beyond the table."""
        self.words[index] = address

    def set_array(self, index: int, array: ndarray) -> None:
        """Put the address of the first element of `array` into a slot; IndexError beyond the table."""
        self.words[index] = address_of(array)


def address_of(array: ndarray) -> int:
    """The address of the first element of any array: strided, read-only, 0-d, empty. TypeError for other objects."""
    if not isinstance(array, ndarray):
        raise TypeError(_not_an_array(array))
    return DATA_POINTERS[id(array) >> 3]


def address_of_entry(pointer: Any) -> int:
    """The address that a function of a library, or the table of a step, has in C; TypeError for what is not C's."""
    return int(ffi.cast("uintptr_t", pointer))


def is_entry(call: Any) -> bool:
    """True for a function of a library itself."""
    return ffi is not None and isinstance(call, ffi.CData)


def allocate(nbytes: int, alignment: int = 64) -> ndarray:
    """An uninitialised uint8 array of `nbytes`; its first byte is at a multiple of `alignment`, a power of two."""
    if nbytes < 0 or alignment < 1 or alignment & (alignment - 1):
        what = f"cannot allocate {nbytes} bytes aligned to {alignment}"
        raise ValueError(three_parts(what, "in allocate", "use a size of at least 0 and a power of two"))
    memory = np.empty(nbytes + alignment - 1, np.uint8)
    start = -memory.ctypes.data % alignment
    return memory[start : start + nbytes]


def require_cffi() -> None:
    """ToolchainMissing if cffi is not installed."""
    if ffi is None:
        remedy = "pip install cffi; without it everything runs eagerly"
        raise ToolchainMissing(three_parts("cffi is not installed", "needed to call compiled programs", remedy))


def _not_an_array(value: object) -> str:
    what = f"expected a numpy array, got {type(value).__name__}"
    return three_parts(what, "in the arguments of a compiled program", "pass numpy.asarray(value)")
