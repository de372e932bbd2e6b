"""Whether a function's surroundings are as they were, asked at each call: every kind of place in a loop of its own.

`Surroundings.hold` says what is asked. This answers yes for the same objects in the same places, without a call of a
Python function for each place, and no for everything that deserves a closer look.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from .reach import MISSING, attribute, attribute_count, cell_contents, group_sizes, itself
from .surroundings import Surroundings, has_items


class Steady:
    """What is to be looked at. What the library counts changes of is looked up once: make a new one after a change."""

    def __init__(self, surroundings: Surroundings) -> None:
        self.variables: list[tuple[dict[str, Any], str, Any]] = []
        self.cells: list[tuple[types.CellType, Any]] = []
        self.attributes: list[tuple[Any, str, Any]] = []
        self.counts: list[tuple[Any, int]] = []
        self.others: list[tuple[Callable[[], Any], Any]] = []
        self.groups: list[tuple[list[Any], list[tuple[Any, list[Any], int]]]] = []
        self.contents: list[tuple[Callable[[], Any], tuple[Any, ...] | None]] = []
        for get, value, _ in surroundings.bindings:
            self._add(get, value)
        for fact, items in surroundings.contents:
            self._add_container(fact.get, fact.value, items)

    def _add(self, get: Callable[[], Any], value: Any) -> None:
        """A place that shall hold `value` itself."""
        func, args = (get.func, get.args) if isinstance(get, functools.partial) else (get, ())
        owner = getattr(func, "__self__", None)
        if func is cell_contents and value is not MISSING:
            self.cells.append((args[0], value))
        elif func is attribute:
            self.attributes.append((*args, value))
        elif func is attribute_count:
            if hasattr(args[0], "__dict__"):
                self.counts.append((args[0], value))
        elif type(owner) is dict and func == owner.get:
            self.variables.append((owner, args[0], value))
        elif func is not itself:  # a value that is kept is what it was
            self.others.append((get, value))

    def _add_container(self, get: Callable[[], Any], value: Any, items: tuple[Any, ...] | None) -> None:
        """A place whose container shall hold `items`, None for one that is always looked at closely."""
        if isinstance(get, functools.partial) and get.func is group_sizes:
            groups = get.args[0].param_groups
            sizes = value[1::2]
            if value[::2] == tuple(map(id, groups)):
                self.groups.append((groups, [(g, g["params"], n) for g, n in zip(groups, sizes, strict=True)]))
            else:
                self.contents.append((get, None))
        elif type(value) is tuple and items is not None:
            self._add(get, value)
        else:
            self.contents.append((get, items))

    def holds(self) -> bool:
        """True while variables are bound to the same objects and containers hold the same items."""
        for space, name, value in self.variables:
            if space.get(name, MISSING) is not value:
                return False
        try:
            for cell, value in self.cells:
                if cell.cell_contents is not value:
                    return False
        except ValueError:  # it is empty now
            return False
        for owner, name, value in self.attributes:
            if getattr(owner, name, MISSING) is not value:
                return False
        for owner, count in self.counts:
            if len(owner.__dict__) != count:
                return False
        for get, value in self.others:
            if get() is not value:
                return False
        return self._groups_hold() and self._contents_hold()

    def _groups_hold(self) -> bool:
        """Changes inside of a group are counted; those of the list of groups and of its lists of parameters are not."""
        for groups, known in self.groups:
            if len(groups) != len(known):
                return False
            for group, (same, params, size) in zip(groups, known):  # noqa: B905  the lengths were compared
                if group is not same or len(params) != size:
                    return False
        return True

    def _contents_hold(self) -> bool:
        for get, items in self.contents:
            if items is None or not has_items(get(), items):
                return False
        return True
