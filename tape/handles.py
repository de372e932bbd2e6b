"""Handles: how a registered hook is taken away again."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from ..tracing.watch import changes

_handles = itertools.count()


class RemovableHandle:
    """A number for a hook in the dict `hooks_dict`; ``remove()`` takes what is there under the number away again.

    What `extra_dict` (a dict or a list of dicts) has under it goes with it. Who makes a handle puts the hook there.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Tanh()
    >>> handle = layer.register_forward_hook(lambda module, args, output: output + 1)
    >>> handle.id in layer._forward_hooks
    True
    >>> handle.remove()
    >>> len(layer._forward_hooks)
    0
    """

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        extra = [] if extra_dict is None else [extra_dict] if isinstance(extra_dict, dict) else extra_dict
        self._dicts = (hooks_dict, *extra)
        self.id = next(number for number in _handles if number not in hooks_dict)  # which a file may have brought

    def __getstate__(self) -> Any:
        """PyTorch's: the dict, the number, and the other dicts."""
        return self._dicts[0], self.id, self._dicts[1:]

    def __setstate__(self, state: Any) -> None:
        """Take what a pickle holds, of one of PyTorch's too."""
        if isinstance(state, dict):  # of an earlier version
            state = (state["_hooks"], state["id"])
        self._dicts, self.id = ({} if state[0] is None else state[0], *(state[2:] and state[2] or ())), state[1]

    def follow(self, became: Mapping[int, Any]) -> None:
        """Be the handle of a hook in what the dicts, by their identity, became."""
        self._dicts = tuple([became.get(id(of), of) for of in self._dicts])

    def remove(self) -> None:
        hooks, *marks = self._dicts
        hooks.pop(self.id, None)
        for of in marks:
            if self.id in of:
                del of[self.id]
        changes.count += 1

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


def add_hook(hooks: Any, hook: Any, prepend: bool = False, marks: Sequence[tuple[Any, bool]] = ()) -> RemovableHandle:
    """Put `hook` last into a dict of hooks, or first into an ordered one; RemovableHandle.

    `marks` are pairs of a dict and whether the hook is marked there: what is said of hooks stands beside them.
    """
    handle = RemovableHandle(hooks, extra_dict=[table for table, _ in marks])
    hooks[handle.id] = hook
    changes.count += 1
    for table, is_marked in marks:
        if is_marked:
            table[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle
