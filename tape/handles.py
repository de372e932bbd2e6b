"""Handles: how a registered hook is taken away again."""

from __future__ import annotations

import itertools
from typing import Any

from ..tracing.watch import changes

_handles = itertools.count()


class RemovableHandle:
    """What registering a hook returns; ``remove()`` takes the hook away again."""

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self._hooks = hooks
        self.id = next(number for number in _handles if number not in hooks)  # which a file may have brought
        hooks[self.id] = hook
        changes.count += 1

    def __setstate__(self, state: Any) -> None:
        """Take what a pickle holds, of one of PyTorch's too: the dict, the number, and other dicts with it."""
        self._hooks, self.id = (state["_hooks"], state["id"]) if isinstance(state, dict) else state[:2]

    def follow(self, hooks: Any) -> None:
        """Be the handle of the hook in `hooks`, what the dict has become, if it was the handle of one in it."""
        if self.id in hooks and self._hooks.keys() == hooks.keys():
            self._hooks = hooks

    def remove(self) -> None:
        self._hooks.pop(self.id, None)
        changes.count += 1

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


def add_hook(hooks: Any, hook: Any, prepend: bool) -> RemovableHandle:
    """Put `hook` last into an ordered dict of hooks, or first; RemovableHandle."""
    handle = RemovableHandle(hooks, hook)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
