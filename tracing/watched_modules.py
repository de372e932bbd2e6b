"""Modules that count it as a change when something else is put under one of their names, as tests and tools do."""

from __future__ import annotations

import functools
import importlib
import sys
import types
import weakref
from collections.abc import Iterable
from typing import Any

from .unknown_names import UnknownName
from .watch import changes

_NOT_THERE = object()


class Replaced:
    """Module and name -> what stands there; the same object for the same things."""

    __slots__ = ("__weakref__", "members")

    def __init__(self, members: dict[tuple[str, str], Any]) -> None:
        self.members = members  # which keeps them, so that no other has their identity


class Replacements:
    """What stands under names of this package's modules in the place of functions and classes that were imported.

    Layers call them by these names, so that a step may depend on any of them, whatever code it runs itself.
    """

    def __init__(self) -> None:
        self._imported: dict[tuple[str, str], Any] = {}  # what stood under names that have been set
        self._now: dict[tuple[str, str], Any] = {}
        self._known = weakref.WeakValueDictionary[frozenset[Any], Replaced]()
        self._latest = self.now()

    def now(self) -> Replaced:
        """What is replaced now. It is known as long as a guard, or nothing later, asks for it."""
        members = dict(self._now)
        key = frozenset((place, id(value)) for place, value in members.items())
        self._latest = self._known.setdefault(key, Replaced(members))
        return self._latest

    def set(self, module: WatchedModule, name: str, value: Any) -> None:
        """`value` is about to stand under `name`. What was not there at all is no replacement."""
        place = module.__name__, name
        imported = self._imported.setdefault(place, vars(module).get(name))
        if value is imported or not callable(imported):
            self._now.pop(place, None)
        else:
            self._now[place] = value


replacements = Replacements()


class WatchedModule(types.ModuleType):
    """A module of this package: ``changes`` counts what is set or deleted in it, `replacements` know it."""

    def __setattr__(self, name: str, value: Any) -> None:
        replacements.set(self, name, value)
        changes.count += 1
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        replacements.set(self, name, _NOT_THERE)
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
