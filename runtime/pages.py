"""Pages of memory: large ones for what programs work in, and those that were freed given back to the system."""

from __future__ import annotations

import ctypes
import mmap
from contextlib import suppress

import numpy as np

from .program import address_of, allocate

#: A large page of x86-64 and of most ARM systems. Sweeping megabytes of small ones misses the processor's page table.
LARGE_PAGE = 2 << 20

_ADVICE = getattr(mmap, "MADV_HUGEPAGE", None)  # Linux
_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc
_set_option = getattr(ctypes.CDLL(None), "mallopt", None)
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's numbers of options
#: Bytes at the top of the heap that stay with a process, and the largest block that is taken from there; the latter
#: as early versions of glibc allow it, too.
KEPT, LARGEST, LARGEST_EARLY = 1 << 30, 256 << 20, 32 << 20


def working_memory(nbytes: int) -> np.ndarray:
    """Uninitialised uint8 memory of `nbytes`, aligned for vectors; from 2 MiB on at, and as far as it goes in, large
    pages, where the system has them. It goes back to the system with the last array that shows it.

    >>> working_memory(100).nbytes
    100
    """
    if _ADVICE is None or nbytes < LARGE_PAGE:
        return allocate(nbytes)
    try:
        pages = mmap.mmap(-1, nbytes + LARGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        return allocate(nbytes)  # which says how it fails
    memory = np.frombuffer(pages, np.uint8)
    start = -address_of(memory) % LARGE_PAGE
    with suppress(OSError):  # a system without large pages
        pages.madvise(_ADVICE, start, nbytes // LARGE_PAGE * LARGE_PAGE)
    return memory[start : start + nbytes]


def give_back() -> None:
    """Return freed memory to the system that the C library's allocator keeps for later, as far as it can."""
    if _trim is not None:
        _trim(0)


def keep_freed() -> None:
    """Let the C library's allocator keep the memory of arrays that were freed for those that come next.

    Otherwise it maps each array of more than some megabytes anew, and the system clears all of its pages at each step:
    a quarter of the time of a convolution in eager mode. Memory that is no longer needed goes back to the system with
    the process, or by `give_back`.
    """
    if _set_option is not None and (
        _set_option(_MMAP_THRESHOLD, LARGEST) or _set_option(_MMAP_THRESHOLD, LARGEST_EARLY)
    ):
        _set_option(_TRIM_THRESHOLD, KEPT)
