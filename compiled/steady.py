"""Whether a function's surroundings are as they were, as one Python expression over all the places.

`Surroundings.hold` says what is asked. The expression is true for the same objects in the same places, which takes
20 ns for most of them, and false for everything that deserves a closer look.
"""

from __future__ import annotations

import functools
import keyword
from collections.abc import Callable
from typing import Any

from .reach import MISSING, attribute, attribute_count, cell_contents, itself
from .surroundings import Surroundings, has_items

Get = Callable[[], Any]


class Steady:
    """`terms` are to be joined by ``and``; they use `names`, and may raise one of `GONE`, which means no."""

    GONE = (KeyError, AttributeError, ValueError)  # a variable, an attribute, the contents of a cell

    def __init__(self, surroundings: Surroundings) -> None:
        self.terms: list[str] = []
        self.names: dict[str, Any] = {"has_items": has_items}
        for get, value, _ in surroundings.bindings:
            self._bound(get, value)
        for fact, items in surroundings.contents:
            self._container(fact.get, fact.value, items)
        for same, fact in surroundings.opened:
            self.terms.append(f"({self._name(same)}() or {self._name(fact.holds)}())")

    def _name(self, value: Any) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def _bound(self, get: Get, value: Any) -> None:
        """A place that shall hold `value` itself."""
        func, args = (get.func, get.args) if isinstance(get, functools.partial) else (get, ())
        if func is attribute_count:
            if hasattr(args[0], "__dict__"):
                self.terms.append(f"len({self._name(args[0])}.__dict__) == {value}")
        elif func is not itself:  # a value that is kept is what it was
            self.terms.append(f"{self._place(get, func, args, value)} is {self._name(value)}")

    def _place(self, get: Get, func: Any, args: tuple[Any, ...], value: Any) -> str:
        owner = getattr(func, "__self__", None)
        if value is MISSING:
            return f"{self._name(get)}()"
        if func is cell_contents:
            return f"{self._name(args[0])}.cell_contents"
        if func is attribute and args[1].isidentifier() and not keyword.iskeyword(args[1]):
            return f"{self._name(args[0])}.{args[1]}"
        if type(owner) is dict and func == owner.get:
            return f"{self._name(owner)}[{args[0]!r}]"
        return f"{self._name(get)}()"

    def _container(self, get: Get, value: Any, items: tuple[Any, ...] | None) -> None:
        """A place whose container shall hold `items`; None for one that is always looked at closely."""
        if items is None:
            self.terms.append("False")
        elif type(value) is tuple:
            self._bound(get, value)
        else:
            self.terms.append(f"has_items({self._name(get)}(), {self._name(items)})")
