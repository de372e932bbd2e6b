"""``torch.utils._pytree``: nested tuples, lists and dicts, and their leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...functional.trees import flatten_tree, unflatten_tree

__all__ = [
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_unflatten",
]

tree_flatten = flatten_tree


def tree_unflatten(leaves: Any, treespec: Any) -> Any:
    """The nest of this shape with these leaves."""
    return unflatten_tree(treespec, list(leaves))


def tree_leaves(tree: Any, is_leaf: Any = None) -> list[Any]:
    """The leaves in order."""
    return flatten_tree(tree)[0]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """A nest of the same make with ``func(leaf, ...)`` in the places of the leaves."""
    leaves, shape = flatten_tree(tree)
    others = [flatten_tree(rest)[0] for rest in rests]
    return unflatten_tree(shape, [func(*each) for each in zip(leaves, *others, strict=True)])


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """Call `func` with each leaf; the nest itself."""
    tree_map(func, tree, *rests)
    return tree


def tree_map_only(kind: Any, func: Callable[..., Any], tree: Any) -> Any:
    """`tree_map` for the leaves of a class, or of several; the others stay."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree)


def tree_all(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether `pred` is true for each leaf."""
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether `pred` is true for a leaf."""
    return any(map(pred, tree_leaves(tree)))
