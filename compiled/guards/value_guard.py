"""One guard of the environment: a source and its value, and quick ways to see that the very same objects are there."""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from operator import is_
from typing import Any

from ..common.classes import is_a
from ..common.effect_lines import with_lines
from ..common.pytree import Path
from .class_members import users_classes
from .sources import Source
from .states import are_same_keys, state
from .value_kinds import MUTABLE, own_attributes


@dataclass(frozen=True, eq=False)
class ValueGuard:
    """A guard: a source and its value. `value` is kept so that its identity stays taken."""

    source: Source
    code: types.CodeType | None  # that reads it, if that is known
    value: Any
    state: Any
    free: frozenset[Path] = frozenset()  # the paths to numbers that are data
    by_identity: bool = False  # an equal value that is another object is another value

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self.source.describe()

    @property
    def line(self) -> str:
        """The user's line."""
        return writer_of(self.code, self.name)

    def holds(self) -> bool:
        return bool(state(self.source.now(), self.free, self.by_identity) == self.state)

    def opened(self, free: frozenset[Path]) -> ValueGuard:
        """The same fact, in which the numbers at the paths `free` may be others of the same type."""
        return ValueGuard(self.source, self.code, self.value, state(self.value, free), free)


def guard_at(source: Source, code: types.CodeType | None, by_identity: bool = False) -> ValueGuard:
    """The guard on what is at a source now; `code` reads it."""
    value = source.now()
    by_identity = by_identity and source.holds(value)  # else it is made when it is looked at
    return ValueGuard(source, code, value, state(value, by_identity=by_identity), by_identity=by_identity)


def flat_items(value: Any) -> tuple[Any, ...] | None:
    """The class and the items of a container that holds no containers itself, and is no more than these (of a dict keys
    and values); None otherwise."""
    if not is_a(value, (list, tuple, dict)) or is_a(value, defaultdict):
        return None
    if _has_its_own_iter(type(value)) or _has_attributes(value):
        return None
    items = (*value, *value.values()) if is_a(value, dict) else tuple(value)
    return None if any(is_a(item, MUTABLE) for item in items) else (type(value), *items)


def _has_attributes(value: Any) -> bool:
    """True for a user's container that has attributes, which another one with its items may not have."""
    return bool(users_classes(type(value))) and own_attributes(value) is not None


def _has_its_own_iter(kind: type) -> bool:
    """True for a user's class of containers that goes through them in its own way."""
    names = ("__iter__", "__len__", "values")
    return any(name in vars(base) for base in users_classes(kind) for name in names)


def has_items(value: Any, items: tuple[Any, ...]) -> bool:
    """True for a container of that class with these very objects: the quick way to see that nothing has changed."""
    if type(value) is not items[0]:
        return False
    if is_a(value, dict):
        return 2 * len(value) == len(items) - 1 and all(map(is_, (*value, *value.values()), items[1:]))
    return len(value) == len(items) - 1 and all(map(is_, value, items[1:]))


def others_in(fact: ValueGuard) -> Callable[[], bool]:
    """Whether the items beside the opened ones are the very same objects: the quick answer for a flat container."""
    value, open_keys = fact.value, {path[0] for path in fact.free}
    named = is_a(value, dict)
    items = [*(value.items() if named else enumerate(value))]  # at once: other threads may change it
    others = [(key, item) for key, item in items if key not in open_keys]
    if any(len(path) > 1 for path in fact.free) or any(is_a(item, MUTABLE) for _, item in others):
        return lambda: False
    kind, count, keys, source = type(value), len(value), tuple(value) if named else None, fact.source

    def same() -> bool:
        now = source.now()
        if type(now) is not kind or len(now) != count or (keys is not None and not are_same_keys(now, keys)):
            return False
        return all(now[key] is item for key, item in others)

    return same


def writer_of(code: types.CodeType | None, name: str) -> str:
    """The line of `code` that stores `name`, else one that mentions it, else the line where it starts."""
    if code is None:
        return "a line that is not known"
    mentioned = 0
    for instruction, line in with_lines(code):
        if instruction.argval == name.rsplit(".", 1)[-1]:
            if instruction.opname.startswith("STORE_"):
                return f"{code.co_filename}:{line}"
            mentioned = mentioned or line
    return f"{code.co_filename}:{mentioned or code.co_firstlineno}"
