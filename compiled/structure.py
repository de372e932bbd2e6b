"""Arguments and results as trees: which leaves they have, and putting other leaves in their places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

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
    """`tree` with each leaf replaced by ``leaf(old)``; containers are new ones of the same kind."""
    if isinstance(tree, tuple):
        items = [rebuilt(item, leaf) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    if isinstance(tree, list):
        return [rebuilt(item, leaf) for item in tree]
    if isinstance(tree, dict):
        return {key: rebuilt(item, leaf) for key, item in tree.items()}
    return leaf(tree)


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
