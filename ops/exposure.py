"""Memory that numpy code can see too: it may change without any op.

Eager mode reads memory when an op runs, so it need not know. An interpreter that computes later must read such memory
at once.
"""

from __future__ import annotations

import weakref
from collections.abc import Set
from typing import Any

import numpy as np

_exposed: dict[int, weakref.ref[np.ndarray]] = {}  # the identity of what owns the memory -> an array over it


def owner_of(array: np.ndarray) -> int:
    """The identity of the object that owns the memory: equal for arrays that may overlap."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    return id(owner)


def expose(array: np.ndarray) -> None:
    """From now on, as long as it lives, `array`'s memory may be written by others."""
    last = array
    while isinstance(last.base, np.ndarray):
        last = last.base
    owner = owner_of(array)
    _exposed[owner] = weakref.ref(last, lambda _: _exposed.pop(owner, None))


def is_exposed(array: np.ndarray) -> bool:
    """True if `array` shows memory that numpy code has been given, or gave."""
    return bool(_exposed) and owner_of(array) in _exposed


def exposes_any(owners: Set[int]) -> bool:
    """True if numpy code can see the memory of one of `owners` (see `owner_of`)."""
    return bool(_exposed) and not owners.isdisjoint(_exposed)
