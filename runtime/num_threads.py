"""PyTorch's functions about threads."""

from __future__ import annotations

import numpy as np

from . import threads
from .errors import three_parts
from .program import ffi
from .provide import provide_pool

_LARGEST = 2**31  # from here on a C int overflows
_interop: list[int] = []  # empty until it is set


def set_num_threads(int: int) -> None:
    """Let each compiled step compute with up to `int` threads, the calling one included.

    The default is 1, or what TRACEGRAD_NUM_THREADS or OMP_NUM_THREADS says; PyTorch's default is the number of cores.
    It holds from the next kernel on, also for functions that are compiled already. Results do not depend on it, not in
    a single bit. Kernels with little work stay on one thread, and no more threads compute at a time than the process
    has CPUs. Eager mode computes with numpy, which has threads of its own.

    Raises RuntimeError for anything but a positive integer, ValueError for one that is no C int.

    >>> set_num_threads(2)
    >>> get_num_threads()
    2
    >>> set_num_threads(1)
    """
    threads.set_number(_checked("set_num_threads", int), ffi)
    if threads.is_wanted():
        provide_pool()


def get_num_threads() -> int:
    """The number of threads that a compiled step may compute with, the calling one included.

    >>> set_num_threads(1)
    >>> get_num_threads()
    1
    """
    return threads.number()


def set_num_interop_threads(int: int) -> None:
    """Note a number of threads for operations beside each other. Kernels of a step run one after the other, so it
    changes nothing but what `get_num_interop_threads` says.

    Raises RuntimeError when it is called twice, or with anything but a positive integer, like PyTorch.

    >>> import tracegrad as tg
    >>> tg.set_num_interop_threads(0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: set_num_interop_threads expects a positive integer...
    """
    wanted = _checked("set_num_interop_threads", int)
    if _interop:
        what = (
            "Error: cannot set number of interop threads after parallel work has started "
            "or set_num_interop_threads called"
        )
        where = "in tracegrad.set_num_interop_threads: it has been called before"
        raise RuntimeError(three_parts(what, where, "call it once, at the start of the program"))
    _interop.append(wanted)


def get_num_interop_threads() -> int:
    """The number that `set_num_interop_threads` was called with, else 1; PyTorch's default is the number of cores.

    >>> import tracegrad as tg
    >>> tg.get_num_interop_threads() >= 1
    True
    """
    return _interop[0] if _interop else 1


def _checked(name: str, value: object) -> int:
    where, remedy = f"in tracegrad.{name}: got {value!r}", "pass the number of threads, like 2; 1 for the caller alone"
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        what = f"{name} expects an int, but got {type(value).__name__}"
        raise RuntimeError(three_parts(what, where, remedy))
    if abs(value) >= _LARGEST:
        raise ValueError(three_parts("Overflow when unpacking long", where, remedy))
    if value <= 0:
        raise RuntimeError(three_parts(f"{name} expects a positive integer", where, remedy))
    return int(value)
