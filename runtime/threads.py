"""How many threads a compiled kernel may use: one record a process, which programs and the pool read.

The record is two words that C reads at each kernel: a number of threads, and the address of the function that shares
work among them (`pool.c`; 0 until somebody wants a second thread). A program whose kernels can share work has a
variable with the record's address, stored when it is loaded: one library serves any number of threads.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

_THREADS, _RUN = 0, 1  # words of the record
_VARIABLES = ("TRACEGRAD_NUM_THREADS", "OMP_NUM_THREADS")


class _State:
    """What this process has said of its threads."""

    def __init__(self) -> None:
        self.number = _number_wanted()
        self.record: Any = None  # memory for the life of the process: threads may be in C when Python has ended
        self.pool: Any = None
        self.is_shared = False  # whether a loaded program can share work


def _number_wanted() -> int:
    """What the environment asks for; 1 if it does not, or in words that are no number."""
    for name in _VARIABLES:
        # OpenMP allows for a list: a number for each level of nesting.
        found = re.match(r"\s*(\d{1,9})\s*(,|$)", os.environ.get(name, ""))
        if found and int(found[1]) > 0:
            return int(found[1])
    return 1


_state = _State()


def usable_cpus() -> int:
    """The CPUs that this process may use."""
    return os.cpu_count() or 1 if sys.platform == "darwin" else len(os.sched_getaffinity(0))


def number() -> int:
    """The number of threads that compiled kernels may use."""
    return _state.number


def set_number(threads: int, ffi: Any) -> None:
    """Let kernels use so many threads from now on, those that run already from their next one."""
    _state.number = threads
    _tell(ffi)


def is_wanted() -> bool:
    """True if a loaded program can share work, more than one thread may compute, and there is no pool yet."""
    return _state.is_shared and _state.number > 1 and not _state.record[_RUN]


def set_pool(pool: Any, ffi: Any) -> None:
    """Let kernels use the functions of a loaded pool. AttributeError or ffi.error if it is none."""
    _record(ffi)[_RUN] = int(ffi.cast("uintptr_t", ffi.addressof(pool, "tracegrad_pool_run")))
    _state.pool = pool
    _tell(ffi)


def counts(ffi: Any) -> tuple[int, int, int]:
    """Workers of this process, kernels that were shared so far, and pieces of them that workers have computed."""
    found = ffi.new("long[3]")
    if _state.pool is not None:
        _state.pool.tracegrad_pool_counts(found)
    return tuple(found)


def attach(library: Any, ffi: Any) -> None:
    """Give a loaded program the record, if its kernels can share work."""
    try:
        library.tracegrad_threads = ffi.cast("void *", _record(ffi))
    except (AttributeError, ffi.error):  # it has no such variable
        return
    _state.is_shared = True


def _record(ffi: Any) -> Any:
    if _state.record is None:
        _state.record = ffi.cast("long *", ffi.dlopen(None).calloc(2, ffi.sizeof("long")))
        _tell(ffi)
    return _state.record


def _tell(ffi: Any) -> None:
    """Threads without a CPU would only be waited for. Without a pool there is one thread."""
    if _state.record is not None:
        _state.record[_THREADS] = min(_state.number, usable_cpus()) if _state.record[_RUN] else 1
