"""Handles: how a registered hook is taken away again."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ..tracing.watch import changes

_handles = itertools.count()


class RemovableHandle:
    """What registering a hook returns; ``remove()`` takes the hook away again."""

    def __init__(self, hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> None:
        self._hooks = hooks
        self.id = next(_handles)
        hooks[self.id] = hook
        changes.count += 1

    def remove(self) -> None:
        self._hooks.pop(self.id, None)
        changes.count += 1

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()
