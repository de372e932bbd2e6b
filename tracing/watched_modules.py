"""Modules that count it as a change when something else is put under one of their names, as tests and tools do."""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Iterable
from typing import Any

from .unknown_names import UnknownName
from .watch import changes


class WatchedModule(types.ModuleType):
    """A module of this package: ``changes`` counts what is set or deleted in it."""

    def __setattr__(self, name: str, value: Any) -> None:
        changes.count += 1
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        changes.count += 1
        super().__delattr__(name)

    def __reduce__(self) -> Any:
        """By its name, where a pickler asks: what is sent to other processes may name modules."""
        return importlib.import_module, (self.__name__,)

    def behind(self, names: Iterable[str]) -> list[tuple[types.ModuleType, str]]:
        """Where those of `names` come from that this module answers to without having them itself."""
        return []


def watch_modules(package: str) -> None:
    """Let the modules of `package` that have been imported count their changes, and answer to unknown names."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == package and type(module) is types.ModuleType:
            # In the module's dict: a class with this method would make each look-up of a name slower.
            vars(module).setdefault("__getattr__", functools.partial(_unknown, module))
            module.__class__ = WatchedModule


def _unknown(module: types.ModuleType, name: str) -> Any:
    message = f"module {module.__name__!r} has no attribute {name!r}"
    if name[:1] == "_":  # asked for by Python and its tools
        raise AttributeError(message, name=name, obj=module)
    raise UnknownName(message, name, module)
