"""Memory that numpy code can see too: it may change without any op.

Eager mode reads memory when an op runs, so it need not know. An interpreter that computes later must read such memory
at once.
"""

from __future__ import annotations

import weakref
from array import array as array_of_numbers
from collections.abc import Set
from mmap import mmap
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .memory import Buffer

_ALWAYS = np.empty(0)
_exposed: dict[int, weakref.ref[np.ndarray]] = {}  # the identity of what owns the memory -> an array over it


FOREIGN = object()  # stands for all owners of which nothing is known
_STRIDED: Any = type(as_strided(np.empty(1)).base)  # what numpy puts between such an array and its memory
_OWNERS = (np.ndarray, bytes, bytearray, mmap, array_of_numbers)  # no two of them share memory


def owner_of(array: np.ndarray) -> int:
    """The identity of the object that owns the memory: equal for arrays that may overlap."""
    owner: Any = array
    while isinstance(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    if type(owner) is np.ndarray:
        return id(owner)
    while isinstance(owner, (memoryview, _STRIDED, np.ndarray)):
        behind = owner.obj if isinstance(owner, memoryview) else owner.base
        if behind is None:
            break
        owner = behind
    return id(owner if isinstance(owner, _OWNERS) else FOREIGN)


def expose(array: np.ndarray) -> None:
    """From now on, as long as it lives, `array`'s memory may be written by others."""
    last = array
    while isinstance(last.base, np.ndarray):
        last = last.base
    known = _exposed.get(id(last))
    if known is not None and known() is last:  # it owns its memory, and has been exposed before
        return
    owner = owner_of(array)
    if owner == id(FOREIGN):
        _exposed[owner] = weakref.ref(_ALWAYS)
    else:
        forget = _exposed.pop
        _exposed[owner] = weakref.ref(last, lambda _: forget(owner, None))


def tell_reader(buffer: Buffer) -> None:
    """Code outside is about to be given memory, which holds its numbers: who reads it later may have to notice."""
    if buffer.reader is not None and (node := buffer.reader()) is not None:
        node.handed_out(buffer)


exposed_owners = _exposed  # to ask which, where owners are known


def is_exposed(array: np.ndarray) -> bool:
    """True if `array` shows memory that numpy code has been given, or gave."""
    return bool(_exposed) and owner_of(array) in _exposed


def exposes_any(owners: Set[int]) -> bool:
    """True if numpy code can see the memory of one of `owners` (see `owner_of`)."""
    return bool(_exposed) and not owners.isdisjoint(_exposed)
