"""What parametrizations have computed within ``parametrize.cached()``: state that outlives calls, which recordings
notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tracing.watch import Watcher, changes, declare_read, forbid, watcher


class Cache:
    """What was computed, by module and name."""

    depth = 0
    values: dict[tuple[int, str], Any] = {}
    opened_in: Watcher | None = None  # the recording that has entered it

    def enter(self) -> None:
        if not self.depth:
            self.opened_in = watcher()
            changes.count += 1
        self.depth += 1

    def leave(self) -> None:
        self.depth -= 1
        if not self.depth:
            self.values.clear()
            self.opened_in = None
            changes.count += 1

    def is_from_outside(self) -> bool:
        """Whether it is open, and was before the present recording, if there is one."""
        return self.depth > 0 and (self.opened_in is None or self.opened_in is not watcher())

    def found(self, key: tuple[int, str], compute: Callable[[], Any]) -> Any:
        """What `compute` gives; while it is open, what that gave for the first time."""
        if declare_read("whether parametrize.cached() is on", self.is_from_outside):
            forbid("a parametrized tensor that parametrize.cached() keeps from call to call", "Enter it inside.")
        if not self.depth:
            return compute()
        if key not in self.values:
            self.values[key] = compute()
        return self.values[key]


cache = Cache()
