"""The finder that owns the name ``torch`` and every path below it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from types import FrameType, ModuleType
from typing import Any, cast

from . import face
from .absent import no_import, no_module
from .class_names import imported_by_torch, name_classes
from .libtorch import refuse_if_installed
from .metadata import distributions
from .paths import PACKAGE, homes, table


class Finder:
    """First of ``sys.meta_path``: PyTorch's paths are modules made here, whatever else is installed."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        root = name.partition(".")[0]
        if root == "torch":
            return self._of_torch(name)
        if root == "torchvision":
            return self._of_torchvision(name)
        if name == "functorch":
            return self._of_functorch()
        refuse_if_installed(name, self)
        return None

    def find_distributions(self, context: DistributionFinder.Context | None = None) -> Iterator[Distribution]:
        """What ``importlib.metadata`` asks each finder."""
        return distributions(DistributionFinder.Context() if context is None else context)

    def _of_torch(self, name: str) -> ModuleSpec | None:
        if not is_shown(name):
            if not _is_for_an_import():
                return None
            parent = sys.modules.get(name.rpartition(".")[0])
            missing = no_module if _is_for_a_module() else no_import
            raise missing(name, parent, [known for known in table() if is_shown(known)])
        # All are packages, so that Python asks here for what a module lacks, and shows what is answered.
        return ModuleSpec(name, cast(Any, Loader()), origin=PACKAGE, is_package=True)

    def _of_functorch(self) -> ModuleSpec:
        module = importlib.import_module(f"{PACKAGE}.shim.names.functorch")
        return ModuleSpec("functorch", cast(Any, Alias(module)), origin=PACKAGE)

    def _of_torchvision(self, name: str) -> ModuleSpec | None:
        module = face.existing(f"{PACKAGE}.vision{name[len('torchvision') :]}")
        if module is None:
            return None
        return ModuleSpec(name, cast(Any, Alias(module)), origin=PACKAGE, is_package=hasattr(module, "__path__"))


def _is_for_an_import() -> bool:
    """Whether an import asks the finder, and not ``importlib.util.find_spec``, which only wants to know."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code is not importlib.util.find_spec.__code__:
        if frame.f_code.co_name == "_find_and_load_unlocked":  # of importlib, what import statements call
            return True
        frame = frame.f_back
    return False


def _is_for_a_module() -> bool:
    """Whether the innermost import is of a module, and not of a name (``from torch import name``), which may be one."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name != "_find_and_load_unlocked":
        frame = frame.f_back
    while frame is not None and frame.f_code.co_name in _OF_ONE_IMPORT:
        frame = frame.f_back
    return frame is None or frame.f_code.co_name != "_handle_fromlist"


#: What importlib calls, from the look for a module up to who has asked for it.
_OF_ONE_IMPORT = ("_find_and_load_unlocked", "_find_and_load", "_gcd_import", "_call_with_frames_removed")


def is_shown(path: str) -> bool:
    """True for a path of PyTorch's that this package has something for."""
    if path == "torch":
        return True
    if any(map(_exists, homes(path))):
        return True
    entry = table().get(path, {})
    return any(key.startswith("torch") and key != path for key in entry) or _has_children(path)


def _exists(home: str) -> bool:
    try:
        return face.existing(home) is not None
    except ModuleNotFoundError:  # it is there, and needs a package that is not: importing it says so
        return True


def _has_children(path: str) -> bool:
    return any(known.startswith(f"{path}.") for known in table())


class Loader:
    """Makes the module of one of PyTorch's paths."""

    def __repr__(self) -> str:
        return f"<loader of {PACKAGE}.shim>"

    def create_module(self, spec: ModuleSpec) -> face.Face:
        return face.make(spec.name)

    def exec_module(self, module: Any) -> None:
        face.fill(module)
        name_classes(module.__name__)
        if module.__name__ == "torch":
            for path in filter(is_shown, imported_by_torch()):
                importlib.import_module(path)


class Alias:
    """Puts a module of this package under another name, as the same object."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = self._module  # what the import system hands out
