"""No collections of garbage while the compiler works: each looks at every node there is, and frees nothing."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import Any, TypeVar

R = TypeVar("R")


class _Pause:
    """Whether a thread has switched the collector off, which was on."""

    is_on = False

    def end_in_child(self) -> None:
        """After fork(): the thread that would switch it on again is not there."""
        if self.is_on:
            _end()


_pause = _Pause()
os.register_at_fork(after_in_child=_pause.end_in_child)


def _end() -> None:
    gc.enable()
    _pause.is_on = False


def without_collections(function: Callable[..., R], *args: Any) -> R:
    """``function(*args)``, in which no code but the compiler's runs. A collector that is off stays off.

    It is switched on in two nested ``finally``, as in `ops.core.interpreted`.
    """
    if not gc.isenabled():
        return function(*args)
    try:
        try:
            _pause.is_on = True
            gc.disable()
            return function(*args)
        finally:
            _end()
    finally:
        _end()
