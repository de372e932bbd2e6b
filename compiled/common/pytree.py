"""Arguments and results as trees: which leaves they have, and putting other leaves in their places."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...tensors.tensor import Size
from .classes import is_a
from .exactness import Same, exact

Path = tuple[Any, ...]


class Excerpt(dict[str, Any]):
    """What a function reads of an argument `of`: entries of a dict, or attributes of an object, by name."""

    __slots__ = ("of",)

    def __init__(self, of: Any, items: dict[str, Any]) -> None:
        super().__init__(items)
        self.of = of

    def whole(self) -> Any:
        """The argument itself, or a copy with the entries that have been replaced here."""
        before = self.of if is_a(self.of, dict) else vars(self.of)
        if all(before[name] is item for name, item in self.items()):
            return self.of
        if is_a(self.of, dict):
            return type(self.of)({**self.of, **self})
        copied = object.__new__(type(self.of))
        vars(copied).update({**vars(self.of), **self})
        return copied


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Each leaf of nested tuples, lists and dicts with its path, in order."""
    if is_a(tree, (tuple, list)):
        for i, item in enumerate(tree):
            yield from leaves(item, (*path, i))
    elif is_a(tree, dict):
        for key, item in tree.items():
            yield from leaves(item, (*path, key))
    else:
        yield path, tree


def rebuilt(tree: Any, leaf: Callable[[Any], Any], made: dict[int, Any] | None = None) -> Any:
    """`tree` with each leaf replaced by ``leaf(old)``; containers are new ones of the same kind.

    Containers of other classes (a defaultdict) are leaves: nothing is known about making them. With `made` (by the
    identity of the old ones) a container that is met again is one again.
    """
    kind: Any = type(tree)
    new: Any
    if made is not None and id(tree) in made:
        return made[id(tree)]
    if kind is list:
        new = [rebuilt(item, leaf, made) for item in tree]
    elif kind in (dict, OrderedDict):
        new = kind((key, rebuilt(item, leaf, made)) for key, item in tree.items())
    elif kind in (tuple, Size):
        new = kind([rebuilt(item, leaf, made) for item in tree])
    elif issubclass(kind, tuple) and hasattr(tree, "_fields"):
        new = kind(*(rebuilt(item, leaf, made) for item in tree))
    else:
        return leaf(tree)
    if made is not None:
        made[id(tree)] = new
    return new


def filled(tree: Any) -> list[Any]:
    """What `rebuilt` takes for leaves, in order."""
    found: list[Any] = []
    rebuilt(tree, found.append)
    return found


def containers(tree: Any) -> Iterator[Any]:
    """The tuples, lists and dicts of the tree, outer ones first."""
    if is_a(tree, (tuple, list, dict)):
        yield tree
        for item in tree.values() if is_a(tree, dict) else tree:
            yield from containers(item)


def is_finite(tree: Any, within: tuple[int, ...] = ()) -> bool:
    """False for a tree in which a container is in itself."""
    if not is_a(tree, (tuple, list, dict)):
        return True
    if id(tree) in within:
        return False
    inner = (*within, id(tree))
    return all(is_finite(item, inner) for item in (tree.values() if is_a(tree, dict) else tree))


def at(tree: Any, path: Path) -> Any:
    """The leaf at `path`."""
    for key in path:
        tree = tree[key]
    return tree


def skeleton(tree: Any) -> Any:
    """A hashable description of the containers alone: keys of dicts are told by type and value, where another key of
    that value finds the item."""
    if is_a(tree, (tuple, list)):
        return (type(tree), tuple(skeleton(item) for item in tree))
    if is_a(tree, dict):
        return (type(tree), tuple((_key(key), skeleton(item)) for key, item in tree.items()))
    return None


def _key(key: Any) -> tuple[type, Any]:
    return exact(key) if _is_found_again(key) else (type(key), Same(key))


def _is_found_again(key: Any) -> bool:
    """False for a nan, which no other nan is equal to, and for a tuple with one."""
    if is_a(key, (tuple, frozenset)):
        return all(map(_is_found_again, key))
    return not is_a(key, (float, complex, np.inexact)) or bool(key == key)


DICTS = frozenset({dict, OrderedDict, Excerpt})  # whose items are what is in them, and nothing besides
