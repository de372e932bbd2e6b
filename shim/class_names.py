"""Classes under PyTorch's names: ``type(x).__module__`` is "torch" while the shim is installed.

``class_paths.json`` is written by ``python -m tests.names.paths``. For each module of PyTorch's it lists the classes
that say they are of it, by the path and name under which they are found; another name of the class itself follows "=".
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeGuard

from ..ops.callers.class_homes import home_of, show_as
from .paths import PACKAGE


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return json.loads(Path(__file__).with_name("class_paths.json").read_text(encoding="utf-8"))


def imported_by_torch() -> list[str]:
    """The modules that classes name and ``import torch`` imports: tools look for them in ``sys.modules``."""
    return _table()["imported"].split()


def _imported(place: str) -> Any:
    with contextlib.suppress(ImportError):  # it is one of those that are not here
        return importlib.import_module(place)


def _is_unnamed(kind: Any) -> TypeGuard[type]:
    return isinstance(kind, type) and kind.__module__.partition(".")[0] == PACKAGE


def name_classes(path: str) -> None:
    """Let the classes that are of the module at `path` in PyTorch say so, and the module the file with most of them.

    ``inspect.getsource(torch.nn.Linear)`` looks in the file of the module that the class gives.
    """
    files: Counter[str] = Counter()
    for place, names in _table()["classes"].get(path, {}).items():
        module: Any = sys.modules[path] if place == path else _imported(place)
        for entry in names.split():
            name, _, shown = entry.partition("=")
            kind = getattr(module, name, None)
            if getattr(sys.modules[path], shown or name, None) is kind and _is_unnamed(kind):
                show_as(kind, path, shown or name)
                files[vars(sys.modules[home_of(kind)]).get("__file__") or __file__] += 1
    if files and path != "torch":
        vars(sys.modules[path])["__file__"] = files.most_common(1)[0][0]
