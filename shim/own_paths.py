"""Modules for PyTorch's paths below the name of this package, where there is no file of that name."""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

from . import face
from .class_names import imported_by_torch
from .finder import Alias, is_shown
from .paths import PACKAGE, table


def spec_of(name: str) -> ModuleSpec | None:
    """How the module `name` comes about; None if PyTorch has no such path, or this package nothing for it.

    A module that stands under the name in its parent already (``tracegrad.special``) is given as it is, any other path
    has a module with the names that PyTorch has there.
    """
    path = f"torch{name[len(PACKAGE) :]}"
    if path not in table() or not is_shown(path):
        return None
    parent, _, last = name.rpartition(".")
    there = vars(sys.modules[parent]).get(last)
    if isinstance(there, ModuleType):
        return ModuleSpec(name, cast(Any, Alias(there)), origin=PACKAGE, is_package=hasattr(there, "__path__"))
    return ModuleSpec(name, cast(Any, Loader()), origin=PACKAGE, is_package=True)


def imported_with_torch(name: str) -> ModuleType | None:
    """The module `name` where ``import torch`` imports the one of PyTorch's path, so that nobody needs to."""
    path = f"torch{name[len(PACKAGE) :]}"
    return importlib.import_module(name) if path in imported_by_torch() and is_shown(path) else None


def named(module: str, name: str) -> Any:
    """What PyTorch has under `name` in its module of that path; AttributeError if it has nothing, or it is not here."""
    found = _names(module)
    if name not in found.places and name not in found.submodules:
        raise AttributeError(name)
    return found.look_up(name)


@lru_cache(maxsize=64)
def _names(module: str) -> face.Homes:
    return face.Homes(f"torch{module[len(PACKAGE) :]}", PACKAGE)


class Loader:
    """Makes the module of one path."""

    def __repr__(self) -> str:
        return f"<loader of {PACKAGE}'s paths>"

    def create_module(self, spec: ModuleSpec) -> face.Face:
        return face.make(spec.name)

    def exec_module(self, module: Any) -> None:
        face.fill(module)
