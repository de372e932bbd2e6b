"""The attributes of modules that are set again and again, and whether such a store concerns any program.

Setting an attribute of a module counts as a change, after which all programs look at their guards again. That would
take longer than many a step, where each step does it (`self.attention = weights`, `self.calls += 1`). So programs that
are made from then on look at such an attribute at each call, and a store counts only while there is an earlier program
that guards this attribute by what is counted. Else stores are *silent*: who compares whole modules leaves these
attributes out.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

from ..ops.locks import new_lock
from .counts import changes

_Key = tuple[int, str]
_NOTHING: frozenset[str] = frozenset()
_AGAIN_AND_AGAIN = 8  # times
_ABSENT = object()
_MOST_COUNTED = 4096  # attributes of which it is known how often they were set
_UNKNOWN: tuple[None, frozenset[str]] = (None, _NOTHING)


class StoredPlaces:
    """What is known of such attributes, of all programs of the process."""

    def __init__(self) -> None:
        self._lock = new_lock()
        # By who guards attributes by counts, and keeps their owners: these, as an owner's identity with a name.
        self._guarded: weakref.WeakKeyDictionary[Any, frozenset[_Key]] = weakref.WeakKeyDictionary()
        self._names: dict[int, tuple[weakref.ref[Any], frozenset[str]]] = {}  # of each module, by its identity
        self._counts: dict[_Key, bool] = {}  # whether a store does, as far as that was asked
        self._times: dict[_Key, int] = {}  # how often the program has set other attributes

    def __bool__(self) -> bool:
        return bool(self._names)

    def guard(self, by: Any, attributes: Iterable[tuple[Any, str]]) -> None:
        """While `by` is alive, stores to these attributes (an owner, a name) count."""
        with self._lock:
            self._guarded[by] = frozenset((id(owner), name) for owner, name in attributes)
            self._counts = {}

    def add(self, owner: Any, name: str) -> None:
        """That attribute of a module will be set again and again."""
        key, forget = id(owner), self._names.pop
        with self._lock:
            known = self.names(owner)
            self._names[key] = weakref.ref(owner, lambda _: forget(key, None)), known | {name}
        if name not in known:
            changes.count += 1

    def names(self, owner: Any) -> frozenset[str]:
        """The attributes of `owner` that are set again and again."""
        known, names = self._names.get(id(owner), _UNKNOWN)
        return names if known is not None and known() is owner else _NOTHING

    def silent(self, owner: Any) -> frozenset[str]:
        """The attributes of a module that are no part of what programs depend on."""
        return frozenset(name for name in self.names(owner) if not self._is_counted(owner, name))

    def store(self, owner: Any, name: str, value: Any) -> None:
        """What ``setattr(owner, name, value)`` does, for what is no parameter, buffer or module."""
        before = object.__getattribute__(owner, "__dict__").get(name, _ABSENT)
        object.__setattr__(owner, name, value)
        # A new name, or what can be called, may hide a method, which programs look for among the names of an object.
        is_loud = before is _ABSENT or callable(before) or callable(value)
        if is_loud or self._counts_as_change(owner, name):
            changes.count += 1  # afterwards: who looks at a guard in between must look again

    def _counts_as_change(self, owner: Any, name: str) -> bool:
        """Whether setting an attribute that is there does; one that is set again and again is one of these places."""
        if name in self.names(owner):
            return self._is_counted(owner, name)
        key = (id(owner), name)
        if len(self._times) >= _MOST_COUNTED:
            self._times = {}
        times = self._times[key] = self._times.get(key, 0) + 1
        if times == _AGAIN_AND_AGAIN:
            self.add(owner, name)
        return True

    def _is_counted(self, owner: Any, name: str) -> bool:
        key, counts = (id(owner), name), self._counts
        found = counts.get(key)
        if found is None:
            with self._lock:
                found = counts[key] = any(key in guarded for guarded in self._guarded.values())
        return found


stored_places = StoredPlaces()
