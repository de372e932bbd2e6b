"""What a class of the library says to compiled functions about its objects: what its methods read, and how it is seen
that this has changed. It is the class attribute `_declares`; a class without one reads nothing but what it declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def _nothing(value: Any) -> list[Any]:
    return []


@dataclass(frozen=True)
class Declares:
    """`attributes`: methods read the object's attributes, but for those named in `apart`. `counter`: setting one counts
    `changes`, and what a program reads of them is declared under this name ("modules", "options")."""

    counter: str = ""
    attributes: bool = False
    apart: frozenset[str] = frozenset()  # declared when they are read, or of no influence on what is computed
    parts: Callable[[Any], list[Any]] = _nothing  # what methods come to from the object without naming it
    made_of: Callable[[Any], list[Any]] | None = None  # the objects whose identities count, in order
    is_counted: Callable[[Any], bool] = lambda value: True  # False if something may change without being counted


def declares(kind: type) -> Declares | None:
    """What the class, or one that it inherits from, declares."""
    for base in kind.__mro__:  # a metaclass may answer as it likes
        found = vars(base).get("_declares")
        if found is not None:
            return found if isinstance(found, Declares) else None
    return None
