"""Writes that go round the methods of containers: ``object.__setattr__(module, …)``, ``dict.__setitem__(group, …)``.

Modules and optimizers keep what they have in dicts and lists whose methods count their changes (`tracing/watch.py`), so
that no call looks into them. Who writes past these methods counts nothing. But CPython gives a dict another version
with each write, whoever writes, and has that version in a word of memory; so a specialisation looks at these words of
all containers that it counts on, at the items of lists and the classes of objects, and where one has changed, at what
is in the container.
What is another and has not been counted is counted here. The modules of this package that programs know are looked at
in the same way, whether the function reaches them or not: layers call what is in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import is_
from typing import Any

import numpy as np

from ...runtime import references
from ...tracing.counted import Counted
from ...tracing.declares import declares
from ...tracing.stored_places import stored_places
from ...tracing.watch import Entries, WatchedDict, WatchedList, changes
from ...tracing.watched_order import WatchedOrder
from ..common.classes import is_a
from .class_members import is_watched
from .library_modules import library_modules
from .value_kinds import own_attributes

_KINDS = ("count", "modules", "training", "options")
_WATCHED = (WatchedDict, WatchedList)
_NOTHING = object()
_NO_MODULE: Any = ({}, (), [None], -1, ())


class CountedContainers:
    """The containers that a recording counts on, as they were when somebody last looked.

    ``memory[places]`` are words that change with each write, `expected` what they were; ``memory[items]`` the same of
    the items of lists, which are there while the former agree.
    """

    def __init__(self, objects: Iterable[Any]) -> None:
        self._owners = [value for value in objects if is_a(value, Counted) or is_watched(value)]
        self._noted: list[tuple[Any, type, Any, Any]] = []
        self._counts: list[int] = _counts()
        self._words = np.zeros(0, np.int64)
        # What is in the `__dict__` of modules, by the number of its word: with the names, where the mode is, and where
        # what is stored silently.
        self._modules: dict[int, tuple[Any, tuple[str, ...], list[Any], int, tuple[int, ...]]] = {}
        self.places = self.items = np.zeros(0, np.intp)
        self.expected = self.expected_items = b""
        self._library, self._words_of_library = library_modules(), b""
        self.has_lists = any(is_a(container, list) for _, container in self._containers())

    def __bool__(self) -> bool:
        return bool(self._owners) or bool(len(self._library.places))

    def agree(self) -> bool:
        """True if nothing was written since the last look, counted or not."""
        if not references.versions_are_known:
            return self._library.agree(self._words_of_library) and not self._changed_kinds()
        memory = references.memory
        if memory[self.places].tobytes() != self.expected:
            return False
        return not self.has_lists or bool(memory[self.items].tobytes() == self.expected_items)

    def look(self) -> bool:
        """Look again, and count what was written without being counted; True if there was nothing of the kind."""
        is_heard_of = self._library.look()
        if not self:
            return True
        if self._noted and (self.only_modes_or_stores_changed() or self.agree()):
            self._counts = [changes.count, changes.modules, changes.training, changes.options]
            return True
        kinds = self._changed_kinds()
        counts = zip(_KINDS, self._counts, _counts(), strict=False)
        uncounted = [kind for kind, before, now in counts if kind in kinds and before == now]
        self._note()
        for kind in uncounted:
            setattr(changes, kind, getattr(changes, kind) + 1)
        self._counts = _counts()
        return not uncounted and is_heard_of

    def only_modes_or_stores_changed(self) -> bool:
        """True if all that was written, and counted, is what mode modules are in, or was stored silently
        (`stored_places.py`); then that is what is expected."""
        has_mode_changed = changes.training != self._counts[_KINDS.index("training")]
        if not references.versions_are_known or not (has_mode_changed or stored_places):
            return False
        words = references.memory[self.places]
        for i in (words != self._words).nonzero()[0].tolist():
            own, names, values, mode, silent = self._modules.get(i, _NO_MODULE)
            now = [*dict.values(own)]
            if len(now) != len(values) or tuple(own) != names:
                return False
            if has_mode_changed and mode >= 0:
                values[mode] = now[mode]
            for at in silent:
                now[at] = None
            if not all(map(is_, now, values)):
                return False
        if self.has_lists and references.memory[self.items].tobytes() != self.expected_items:
            return False
        self._words, self.expected = words, words.tobytes()
        self._counts = [changes.count, changes.modules, changes.training, changes.options]
        return True

    def _note(self) -> None:
        """What is there now: the words first, so that what is written meanwhile is noticed."""
        self._words_of_library = self._library.expected
        if references.versions_are_known:
            self._note_words()
        self._noted = [(o, type(o), held, _contents(held, o)) for o, held in self._containers()]

    def _note_words(self) -> None:
        found: list[int] = []
        lists: list[int] = []
        self._modules = {}
        for owner, container in self._containers():
            if is_a(container, list):
                found += references.places_of_list(container)
                first = references.place_of_items(container)
                lists += range(first, first + len(container))
            else:
                self._note_mode(len(found), owner, container)
                found.append(references.place_of_version(container))
            if owner is not None and is_a(owner, Counted):
                found += [references.place_of_dict(owner), references.place_of_class(owner)]
        places = np.array(found, np.intp)
        self.places, self.items = np.concatenate([places, self._library.places]), np.array(lists, np.intp)
        of_library = np.frombuffer(self._words_of_library, np.int64)  # as they were looked at
        self._words = np.concatenate([references.memory[places], of_library])
        self.expected = self._words.tobytes()
        self.expected_items = references.memory[self.items].tobytes()

    def _note_mode(self, word: int, owner: Any, own: Any) -> None:
        if is_a(owner, Counted) and _option("training", owner) == "training":
            names = tuple(own)
            mode = names.index("training") if "training" in names else -1
            silent = tuple(names.index(name) for name in stored_places.silent(owner) if name in names)
            values = [*dict.values(own)]
            for at in silent:
                values[at] = None  # which would keep the tensor
            self._modules[word] = own, names, values, mode, silent

    def _containers(self) -> Iterator[tuple[Any, Any]]:
        """The ``__dict__`` of each owner, with it, and the containers in it, without one."""
        for owner in self._owners:
            own = own_attributes(owner)
            if own is None:
                continue
            yield owner, own
            if is_a(owner, Counted):
                yield from _within(dict.values(own))

    def _changed_kinds(self) -> set[str]:
        """What writes since the last look are counted as."""
        kinds: set[str] = set()
        for owner, kind, container, contents in self._noted:
            if owner is not None and (type(owner) is not kind or own_attributes(owner) is not container):
                return set(_KINDS)
            kinds.update(_changed(container, owner, contents))
        return kinds


def _counts() -> list[int]:
    return [changes.count, changes.modules, changes.training, changes.options]  # in the order of _KINDS


def _within(values: Iterable[Any]) -> Iterator[tuple[None, Any]]:
    """The watched containers among `values`, and those in them; tables of hooks where there are any: what comes into
    an empty one comes by its methods, in the form that they give it."""
    for value in values:
        if is_a(value, _WATCHED) and not (is_a(value, WatchedOrder) and not dict.__len__(value)):
            yield None, value
            yield from _within(list.__iter__(value) if is_a(value, list) else dict.values(value))


def _contents(container: Any, owner: Any) -> tuple[list[Any], list[Any]]:
    """The keys and the values of a container, those that compiled functions may depend on."""
    if is_a(container, list):
        return [], [*list.__iter__(container)]
    pairs = [*dict.items(container)]
    declared = None if owner is None else declares(type(owner))
    if declared is not None:
        apart = declared.apart | stored_places.silent(owner)
        pairs = [(k, v) for k, v in pairs if k not in apart or is_a(v, _WATCHED) or _option(k, owner)]
    return [key for key, _ in pairs], [value for _, value in pairs]


def _changed(container: Any, owner: Any, before: tuple[list[Any], list[Any]]) -> set[str]:
    """The kinds of changes between `before` and what is in a container now."""
    now = _contents(container, owner)
    if all(len(a) == len(b) and all(map(is_, a, b)) for a, b in zip(now, before, strict=True)):
        return set()
    if not is_a(owner, Counted):
        return {"options" if is_a(container, Entries) else "count"}
    one, other = (dict(zip(*found, strict=True)) for found in (now, before))
    names = [name for name in {**one, **other} if one.get(name, _NOTHING) is not other.get(name, _NOTHING)]
    return {_option(name, owner) or "count" for name in names} or {"count"}


def _option(name: Any, owner: Any) -> str:
    """What `changes` counts an attribute as that is an option of a module; "" for others."""
    kind = getattr(getattr(type(owner), name, None), "kind", "") if is_a(name, str) else ""
    return kind if kind in _KINDS else ""
