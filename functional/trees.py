"""Nested tuples, lists and dicts as a list of leaves and the shape of the nest."""

from __future__ import annotations

from typing import Any


def flatten_tree(tree: Any) -> tuple[list[Any], Any]:
    """The leaves in order, and a shape that compares equal for nests of the same make."""
    if isinstance(tree, dict):
        parts = [flatten_tree(tree[key]) for key in tree]
        return [leaf for leaves, _ in parts for leaf in leaves], (dict, tuple(tree), tuple(s for _, s in parts))
    if isinstance(tree, (tuple, list)):
        parts = [flatten_tree(item) for item in tree]
        return [leaf for leaves, _ in parts for leaf in leaves], (type(tree), None, tuple(s for _, s in parts))
    return [tree], None


def unflatten_tree(shape: Any, leaves: list[Any]) -> Any:
    """The nest of this shape with these leaves."""
    return _taken(shape, iter(leaves))


def _taken(shape: Any, leaves: Any) -> Any:
    if shape is None:
        return next(leaves)
    kind, keys, inner = shape
    items = [_taken(each, leaves) for each in inner]
    if keys is not None:
        return dict(zip(keys, items, strict=True))
    return kind(*items) if hasattr(kind, "_fields") else kind(items)
