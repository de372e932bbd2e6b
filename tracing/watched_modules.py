"""Modules that count it as a change when something else is put under one of their names, as tests and tools do."""

from __future__ import annotations

import contextlib
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
#: The modules whose dicts programs may write into: those of the tables in docs/pytorch.md.
_PUBLIC = (
    "", "nn", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn", "optim", "optim.lr_scheduler", "linalg", "fft",
    "special", "func", "distributions", "utils.data", "autograd", "autograd.functional",
)  # fmt: skip


class Replaced:
    """Module and name -> what stands there; the same object for the same things."""

    __slots__ = ("__weakref__", "members")

    def __init__(self, members: dict[tuple[str, str], Any]) -> None:
        self.members = members  # which keeps them, so that no other has their identity


class Replacements:
    """What stands under names of this package's modules in the place of functions and classes that were imported.

    Layers call them by these names, so that a step may depend on any of them, whatever code it runs itself. `public`
    are the modules that programs know, into whose dicts they may write past the modules' methods.
    """

    def __init__(self) -> None:
        self._imported: dict[tuple[str, str], Any] = {}  # what stood under names that have been set
        self._now: dict[tuple[str, str], Any] = {}
        self._known = weakref.WeakValueDictionary[frozenset[Any], Replaced]()
        self._latest = self.now()
        self._noted: dict[WatchedModule, dict[str, Any]] = {}  # what is in the dicts of `public`

    @property
    def public(self) -> list[WatchedModule]:
        """The modules into which `look` looks."""
        return list(self._noted)

    def begin(self, modules: Iterable[WatchedModule]) -> None:
        """From now on look into `modules`."""
        self._noted = {module: dict(vars(module)) for module in modules}

    def look(self) -> bool:
        """Count what was written into dicts of modules and not heard of, as by ``vars(F)["linear"] = f``; True if there
        was anything of the kind."""
        heard = self.now()
        for module, before in [*self._noted.items()]:
            own = dict(vars(module))
            for name in {**before, **own}:
                if own.get(name, _NOT_THERE) is not before.get(name, _NOT_THERE):
                    self._put((module.__name__, name), before.get(name), own.get(name, _NOT_THERE))
            self._noted[module] = own
        is_new = self.now() is not heard
        changes.count += is_new
        return is_new

    def now(self) -> Replaced:
        """What is replaced now. It is known as long as a guard, or nothing later, asks for it."""
        members = dict(self._now)
        key = frozenset((place, id(value)) for place, value in members.items())
        self._latest = self._known.setdefault(key, Replaced(members))
        return self._latest

    def set(self, module: WatchedModule, name: str, value: Any) -> None:
        """`value` is about to stand under `name`. What was not there at all is no replacement; what was taken out
        of the dict before, as by ``vars(F).pop("linear")``, was there."""
        before = self._noted.get(module, {}).get(name, vars(module).get(name))
        self._put((module.__name__, name), before, value)

    def _put(self, place: tuple[str, str], before: Any, value: Any) -> None:
        imported = self._imported.setdefault(place, before)
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
            vars(module).setdefault("__getattr__", types.MethodType(_unknown, module))
            module.__class__ = WatchedModule
    root = sys.modules[package]
    found = [functools.reduce(getattr, filter(None, path.split(".")), root) for path in _PUBLIC]
    replacements.begin(module for module in found if isinstance(module, WatchedModule))


def _unknown(module: types.ModuleType, name: str) -> Any:
    if name[:2] != "__":
        # What is here of PyTorch's own modules, which programs reach without importing them (torch.utils.hooks).
        paths = importlib.import_module(f"{__name__.partition('.')[0]}.shim.own_paths")
        submodule = paths.imported_with_torch(f"{module.__name__}.{name}")
        if submodule is not None:
            return submodule
        with contextlib.suppress(AttributeError):  # PyTorch's modules show what they import from others
            return paths.named(module.__name__, name)
    message = f"module {module.__name__!r} has no attribute {name!r}"
    if name[:1] == "_":  # asked for by Python and its tools
        raise AttributeError(message, name=name, obj=module)
    raise UnknownName(message, name, module)
