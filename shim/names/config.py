"""``torch.__config__``: how this library was built."""

from __future__ import annotations

from ...runtime.num_threads import get_num_threads

__all__ = ["parallel_info", "show"]


def show() -> str:
    """What computes: numpy, and C that the system's compiler makes."""
    return "tracegrad: eager mode on numpy, compiled steps in C for this processor"


def parallel_info() -> str:
    """How many threads compiled programs use."""
    return f"tracegrad parallel settings:\n\ttorch.get_num_threads() : {get_num_threads()}\n"
