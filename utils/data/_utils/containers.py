"""Containers rebuilt with other contents: a batch keeps the classes of the items that it is made of."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, MutableMapping, MutableSequence
from typing import Any


def like_mapping(like: Mapping[Any, Any], items: Callable[[], dict[Any, Any]]) -> Any:
    """A mapping of `like`'s class with other values; a dict where the class is made otherwise.

    `items` is called anew for the dict, as PyTorch does.
    """
    try:
        if isinstance(like, MutableMapping):
            clone = copy.copy(like)
            clone.update(items())
            return clone
        return type(like)(items())  # type: ignore[call-arg]
    except TypeError:
        return items()


def like_sequence(like: Any, items: Callable[[], Iterable[Any]]) -> Any:
    """A sequence of `like`'s class with other elements; a list where the class is made otherwise."""
    try:
        if isinstance(like, MutableSequence):
            clone = copy.copy(like)
            for i, item in enumerate(items()):
                clone[i] = item
            return clone
        return type(like)(list(items()))
    except TypeError:
        return list(items())


def is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")
