"""The attributes of modules in which replayed calls leave tensors, and whether such a store concerns any program.

Setting an attribute of a module counts as a change, after which all programs look at their guards again. That would
take longer than many a step, where each step does it (`self.attention = weights`). So a replay counts its stores only
while some program guards an attribute of that name by what is counted; else they are *silent*, and who compares
whole modules leaves these attributes out.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from ...ops.locks import new_lock
from .value_kinds import own_attributes


class StoredPlaces:
    """What is known of such attributes, of all programs of the process."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._guarding: dict[str, weakref.WeakSet[Any]] = {}  # who guards an attribute of that name
        self._names: dict[int, tuple[weakref.ref[Any], frozenset[str]]] = {}  # of each module, by its identity

    def __bool__(self) -> bool:
        return bool(self._names)

    def guard(self, by: Any, names: Iterable[str]) -> None:
        """While `by` is alive, stores to attributes of these names count."""
        with self._lock:
            for name in names:
                self._guarding.setdefault(name, weakref.WeakSet()).add(by)

    def add(self, owner: Any, name: str) -> None:
        """Replays store in that attribute of a module."""
        with self._lock:
            self._names[id(owner)] = weakref.ref(owner), self._stored_in(owner) | {name}

    def silent(self, owner: Any) -> frozenset[str]:
        """The attributes of a module that are no part of what programs depend on."""
        return frozenset(name for name in self._stored_in(owner) if not self._guarding.get(name))

    def store(self, owner: Any, name: str, value: Any) -> None:
        """What ``setattr(owner, name, value)`` does."""
        if self._guarding.get(name):
            setattr(owner, name, value)
        else:
            dict.__setitem__(own_attributes(owner), name, value)

    def _stored_in(self, owner: Any) -> frozenset[str]:
        known, names = self._names.get(id(owner), (None, frozenset[str]()))
        return names if known is not None and known() is owner else frozenset()


stored_places = StoredPlaces()
