"""Processes that ``multiprocessing`` and joblib start are parts of the same program: torch is tracegrad there, too."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any

_KEY = "torch is tracegrad"


class _Installing:
    """Calls a function where it is unpickled."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function

    def __reduce__(self) -> Any:
        return self._function, ()


def _config() -> Any:
    # What a process hands on to those that it starts, which unpickle it before their arguments.
    return multiprocessing.current_process()._config  # type: ignore[attr-defined]


def follow(install: Callable[[], Any]) -> None:
    """Let processes that are started from now on call `install` before they unpickle anything of the program's."""
    _config()[_KEY] = _Installing(install)


def follow_no_more() -> None:
    """Undo it, for processes that start later."""
    _config().pop(_KEY, None)
