"""Hooks in the order in which they are called: ordered dicts whose changes compiled functions notice."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .watch import WatchedDict, forbid


class WatchedOrder(WatchedDict, OrderedDict):  # type: ignore[misc]
    """An OrderedDict that counts its changes."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name!r}: hooks are entries of the dict, which has no attributes of its own")

    def move_to_end(self, key: Any, last: bool = True) -> None:
        forbid("changing the order of hooks", "Change it outside.")
        super().move_to_end(key, last)
        self._count_change()

    def __reduce__(self) -> Any:
        return WatchedOrder, (list(self.items()),)
