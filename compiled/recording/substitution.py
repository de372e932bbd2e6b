"""Places that hold Python numbers: finding them, and putting something else there for the time of a recording.

A *spot* says where a number is found at each call: an argument, or what a `ValueGuard` looks at, and the keys that lead
from there into lists, dicts and tuples. Its *key* names the storage itself (this cell, this dict's entry), so that two
spots which lead to one storage are known to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..common.classes import is_a
from ..common.pytree import DICTS, Path, at
from ..guards.sources import MISSING, NOT_THERE, Source
from ..symbolic.number import KINDS

LARGEST = 256  # items of a container that are looked at one by one
_CHANGEABLE = DICTS | {defaultdict, list}

Key = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class NumberLocation:
    """Where a number is found. `get` is None for arguments, whose `path` leads from ``(args, kwargs)``."""

    name: str
    get: Source | None
    path: Path

    @property
    def label(self) -> Key:
        """Equal for the same spot in two recordings."""
        return (self.name, None if self.get is None else key_at(self.get), self.path)

    def read(self, call_arguments: Any) -> Any:
        """What is there now; a LookupError or the like if nothing is."""
        return at(call_arguments if self.get is None else self.get.now(), self.path)


def key_of(spot: NumberLocation, call_arguments: Any) -> Key | None:
    """The storage that `spot` leads to now, None if that is not one where something may be put."""
    value, path = (call_arguments, spot.path) if spot.get is None else (spot.get.now(), spot.path)
    key = ("argument",) if spot.get is None else key_at(spot.get)
    for item in path:
        key = inner_key(value, key, item)
        try:
            value = value[item]
        except NOT_THERE:  # it is not there any more, or not read
            return None
    return key


def key_at(source: Source) -> Key | None:
    """The storage of the source's value."""
    storage = source.storage()
    return None if storage is None else storage.key


def inner_key(container: Any, key: Key | None, item: Any) -> Key | None:
    if type(container) in _CHANGEABLE:
        return ("item", id(container), item)
    return None if key is None else (*key, "in", item)


def found_in(
    value: Any, key: Key | None, kinds: tuple[type, ...] = KINDS, path: Path = (), within: tuple[int, ...] = ()
) -> Iterator[tuple[Any, ...]]:
    """Each object of one of `kinds` at or below `value` as (path, key, object), where something else may be put in its
    place."""
    if type(value) in kinds:
        if key is not None:
            yield path, key, value
        return
    kind = type(value)
    if id(value) in within or not _is_open(kind) or len(value) > LARGEST:
        return
    for item, inner in items_in(value):
        yield from found_in(inner, inner_key(value, key, item), kinds, (*path, item), (*within, id(value)))


def is_changeable(kind: type) -> bool:
    """True for containers in which items can be replaced, and that hold nothing besides."""
    return kind in _CHANGEABLE


def items_in(container: Any) -> list[tuple[Any, Any]]:
    """What is in it by key or position, all at once: others may change it."""
    return list(container.items() if is_a(container, dict) else enumerate(container))


def _is_open(kind: type) -> bool:
    named = issubclass(kind, tuple) and hasattr(kind, "_fields") and kind.__new__ is not tuple.__new__
    return kind is tuple or kind in _CHANGEABLE or named


class Replaced:
    """Things put in other things' places, and back."""

    def __init__(self) -> None:
        self._undo: list[tuple[Callable[[], Any], Callable[[Any], None], Any, Any]] = []
        # The same of what `restore` has replaced: what it has put there, and what was there.
        self._hidden: list[tuple[Callable[[], Any], Callable[[Any], None], Any, Any]] = []

    def replaced(self, value: Any, key: Key | None, new: dict[Key, Any], within: tuple[int, ...] = ()) -> Any:
        """`value` with `new` things in the storages below it: lists and dicts are changed, tuples are made anew."""
        if key in new:
            return new[key]
        kind = type(value)
        if id(value) in within or not _is_open(kind) or len(value) > LARGEST:
            return value
        inner = (*within, id(value))
        if kind in _CHANGEABLE:
            for item, old in items_in(value):
                self._put_item(value, item, old, self.replaced(old, inner_key(value, key, item), new, inner))
            return value
        items = [self.replaced(old, inner_key(value, key, i), new, inner) for i, old in enumerate(value)]
        if all(a is b for a, b in zip(items, value, strict=True)):
            return value
        return tuple(items) if kind is tuple else kind(*items)

    def _put_item(self, container: Any, item: Any, old: Any, new: Any) -> None:
        if new is not old:
            kind = dict if is_a(container, dict) else list
            get = lambda: kind.__getitem__(container, item)  # noqa: E731
            self.put(get, lambda thing: kind.__setitem__(container, item, thing), old, new)

    def put(self, get: Callable[[], Any], store: Callable[[Any], None], old: Any, new: Any) -> None:
        """Store `new`; `restore` will store `old`."""
        self._undo.append((get, store, old, new))
        store(new)

    def put_at(self, source: Source, new: dict[Key, Any]) -> None:
        """Put the `new` things into the storage of the source's value, and into what is below it."""
        old, storage = source.now(), source.storage()
        found = self.replaced(old, None if storage is None else storage.key, new)
        if found is not old and storage is not None:
            self.put(source.now, storage.store, old, found)

    def put_other(self, source: Source, other: Any) -> None:
        """Put something else in the place of the source's value."""
        storage = source.storage()
        assert storage is not None
        self.put(source.now, storage.store, source.now(), other)

    def add_entry(self, space: dict[str, Any], name: str, value: Any) -> None:
        """Give `space` an entry that it does not have; `restore` will take it away."""
        self.put(lambda: space.get(name, MISSING), lambda thing: _set_or_delete(space, name, thing), MISSING, value)

    def restore(self, plain: Callable[[Any], Any]) -> None:
        """Everything back; what the program has stored in such a place stays, made `plain`. May be done twice."""
        for get, store, old, new in reversed(self._undo):
            try:
                now = get()
            except (LookupError, AttributeError):
                continue  # the program has deleted it
            if now is not MISSING:
                shown = old if now is new else plain(now)
                if shown is not now:
                    store(shown)
                    self._hidden.append((get, store, shown, now))

    def put_again(self) -> bool:
        """Put what was there before `restore` in once more; False if meanwhile somebody has stored something else."""
        is_same, hidden = True, self._hidden[::-1]
        self._hidden.clear()
        for get, store, shown, new in hidden:
            try:
                if get() is shown:
                    store(new)
                    continue
            except (LookupError, AttributeError):
                pass
            is_same = False
        return is_same

    def forget(self) -> None:
        """There is nothing to be put back any more."""
        self._undo.clear()
        self._hidden.clear()


def _set_or_delete(space: dict[str, Any], name: str, value: Any) -> None:
    if value is MISSING:
        del space[name]
    else:
        space[name] = value


def unwrapped(value: Any, plain: Callable[[Any], Any], within: tuple[int, ...] = ()) -> Any:
    """`value` with its stand-ins replaced by `plain` ones: lists and dicts are changed, tuples are made anew."""
    kind = type(value)
    if id(value) in within:
        return value
    within = (*within, id(value))
    if kind in _CHANGEABLE:
        for item, old in items_in(value):
            new = unwrapped(old, plain, within)
            if new is not old:
                value[item] = new
        return value
    if _is_open(kind):
        items = [unwrapped(old, plain, within) for old in value]
        if any(a is not b for a, b in zip(items, value, strict=True)):
            return tuple(items) if kind is tuple else kind(*items)
    return plain(value)
