"""Modules that count it as a change when something else is put under one of their names, as tests and tools do."""

from __future__ import annotations

import sys
import types
from typing import Any

from .watch import changes


class WatchedModule(types.ModuleType):
    """A module of this package: ``changes`` counts what is set or deleted in it."""

    def __setattr__(self, name: str, value: Any) -> None:
        changes.count += 1
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        changes.count += 1
        super().__delattr__(name)


def watch_modules(package: str) -> None:
    """Let the modules of `package` that have been imported count their changes."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == package and type(module) is types.ModuleType:
            module.__class__ = WatchedModule
