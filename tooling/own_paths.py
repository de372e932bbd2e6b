"""PyTorch's paths below this package: ``from tracegrad.nn.modules.loss import _Loss``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

_PACKAGE = __name__.partition(".")[0]


class OwnPaths:
    """Last of ``sys.meta_path``: asked for modules of this package that have no file.

    What answers is part of the shim, which is imported when a program asks for such a path first.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(f"{_PACKAGE}."):
            return None
        spec: ModuleSpec | None = importlib.import_module(f"{_PACKAGE}.shim.own_paths").spec_of(name)
        return spec


def install() -> None:
    """Let paths that PyTorch has and this package has no file for be imported below this package's name."""
    sys.meta_path.append(OwnPaths)
