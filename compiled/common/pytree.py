"""Arguments and results as trees: which leaves they have, and putting other leaves in their places."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from ...tensors.tensor import Size

Path = tuple[Any, ...]


def leaves(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Each leaf of nested tuples, lists and dicts with its path, in order."""
    if isinstance(tree, (tuple, list)):
        for i, item in enumerate(tree):
            yield from leaves(item, (*path, i))
    elif isinstance(tree, dict):
        for key, item in tree.items():
            yield from leaves(item, (*path, key))
    else:
        yield path, tree


def rebuilt(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """`tree` with each leaf replaced by ``leaf(old)``; containers are new ones of the same kind.

    Containers of other classes (a defaultdict) are leaves: nothing is known about making them.
    """
    kind = type(tree)
    if kind is list:
        return [rebuilt(item, leaf) for item in tree]
    if kind in (dict, OrderedDict):
        return kind((key, rebuilt(item, leaf)) for key, item in tree.items())
    if kind in (tuple, Size):
        return kind([rebuilt(item, leaf) for item in tree])
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return kind(*(rebuilt(item, leaf) for item in tree))
    return leaf(tree)


def containers(tree: Any) -> Iterator[Any]:
    """The tuples, lists and dicts of the tree, outer ones first."""
    if isinstance(tree, (tuple, list, dict)):
        yield tree
        for item in tree.values() if isinstance(tree, dict) else tree:
            yield from containers(item)


def at(tree: Any, path: Path) -> Any:
    """The leaf at `path`."""
    for key in path:
        tree = tree[key]
    return tree


def skeleton(tree: Any) -> Any:
    """A hashable description of the containers alone."""
    if isinstance(tree, (tuple, list)):
        return (type(tree), tuple(skeleton(item) for item in tree))
    if isinstance(tree, dict):
        return (dict, tuple((key, skeleton(item)) for key, item in tree.items()))
    return None
