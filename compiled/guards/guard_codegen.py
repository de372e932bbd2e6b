"""Whether a function's surroundings are as they were, as one Python expression over all the places.

`Surroundings.hold` says what is asked. The expression is true for the same objects in the same places, which takes
20 ns for most of them, and false for everything that deserves a closer look.
"""

from __future__ import annotations

import functools
import keyword
import types
from collections.abc import Callable
from typing import Any

from . import looks
from .environment import Surroundings, has_items
from .reachability import MISSING, attribute, attribute_count, cell_contents, itself

Get = Callable[[], Any]


class Steady:
    """`terms` are to be joined by ``and``; they use `names`, and may raise `GONE`, which means no."""

    GONE = Exception  # a variable, an attribute, the contents of a cell; a user's __getattr__ raises what it likes

    def __init__(self, surroundings: Surroundings) -> None:
        self.terms: list[str] = []
        self.names: dict[str, Any] = {"has_items": has_items}
        self._known: dict[int, str] = {}  # names of things, by identity
        for get, value, _ in surroundings.bindings:
            self._bound(get, value)
        for fact, items in surroundings.contents:
            self._container(fact.get, fact.value, items)
        for same, fact in surroundings.opened:
            self.terms.append(f"({self._name(same)}() or {self._name(fact.holds)}())")
        self.terms = list(dict.fromkeys(self.terms))  # two functions may read one variable

    def _name(self, value: Any) -> str:
        if id(value) not in self._known:
            self._known[id(value)] = f"k{len(self.names)}"
            self.names[self._known[id(value)]] = value  # keeps it, and so its id
        return self._known[id(value)]

    def _bound(self, get: Get, value: Any) -> None:
        """A place that shall hold `value` itself."""
        func: Any = get.func if isinstance(get, functools.partial) else get
        args = get.args if isinstance(get, functools.partial) else ()
        if func is attribute_count:
            if looks.own_attributes(args[0]) is not None:
                self.terms.append(f"len({self._name(args[0])}.__dict__) == {value}")
        elif func is looks.size:
            self.terms.append(f"len({self._name(args[0])}) == {value}")
        elif func is looks.has_class:
            self.terms.append(f"type({self._name(args[0])}) is {self._name(args[1])}")
        elif func is looks.still:
            self.terms.append(f"{self._name(args[0])}.{args[1]} is {self._name(args[2])}")
        elif value is MISSING and _is_entry(func):
            self.terms.append(f"{args[0]!r} not in {self._name(func.__self__)}")
        elif func is not itself:  # a value that is kept is what it was
            self.terms.append(f"{self._place(get, func, args, value)} is {self._name(value)}")

    def _place(self, get: Get, func: Any, args: tuple[Any, ...], value: Any) -> str:
        if value is MISSING:
            return f"{self._name(get)}()"
        if func is cell_contents:
            return f"{self._name(args[0])}.cell_contents"
        if func in (attribute, looks.member) and args[1].isidentifier() and not keyword.iskeyword(args[1]):
            return f"{self._name(args[0])}.{args[1]}"
        if _is_entry(func):
            return f"{self._name(func.__self__)}[{args[0]!r}]"
        return f"{self._name(get)}()"

    def _container(self, get: Get, value: Any, items: tuple[Any, ...] | None) -> None:
        """A place whose container shall hold `items`; None for one that is always looked at closely."""
        if items is None:
            self.terms.append("False")
        elif type(value) is tuple:
            self._bound(get, value)
        else:
            kept = isinstance(get, functools.partial) and get.func is itself
            place = self._name(value) if kept else f"{self._name(get)}()"
            self.terms.append(f"has_items({place}, {self._name(items)})" if items or not kept else f"not {place}")


def _is_entry(func: Any) -> bool:
    """True for the `get` of a dict, or of what shows a class's members."""
    return getattr(func, "__name__", "") == "get" and type(func.__self__) in (dict, types.MappingProxyType)
