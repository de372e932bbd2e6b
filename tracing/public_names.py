"""Functions know the public place where they are found, so that pickle and cloudpickle store them by name.

A function that is not found under its own ``__module__`` and ``__qualname__`` is stored by cloudpickle as code, with
all that the code refers to: locks, switches, caches.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any


def name_functions(places: Iterable[tuple[str, str, Mapping[str, Any]]]) -> None:
    """Give functions that are not found under their names those of the first place that has them.

    A place is the name of a module, a prefix of names in it (``"Tensor."`` or nothing), and what is there by name.
    """
    for module, prefix, members in places:
        for name, member in list(members.items()):
            function = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
            if isinstance(function, FunctionType) and not is_found(function):
                function.__module__, function.__qualname__ = module, f"{prefix}{name}"


def is_found(thing: Any) -> bool:
    """Whether `thing` is what its ``__module__`` and ``__qualname__`` lead to."""
    found: Any = sys.modules.get(thing.__module__ or "")
    for name in thing.__qualname__.split("."):
        found = getattr(found, name, None) if name != "<locals>" else None
    return found is thing
