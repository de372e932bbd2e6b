"""A new tensor before it has memory: what the library itself keeps in one."""

from __future__ import annotations

import types
from typing import Any

from ..tracing.watch import local

NO_HOOKS: Any = types.MappingProxyType({})  # of most tensors

#: The slots of a tensor, besides those of an Array and its `__dict__`.
FIELDS = (
    "_accumulator", "_base", "_grad", "_node", "_output", "_requires", "_seen_version", "is_of_program", "leaf_hooks",
    "memory", "post_accumulate_hooks", "view_of_several", "viewed_without_grad",
)  # fmt: skip


def blank(kind: Any) -> Any:
    """A new tensor of that class, without memory."""
    tensor: Any = object.__new__(kind)
    tensor._requires = tensor.viewed_without_grad = tensor.is_of_program = False
    tensor._grad = tensor._node = tensor._base = tensor._accumulator = tensor.memory = None
    tensor._output = tensor._seen_version = 0
    tensor.leaf_hooks = tensor.post_accumulate_hooks = NO_HOOKS
    tensor.view_of_several = ""
    listening = local.watcher
    if listening is not None:
        listening.made(tensor)
    return tensor


def copy_fields(of: Any, to: Any) -> None:
    """Give one tensor all that the library and the program keep in another."""
    for name in FIELDS:
        setattr(to, name, getattr(of, name))
    vars(to).update(vars(of))
