"""Calls without garbage collection."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any


def uncollected(function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``, within which no garbage is collected; put back twice, as in `ops.core.interpreted`."""
    collects = gc.isenabled()
    try:
        try:
            gc.disable()
            return function(*args)
        finally:
            if collects:
                gc.enable()
    finally:
        if collects:
            gc.enable()
