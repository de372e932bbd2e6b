"""Work in a copy of this process, beside it. What comes of it is files: the compile cache.

The copy (fork) ends in any case without returning to the program: it runs no exit handlers, finalises no objects,
writes nothing of the program's, and holds none of its files open. It ends with this process, if it has not before.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from .threads import usable_cpus

_PR_SET_PDEATHSIG = 1
_FIRST_OWN_FILE = 3  # behind the standard ones
_running: list[Forked] = []  # of this process


class Forked:
    """A copy of this process that does some work."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._has_ended = False
        self.has_failed = False

    def has_ended(self) -> bool:
        """True once the work is done, or has failed."""
        return self._look(os.WNOHANG)

    def wait(self) -> None:
        """Wait until the work is done, or has failed."""
        self._look(0)

    def end(self) -> None:
        """End it, and what it has started. Nobody waits for it."""
        if not self._has_ended:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)

    def _look(self, how: int) -> bool:
        if not self._has_ended:
            try:
                pid, status = os.waitpid(self.pid, how)
                self._has_ended, self.has_failed = pid == self.pid, bool(status)
            except ChildProcessError:  # the program has waited for all of its processes, or this is a copy of it
                self._has_ended = True
            if self._has_ended and self in _running:
                _running.remove(self)
        return self._has_ended


def can_be_forked() -> bool:
    """True if a copy of this process may work beside it: there is a processor for it, Linux ends it with this process,
    and the program hears nothing of it. Whether other threads hold something that the work needs is not asked here."""
    is_heard = signal.getsignal(signal.SIGCHLD) not in (signal.SIG_DFL, None)
    is_main = threading.current_thread() is threading.main_thread()
    return sys.platform.startswith("linux") and usable_cpus() > 1 and is_main and not is_heard


def forked(work: Callable[[], Any]) -> Forked | None:
    """Let a copy of this process do `work`; None where there can be no other process."""
    everything = signal.valid_signals()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, everything)  # an interrupt must not run the program twice
    parent = os.getpid()
    try:
        pid = _fork()
        if pid == 0:
            _be_the_copy(work, parent)
        _running.append(copy := Forked(pid))
        return copy
    except OSError:
        return None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _fork() -> int:
    """``os.fork()`` without the warning of threads: whoever calls has looked at them. `warnings.catch_warnings` would
    let each line of the program warn once more: it makes Python forget which ones have."""
    before = warnings.filters
    try:
        warnings.filters = [("ignore", None, DeprecationWarning, None, 0), *before]
        return os.fork()
    finally:
        warnings.filters = before


def _be_the_copy(work: Callable[[], Any], parent: int) -> NoReturn:
    status = 1
    try:
        gc.disable()  # garbage of the program is the program's to collect
        _running.clear()
        os.setsid()  # what a terminal sends to the program is not for the copy
        signal.signal(signal.SIGTERM, _stop)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        _leave_files()
        sys.settrace(None)
        sys.setprofile(None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
        if os.getppid() == parent:
            work()
            status = 0
    finally:
        os._exit(status)


def _stop(number: int, frame: Any) -> NoReturn:
    """Leave the work as an interrupt does: what it has started ends, what it has begun to write goes."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _leave_files() -> None:
    """Hold none of the program's files, pipes and sockets open, nor write to its terminal."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(_FIRST_OWN_FILE):
        os.dup2(nothing, standard)
    for name in os.listdir("/proc/self/fd"):
        if int(name) >= _FIRST_OWN_FILE:
            with suppress(OSError):
                os.close(int(name))


def _end_all() -> None:
    for each in list(_running):
        each.end()


atexit.register(_end_all)
os.register_at_fork(after_in_child=_running.clear)
