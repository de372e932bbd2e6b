"""``torch._jit_internal``: annotations of scripted functions, which are plain functions here."""

from __future__ import annotations

from typing import Any

__all__ = ["_overload", "_overload_method", "export", "ignore", "is_scripting", "unused"]


def is_scripting() -> bool:
    """False: functions are Python's."""
    return False


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A decorator that leaves a function as it is."""
    return drop if callable(drop) else lambda function: function


def unused(fn: Any) -> Any:
    """`fn` as it is."""
    return fn


export = _overload = _overload_method = unused
