"""Names of ``torch.nn.modules.module`` that programs read: the hooks of all modules."""

from __future__ import annotations

from ...nn.calls.everywhere import tables

_global_forward_pre_hooks = tables["_forward_pre_hooks"]
_global_forward_hooks = tables["_forward_hooks"]
_global_forward_hooks_with_kwargs = tables["_forward_hooks_with_kwargs"]
_global_forward_hooks_always_called = tables["_forward_hooks_always_called"]
_global_backward_pre_hooks = tables["_backward_pre_hooks"]
_global_backward_hooks = tables["_backward_hooks"]

__all__ = [
    "_global_backward_hooks",
    "_global_backward_pre_hooks",
    "_global_forward_hooks",
    "_global_forward_hooks_always_called",
    "_global_forward_hooks_with_kwargs",
    "_global_forward_pre_hooks",
]
