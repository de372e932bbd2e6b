"""The fast check of the environment guards: one Python expression over all places, for the generated usual call.

It may be false while the guards hold (`Environment.hold`, the slow check, decides); it is never true when one fails.
"""

from __future__ import annotations

from typing import Any

from ...runtime.references import memory
from ..common.classes import is_a
from .environment import Environment
from .sources import MISSING, Cell, Kept
from .stable_words import is_immutable
from .value_guard import ValueGuard, has_items

FEW = 16  # items, keys among them
STABLE = "(memory[stable.places].tobytes() == stable.expected or stable.look())"


class GuardCodegen:
    """`terms` are to be joined by ``and``; they use `names`, and may raise `GONE`, which means no."""

    GONE = Exception  # a variable, an attribute, the contents of a cell; a user's __getattr__ raises what it likes

    def __init__(self, environment: Environment, words_apart: bool = False) -> None:
        self.names: dict[str, Any] = {"has_items": has_items, "memory": memory, "stable": environment.stable}
        self._known: dict[int, str] = {}  # names of things, by identity
        self._containers = 0  # that are looked into item by item
        #: Cells and what must be in them, if words of memory are looked at in another way than by `terms`.
        self.cells = [
            (fact.source.owner, value)
            for _, value, fact in environment.bindings
            if words_apart and type(fact.source) is Cell and value is not MISSING
        ]
        apart = {id(cell) for cell, _ in self.cells}
        terms = [STABLE] if environment.stable.known and not words_apart else []
        terms += [
            fact.source.as_python(value, self._name)
            for _, value, fact in environment.bindings
            if id(fact.source.owner) not in apart
        ]
        terms += [self._items(fact, items) for fact, items in environment.contents]
        terms += [f"({self._name(same)}() or {self._name(fact.holds)}())" for same, fact in environment.opened]
        self.terms = list(dict.fromkeys(filter(None, terms)))  # two functions may read one variable

    def _name(self, value: Any) -> str:
        if id(value) not in self._known:
            self._known[id(value)] = f"k{len(self.names)}"
            self.names[self._known[id(value)]] = value  # keeps it, and so its id
        return self._known[id(value)]

    def _items(self, fact: ValueGuard, items: tuple[Any, ...] | None) -> str:
        """That a container has these items; None for one that holds others, which the slow check goes through."""
        if items is None:
            there = f"{fact.source.place(self._name)} is {self._name(fact.value)} or " * is_immutable(fact.value)
            return f"({there}{self._name(fact.holds)}())"
        if type(fact.value) is tuple:
            return fact.source.as_python(fact.value, self._name)
        place = fact.source.place(self._name)
        if len(items) == 1 and is_a(fact.source, Kept):
            return f"not {place}"
        return self._each_item(fact, place, items[1:]) or f"has_items({place}, {self._name(items)})"

    def _each_item(self, fact: ValueGuard, place: str, items: tuple[Any, ...]) -> str:
        """A line of its own for each of few items, in a fifth of the time; "" for other containers."""
        kind = type(fact.value)
        if len(items) > FEW or fact.by_identity or kind not in (list, dict):
            return ""
        keys = items[: len(items) // 2] if kind is dict else range(len(items))
        if kind is dict and any(type(key) is not str for key in keys):
            return ""
        self._containers += 1
        found = f"c{self._containers}"
        terms = [f"type({found} := {place}) is {kind.__name__} and len({found}) == {len(keys)}"]
        if kind is dict and len(keys) > 1:  # their order
            terms.append(f"[*map(id, {found})] == {self._name(list(map(id, keys)))}")
        values = items[len(items) - len(keys) :]
        terms += [f"{found}[{key!r}] is {self._name(item)}" for key, item in zip(keys, values, strict=True)]
        return " and ".join(terms)
