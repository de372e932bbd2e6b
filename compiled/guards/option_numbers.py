"""Numbers of an optimizer's options: where they are all that a program has written, nothing else needs a second look.

A learning rate is set at each call, by hand or by a scheduler. What a compiled step reads of it is data; so after such
a write the guards hold as they held before, but for those that look at this very number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

import numpy as np

from ...runtime import references
from ...tracing.entries import EntryRead, SameEntries
from ..common.classes import is_a
from .counted_containers import CountedContainers
from .declared import Guard


class OptionNumbers:
    """The dicts of options that the numbers `reads` of a recording are in.

    `note` remembers what is there once everything has been looked at; `are_all_that_changed` tells later whether
    anything else has been written since.
    """

    def __init__(
        self, reads: Sequence[Callable[[], Any]], guards: Sequence[Guard], containers: CountedContainers
    ) -> None:
        known = [read for read in reads if is_a(read, EntryRead)]
        groups = {id(read.entries): read.entries for read in known}
        self._groups = list(groups.values())
        self._names = [{read.key for read in known if read.entries is group} for group in self._groups]
        self._guards = [guard for guard in guards if self._may_look_at_numbers(guard.get)]
        self._containers = containers
        self._are_known = references.versions_are_known and bool(known) and len(known) == len(reads)
        self._places, self._words = np.zeros(0, np.intp), np.zeros(0, np.int64)
        self._versions: np.ndarray | None = None  # which of the words are versions of the dicts, once that is asked
        self._items = b""
        self._noted: list[tuple[tuple[Any, ...], list[Any]]] = []

    def _may_look_at_numbers(self, get: Any) -> bool:
        """False for reads of which it is known that they look at none of the numbers."""
        if is_a(get, SameEntries):
            return any(get.entries is group for group in self._groups)
        if not is_a(get, EntryRead):
            return True
        named = zip(self._groups, self._names, strict=True)
        return any(get.entries is group and get.key in names for group, names in named)

    def note(self) -> None:
        """What is there now is as it was when the guards were looked at."""
        if not self._are_known:
            return
        memory, containers = references.memory, self._containers
        self._places = containers.places
        self._words = np.frombuffer(containers.expected, np.int64)
        self._items = containers.expected_items
        self._versions = None
        self._noted = [(tuple(dict.keys(group)), [*dict.values(group)]) for group in self._groups]
        if memory[self._places].tobytes() != containers.expected:
            self._places = np.zeros(0, np.intp)  # somebody writes at this moment

    def _are_versions(self) -> np.ndarray:
        if self._versions is None:
            self._versions = np.isin(self._places, [references.place_of_version(group) for group in self._groups])
        return self._versions

    def are_all_that_changed(self) -> bool:
        """True if numbers of the options have become other numbers since `note`, and nothing else was written to what
        is counted on; they are noted then."""
        if not self._are_known or self._places is not self._containers.places:
            return False
        words = references.memory[self._places]
        written = words != self._words
        if not written.any() or (written > self._are_versions()).any():
            return False
        if self._containers.has_lists and references.memory[self._containers.items].tobytes() != self._items:
            return False
        now = [[*dict.values(group)] for group in self._groups]
        for group, names, (keys, before), values in zip(self._groups, self._names, self._noted, now, strict=True):
            if not _are_alike(group, names, keys, before, values):
                return False
        if not all(guard.holds() for guard in self._guards):
            return False
        self._words = words
        self._noted = [(keys, values) for (keys, _), values in zip(self._noted, now, strict=True)]
        return True


def _are_alike(group: Any, names: set[Any], keys: tuple[Any, ...], before: list[Any], values: list[Any]) -> bool:
    """True if only floats under `names` have become other floats."""
    if len(values) != len(before) or tuple(dict.keys(group)) != keys:
        return False
    if all(map(is_, values, before)):
        return True
    return all(
        now is old or (type(now) is type(old) is float and key in names)
        for key, now, old in zip(keys, values, before, strict=True)
    )
