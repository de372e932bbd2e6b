"""Guards that need no second look as long as nothing was written to the dicts that they read.

After a counted change somewhere (a buffer of another module, a new optimizer) all guards over what is counted have to
be looked at again, most of which read entries of dicts: registries and hooks of modules, options of optimizers. CPython
gives a dict another version with each write, and has that in a word of memory; so one look at the words of all these
dicts tells whether any of these guards can have changed. The others are looked at one by one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ...runtime import references
from ...tracing.entries import EntryRead, SameEntries, TableRead
from ..common.classes import is_a
from .declared import Guard
from .sources import MISSING, Attribute, AttributeCount, ClassOf, attribute, counts_changes
from .value_guard import ValueGuard, has_items
from .value_kinds import own_attributes

FIRST_NOTES = 4  # looks at where the words lie, before it is known whether that pays

#: A guard on a container: its items, None where it has to be compared as a whole.
Contents = tuple[ValueGuard, tuple[Any, ...] | None]


class Unwritten:
    """The guards of one recording over what is counted: `guards`, `values` and `contents`."""

    def __init__(self, guards: Sequence[Guard], values: Sequence[ValueGuard], contents: Sequence[Contents]) -> None:
        self._all = guards, values, contents
        self._rest = self._all
        self._places: np.ndarray | None = None
        self._words = b""
        self._kept: list[Any] = []  # whose words these are
        self._notes = self._hits = 0

    def guards_hold(self, but_gradients: bool = False) -> bool:
        """True while the guards that the library has declared hold, those of gradients among them if so wanted."""
        guards = (self._rest if self._is_unwritten() else self._all)[0]
        return all(guard.holds() for guard in guards if not (but_gradients and guard.of_gradients))

    def values_hold(self) -> bool:
        """True while the guards on sources hold."""
        _, values, contents = self._rest if self._is_unwritten() else self._all
        for fact in values:
            if fact.source.now() is not fact.value and not fact.holds():
                return False
        for fact, items in contents:
            if (items is None or not has_items(fact.source.now(), items)) and not fact.holds():
                return False
        return True

    def _is_unwritten(self) -> bool:
        places = self._places
        if places is None:
            return False
        if references.memory[places].tobytes() == self._words:
            self._hits += 1
            return True
        self._places, self._kept = None, []
        return False

    def note(self) -> None:
        """All guards hold now: keep in mind which dicts they read, unless these are written again and again."""
        if self._places is not None or not references.versions_are_known or self._notes > FIRST_NOTES + self._hits:
            return
        self._notes += 1
        places = _Places()
        guards, values, contents = self._all
        read = [places.of_guard(guard) for guard in guards]
        found = [places.of_source(fact, None) for fact in values]
        held = [places.of_source(fact, items) for fact, items in contents]
        where = np.array(list(places.found), np.intp)
        words = references.memory[where].tobytes()  # before the guards are asked, which may change meanwhile
        self._rest = (
            [guard for guard, known in zip(guards, read, strict=True) if not (known and _is_as_it_was(guard))],
            [fact for fact, known in zip(values, found, strict=True) if not (known and _is_value(fact))],
            [each for each, known in zip(contents, held, strict=True) if not (known and _has_contents(*each))],
        )
        self._kept, self._words, self._places = places.kept, words, where


# By the identity of what is there: of equal objects one might be changed by itself.


def _is_as_it_was(guard: Guard) -> bool:
    return guard.holds() and (is_a(guard.get, TableRead) or guard.get() is guard.value)


def _is_value(fact: ValueGuard) -> bool:
    return fact.source.now() is fact.value


def _has_contents(fact: ValueGuard, items: tuple[Any, ...] | None) -> bool:
    return items is not None and _is_value(fact) and has_items(fact.value, items)


class _Places:
    """The words that tell of writes to dicts."""

    def __init__(self) -> None:
        self.found: dict[int, None] = {}
        self.kept: list[Any] = []

    def of_guard(self, guard: Guard) -> bool:
        """True if all that the guard reads is in dicts, whose words are added."""
        get = guard.get
        if is_a(get, EntryRead) and get.owner is not None and not self._add_object(get.owner):
            return False
        if is_a(get, (SameEntries, EntryRead)):
            return self._add(get.entries)
        return is_a(get, TableRead) and self._add_tables(get)

    def of_source(self, fact: ValueGuard, items: tuple[Any, ...] | None) -> bool:
        """The same for a guard on a source, of a container with these `items`."""
        source, owner = fact.source, fact.source.owner
        if type(source) not in (Attribute, AttributeCount, ClassOf) or is_a(owner, type):
            return False
        if not counts_changes(owner) or (type(source) is Attribute and not _is_plainly_found(owner, source.name)):
            return False
        return self._add_object(owner) and (items is None or (is_a(fact.value, dict) and self._add(fact.value)))

    def _add_tables(self, read: TableRead) -> bool:
        owner = read.owner
        own = owner if is_a(owner, dict) else own_attributes(owner)
        if own is None or not (own is owner or self._add_object(owner)):
            return False
        return self._add(own) and all(self._add(own[name]) for name in read.names if name in own)

    def _add_object(self, owner: Any) -> bool:
        own = own_attributes(owner)
        if own is None or not self._add(own):
            return False
        self.found[references.place_of_dict(owner)] = self.found[references.place_of_class(owner)] = None
        self.kept.append(owner)
        return True

    def _add(self, entries: Any) -> bool:
        """False for what has no version, or an order that is changed without a new one."""
        if not is_a(entries, dict) or (is_a(entries, OrderedDict) and len(entries) > 1):
            return False
        self.found[references.place_of_version(entries)] = None
        self.kept.append(entries)
        return True


def _is_plainly_found(owner: Any, name: str) -> bool:
    """True for an attribute that is in the object's own dict, or a method of its class: those are counted."""
    of_class = next((vars(base)[name] for base in type(owner).__mro__ if name in vars(base)), MISSING)
    if of_class is MISSING:
        return name in (own_attributes(owner) or ())
    if is_a(of_class, FunctionType):
        return True
    return bool(getattr(of_class, "kind", "")) and attribute(owner, name) is (own_attributes(owner) or {}).get(name)
