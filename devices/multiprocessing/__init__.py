"""``tracegrad.multiprocessing``: Python's ``multiprocessing``, whose queues, pipes and processes share tensors' memory.

A tensor that is sent is moved to shared memory first (`Tensor.share_memory_`), and all processes see the same numbers.
"""

from __future__ import annotations

import multiprocessing
import sys
import types
from typing import Any

from ...tracing.settings import Setting
from ...tracing.unknown_names import UnknownName
from .reductions import init_reductions, send_by_descriptor
from .spawning import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    *multiprocessing.__all__,
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext",
    "get_all_sharing_strategies", "get_sharing_strategy", "init_reductions", "send_by_descriptor",
    "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip

globals().update({name: getattr(multiprocessing, name) for name in multiprocessing.__all__})

_strategy = Setting("the sharing strategy", "file_system" if sys.platform in ("darwin", "win32") else "file_descriptor")
_STRATEGIES = {"file_descriptor", "file_system"}


def set_sharing_strategy(new_strategy: str) -> None:
    """Keep the name of a strategy. AssertionError for another than "file_descriptor" and "file_system".

    Difference: memory is sent by file descriptors in both cases.

    >>> import tracegrad as tg
    >>> strategy = tg.multiprocessing.get_sharing_strategy()
    >>> tg.multiprocessing.set_sharing_strategy(strategy)
    """
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {_STRATEGIES}")
    _strategy.set(new_strategy)


def get_sharing_strategy() -> str:
    """What ``set_sharing_strategy`` was given: "file_descriptor" at first ("file_system" on macOS and Windows).

    >>> import tracegrad as tg
    >>> tg.multiprocessing.get_sharing_strategy() in tg.multiprocessing.get_all_sharing_strategies()
    True
    """
    return _strategy.get()


def get_all_sharing_strategies() -> set[str]:
    """The names of strategies, a set.

    >>> import tracegrad as tg
    >>> sorted(tg.multiprocessing.get_all_sharing_strategies())
    ['file_descriptor', 'file_system']
    """
    return set(_STRATEGIES)


def __getattr__(name: str) -> Any:
    """Python's other names, e.g. the submodule ``multiprocessing.pool``."""
    if name[:2] == "__":
        raise AttributeError(name)
    found: types.ModuleType | Any = getattr(multiprocessing, name, None)
    if found is None:
        message = f"module 'tracegrad.multiprocessing' has no attribute {name!r}"
        raise UnknownName(message, name, sys.modules[__name__])
    return found


init_reductions()
