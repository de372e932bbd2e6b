"""Which entries a dict has: what programs depend on that go through the options or the parts of something."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from operator import is_
from typing import Any


class SameEntries:
    """Whether a dict has the entries that it had, as the same objects; equal for the same dict with the same ones."""

    def __init__(self, entries: dict[Any, Any]) -> None:
        self._entries = entries
        self._keys = tuple(dict.keys(entries))
        self._kept = list(dict.values(entries))  # so that no identity is given to another object meanwhile

    @property
    def entries(self) -> Any:
        """The dict."""
        return self._entries

    def __call__(self) -> bool:
        entries = self._entries
        if len(entries) != len(self._kept) or tuple(dict.keys(entries)) != self._keys:
            return False
        return all(map(is_, dict.values(entries), self._kept))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameEntries) and other._entries is self._entries and self() and other()

    def __hash__(self) -> int:
        return id(self._entries)


class EntryRead(functools.partial):
    """``look(*args)``, which says of what it looks at that it is the entry `key` of `entries` and nothing else that
    changes: who knows which entries were written need not ask again."""

    entries: Any
    key: Any
    owner: Any = None

    @classmethod
    def of(cls, entries: Any, key: Any, look: Callable[..., Any], *args: Any) -> EntryRead:
        """The read ``look(*args)``."""
        read = cls(look, *args)
        read.entries, read.key = entries, key
        return read

    def found_in(self, owner: Any) -> EntryRead:
        """The same read, which finds the dict as an attribute of `owner` each time."""
        self.owner = owner
        return self


class TableRead(functools.partial):
    """``look(*args)``, which says of what it looks at that it is in the ``__dict__`` of `owner` (or in `owner`, if that
    is a dict) and in the dicts under `names` there, and nothing else that changes: which entries these have, as objects
    that are compared by identity."""

    owner: Any
    names: tuple[str, ...]

    @classmethod
    def of(cls, owner: Any, names: tuple[str, ...], look: Callable[..., Any], *args: Any) -> TableRead:
        """The read ``look(*args)``."""
        read = cls(look, *args)
        read.owner, read.names = owner, names
        return read


def copied(entries: Any, memo: dict[int, Any]) -> Any:
    """``copy.deepcopy`` of a dict of a class that is made without arguments, entry by entry."""
    made = memo[id(entries)] = type(entries)()  # what is in it may lead back here
    for key, value in entries.items():
        made.put_first(key if type(key) is str else copy.deepcopy(key, memo), copy.deepcopy(value, memo))
    return made
