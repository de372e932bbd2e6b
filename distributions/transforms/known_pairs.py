"""What a transform with ``cache_size=1`` has been given and what it made of it, for as long as the result lives.

``t.inv(y)`` of a y that t has made is the very x then, where computing it would lose what was rounded away. The pairs
are kept beside the transforms, not in them: a transform is no state of a compiled step.
"""

from __future__ import annotations

import weakref
from typing import Any


class _Pairs:
    """Values by the transform and the tensor that they were computed from; an entry goes with either."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, int], tuple[Any, Any, Any]] = {}

    def get(self, transform: Any, key: Any) -> Any:
        """What is known for the tensor `key`, or None."""
        found = self._entries.get((id(transform), id(key)))
        if found is None or found[0]() is not transform or found[1]() is not key:
            return None
        return found[2]() if isinstance(found[2], weakref.ref) else found[2]

    def put(self, transform: Any, key: Any, value: Any) -> None:
        """Know `value` for the tensor `key`."""
        name = (id(transform), id(key))

        def forget(gone: Any) -> None:
            self._entries.pop(name, None)

        self._entries[name] = (weakref.ref(transform, forget), weakref.ref(key, forget), value)


_preimages, _images = _Pairs(), _Pairs()


def keep(transform: Any, x: Any, y: Any) -> None:
    """Remember that `transform` maps x to y; x is kept for as long as y lives."""
    _preimages.put(transform, y, x)
    _images.put(transform, x, weakref.ref(y))


def image_of(transform: Any, x: Any) -> Any:
    """The y that `transform` has made of this x, or None."""
    return _images.get(transform, x)


def preimage_of(transform: Any, y: Any) -> Any:
    """The x of which `transform` has made this y, or None."""
    return _preimages.get(transform, y)
