"""Attributes that are computed when they are first asked for, and modules that are imported then."""

from __future__ import annotations

import importlib
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


class late:
    """The module `name`, of `package` if it begins with a dot: it is imported when something of it is asked for.

    It stands where an import would stand, at the top of a file; tests/test_architecture.py takes it for one.

    >>> decoder = late(".decoder", "json")
    >>> decoder.JSONDecoder().decode("[1]")
    [1]
    """

    def __init__(self, name: str, package: str | None = None) -> None:
        self._where = name, package

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(*self._where), attribute)
