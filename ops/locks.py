"""The locks of the package: all of them reentrant, and known here, so that they survive interrupts and fork().

An interrupt may come between the last instruction under a lock and its release; `release_all` is for the outermost call
that ends by an exception. A child process has copies of the locks as they were, and none of the threads that would
release them: there they begin anew.
"""

from __future__ import annotations

import functools
import os
import threading
import time
import weakref
from operator import methodcaller
from typing import Any

PATIENCE = 5.0  # seconds that fork() waits for steps that other threads are in, so that the child has whole ones

_known: dict[int, weakref.ref[Any]] = {}  # a dict, since `list` of it is one instruction
_steps: dict[int, weakref.ref[Any]] = {}  # those around calls of C
_foreign: list[Any] = []  # plain ones of libraries
_held: list[Any] = []  # while a fork is under way


def new_lock(*, around_steps: bool = False) -> Any:
    """A reentrant lock. With `around_steps` memory that the user sees is written under it: a fork waits for it."""
    lock = threading.RLock()
    for registry in (_known, _steps) if around_steps else (_known,):
        registry[id(lock)] = weakref.ref(lock, functools.partial(_forget, registry, id(lock)))
    return lock


def _forget(registry: dict[int, weakref.ref[Any]], key: int, _: weakref.ref[Any]) -> None:
    registry.pop(key, None)


def adopt(lock: Any) -> None:
    """Let a library's lock, which is never held for long, survive fork() as well."""
    _foreign.append(lock)


def all_locks() -> list[Any]:
    """Every lock of the package that is alive."""
    return _alive(_known)


def foreign_locks() -> list[Any]:
    """The locks that were adopted."""
    return list(_foreign)


def release_all() -> None:
    """Release what this thread holds."""
    for lock in all_locks():
        while lock._is_owned():
            lock.release()


def _alive(registry: dict[int, weakref.ref[Any]]) -> list[Any]:
    return [lock for lock in (ref() for ref in list(registry.values())) if lock is not None]


def _before_fork() -> None:
    until = time.monotonic() + PATIENCE  # two threads that wait for each other's locks wait no longer
    for lock in [*_alive(_steps), *_foreign]:
        acquire = methodcaller("acquire", timeout=max(0.0, until - time.monotonic()))
        _held.extend(filter(acquire, (lock,)))  # one call of C: no interrupt comes before it is noted


def _after_fork_in_parent() -> None:
    while _held:
        _held.pop().release()


def _after_fork_in_child() -> None:
    _after_fork_in_parent()
    for lock in all_locks():
        if not lock._is_owned():  # by the thread that has forked, which goes on
            lock._at_fork_reinit()
    for lock in _foreign:
        lock._at_fork_reinit()


os.register_at_fork(before=_before_fork)
for _ in range(2):  # Python drops an interrupt that comes in one of these, and with it what was left to do
    os.register_at_fork(after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
