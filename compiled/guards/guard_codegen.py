"""The fast check of the environment guards: one Python expression over all places, for the generated usual call.

It may be false while the guards hold (`Environment.hold`, the slow check, decides); it is never true when one fails.
"""

from __future__ import annotations

from typing import Any

from .environment import Environment, ValueGuard, has_items
from .sources import Kept


class GuardCodegen:
    """`terms` are to be joined by ``and``; they use `names`, and may raise `GONE`, which means no."""

    GONE = Exception  # a variable, an attribute, the contents of a cell; a user's __getattr__ raises what it likes

    def __init__(self, environment: Environment) -> None:
        self.names: dict[str, Any] = {"has_items": has_items}
        self._known: dict[int, str] = {}  # names of things, by identity
        terms = [fact.source.as_python(value, self._name) for _, value, fact in environment.bindings]
        terms += [self._items(fact, items) for fact, items in environment.contents]
        terms += [f"({self._name(same)}() or {self._name(fact.holds)}())" for same, fact in environment.opened]
        self.terms = list(dict.fromkeys(filter(None, terms)))  # two functions may read one variable

    def _name(self, value: Any) -> str:
        if id(value) not in self._known:
            self._known[id(value)] = f"k{len(self.names)}"
            self.names[self._known[id(value)]] = value  # keeps it, and so its id
        return self._known[id(value)]

    def _items(self, fact: ValueGuard, items: tuple[Any, ...] | None) -> str:
        """That a container has these items; None for one that only the slow check looks into."""
        if items is None:
            return "False"
        if type(fact.value) is tuple:
            return fact.source.as_python(fact.value, self._name)
        place = fact.source.place(self._name)
        if not items and isinstance(fact.source, Kept):
            return f"not {place}"
        return f"has_items({place}, {self._name(items)})"
