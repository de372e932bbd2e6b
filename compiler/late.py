"""Modules that are imported when they are first needed, which for many programs is never."""

from __future__ import annotations

import importlib
from typing import Any


class late:
    """The module ``package.name``: importing it is put off until something of it is asked for.

    It stands where an import would stand, at the top of a file; tests/test_architecture.py takes it for one.

    >>> json = late("json", "decoder")
    >>> json.JSONDecoder().decode("[1]")
    [1]
    """

    def __init__(self, package: str, name: str) -> None:
        self._path = f"{package}.{name}"

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._path), attribute)
