"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class lazy:
    """What `functools.cached_property` is from Python 3.12 on; before, it has a lock, which a fork may find held.

    Two threads may both compute; both find the same.
    """

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute = compute

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._compute(instance))
