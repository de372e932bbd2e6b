"""Modules with PyTorch's paths and names: each shows what modules of this package have."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder
from types import ModuleType, SimpleNamespace
from typing import Any

from ..tracing.watched_modules import WatchedModule
from .absent import no_name
from .paths import HOMES, homes, library_names, table

#: Values that the home of a name may bind anew: they are looked up each time.
_PLAIN = (bool, int, str, type(None), list, dict)

_OWN_NAMES = f"{__package__}.names."


class Face(WatchedModule):
    """The module at one of PyTorch's paths. It has the names that PyTorch has there, as far as they exist here.

    What is set in it is set where it comes from, too: a replaced function is replaced for everybody.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Face) and name in self.__dict__["__homes__"].places:
            return  # of an import: ``torch.nn.utils.weight_norm`` is the function, as in PyTorch
        if not (name.startswith("__") or isinstance(value, Face)):
            home = self.__dict__["__homes__"].of(name)
            if home is not None:
                setattr(home, name, value)
                if name not in vars(self):
                    return
        super().__setattr__(name, value)

    def behind(self, names: Iterable[str]) -> list[tuple[ModuleType, str]]:
        found: Homes = self.__dict__["__homes__"]
        absent = [name for name in names if name not in vars(self) and name in {*found.places, *found.submodules}]
        for name in absent:
            found.bind(name)
        return [
            (home, name) for name in absent if name not in vars(self) for home in [found.of(name)] if home is not None
        ]

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *self.__dict__["__homes__"].names()})


class Homes:
    """Where the names of one path come from; `root` is the package below which the path was asked for."""

    def __init__(self, path: str, root: str = "torch") -> None:
        self.path = path
        self.root = root
        self.entry: dict[str, Any] = table().get(path, {})
        self.modules = [module for module in map(existing, homes(path)) if module is not None]
        self.places = {name: place for place, names in _places(self.entry) for name in names}
        for module in self.modules if path in HOMES else ():
            if getattr(module, "__name__", "").startswith(_OWN_NAMES):  # written for this path
                self.places.update(dict.fromkeys(module.__all__))
        self.submodules: dict[str, str] = self.entry.get("modules", {})

    def of(self, name: str) -> ModuleType | None:
        """The module of this package that has the name, if it is one that PyTorch has here."""
        if name in self.places:
            return next((module for module in self.modules if _has(module, name)), None)
        return None

    def names(self) -> list[str]:
        """PyTorch's names at this path that are here."""
        return [name for name in self.places if self.has(name)]

    def has(self, name: str) -> bool:
        """Whether one of PyTorch's names is here."""
        try:
            self.look_up(name)
        except (AttributeError, ImportError):
            return False
        return True

    def fill(self, face: ModuleType) -> None:
        """Put into `face` all that is there without importing anything."""
        for name in self.places:
            home = self.of(name)
            if home is not None:
                self._keep(face, name, getattr(home, name))

    def _keep(self, face: ModuleType | None, name: str, value: Any) -> None:
        if face is not None and not isinstance(value, (*_PLAIN, ModuleType)):
            vars(face)[name] = value

    def bind(self, name: str) -> None:
        """Let the face have the name itself, if it may."""
        with contextlib.suppress(AttributeError, ImportError):
            self.find(name)

    def find(self, name: str) -> Any:
        """The face's ``__getattr__``: what PyTorch has under the name; AttributeError if it is not here."""
        if name == "__all__" and "all" in self.entry:
            return self._offered()
        value = self.look_up(name)
        self._keep(self._face() if name in self.places else None, name, value)
        return value

    def _offered(self) -> list[str]:
        more = self.entry["all"].split() if isinstance(self.entry["all"], str) else []
        return [name for name in dict.fromkeys([*(n for n in self.places if n[:1] != "_"), *more]) if self.has(name)]

    def look_up(self, name: str) -> Any:
        """As `find`, and nothing is kept."""
        if name in self.submodules:
            return self._submodule(name, self.submodules[name])
        home = self.of(name)
        if home is not None:
            return getattr(home, name)
        place = self.places.get(name)
        if place is not None:
            return getattr(self._submodule(name, place), name)
        for library, names in library_names().get(self.path, {}).items():
            if name in names.split():
                return _of_the_library(library, name)
        raise no_name(self.path, name, self._face())

    def _submodule(self, name: str, path: str) -> Any:
        try:
            return importlib.import_module(self._asked(path))
        except ModuleNotFoundError as error:
            raise no_name(self.path, name, self._face()) from error

    def _face(self) -> ModuleType | None:
        return sys.modules.get(self._asked(self.path))

    def _asked(self, path: str) -> str:
        """One of PyTorch's paths below the root."""
        return self.root + path.removeprefix("torch")


def _of_the_library(module: str, name: str) -> Any:
    """A name of Python's library; AttributeError where this Python does not have it."""
    return getattr(importlib.import_module(module), name) if module else importlib.import_module(name)


def _places(entry: dict[str, Any]) -> list[tuple[str | None, list[str]]]:
    return [(key or None, names.split()) for key, names in entry.items() if key == "" or key.startswith("torch")]


def existing(name: str) -> ModuleType | None:
    """The module of this package of that name, or under that name in another one; None if there is none."""
    parent, _, last = name.rpartition(".")
    found, above = sys.modules.get(name), None
    if found is None and parent:
        above = existing(parent)
        found = None if above is None else vars(above).get(last)
    if isinstance(found, (ModuleType, SimpleNamespace)):
        return None if isinstance(found, Face) else found
    return importlib.import_module(name) if not parent or _has_file(name, above) else None


def _has_file(name: str, above: ModuleType | None) -> bool:
    """Whether a package has a module, without asking the finder that makes modules for PyTorch's paths."""
    return above is not None and hasattr(above, "__path__") and PathFinder.find_spec(name, above.__path__) is not None


def _has(module: ModuleType, name: str) -> bool:
    return name in vars(module) or (name in vars(type(module)) and name[:2] != "__")


def make(path: str) -> Face:
    """The module at `path`, to be filled by `fill`."""
    return Face(path)


def fill(face: Face) -> None:
    """Give a new module its names."""
    root, _, path = face.__name__.partition(".")
    found = Homes(f"torch.{path}".rstrip("."), root)
    own = vars(face)
    own["__homes__"] = found
    own["__getattr__"] = found.find
    own["__file__"] = __file__
    found.fill(face)
