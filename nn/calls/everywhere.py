"""Hooks of all modules: around calls, and when something is registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tape.handles import RemovableHandle
from ...tracing.watched_order import WatchedOrder
from ..hooks import BackwardHook, ForwardHook, ForwardPreHook

forward_pre, forward, backward_pre, backward = (WatchedOrder() for _ in range(4))
_registered = {kind: WatchedOrder() for kind in ("buffer", "module", "parameter")}


def is_hooked() -> bool:
    """Whether calls of modules have any hooks that belong to all."""
    return bool(forward_pre or forward or backward_pre or backward)


def hook_ids() -> tuple[int, ...]:
    """Which hooks there are; compiled functions depend on it."""
    return tuple(number for hooks in (forward_pre, forward, backward_pre, backward) for number in dict.keys(hooks))


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the forward of each module; what it returns replaces the arguments."""
    return RemovableHandle(forward_pre, ForwardPreHook(hook, False))


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the forward of each module, as `Module.register_forward_hook`."""
    return RemovableHandle(forward, ForwardHook(hook, with_kwargs, always_call))


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the backward of each module."""
    return RemovableHandle(backward_pre, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` after the backward of each module."""
    _refuse_both(full=True)
    return RemovableHandle(backward, BackwardHook(hook, full=True))


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Deprecated: a hook of the operation that gave a module's output, for each module."""
    _refuse_both(full=False)
    return RemovableHandle(backward, BackwardHook(hook, full=False))


def _refuse_both(full: bool) -> None:
    if any(hook.full is not full for hook in backward.values()):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only "
            "one of them."
        )


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` when a parameter is registered; what it returns takes its place."""
    return RemovableHandle(_registered["parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` when a buffer is registered; what it returns takes its place."""
    return RemovableHandle(_registered["buffer"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` when a submodule is registered; what it returns takes its place."""
    return RemovableHandle(_registered["module"], hook)


def as_registered(kind: str, module: Any, name: str, value: Any) -> Any:
    """`value`, or what the hooks put in its place."""
    for hook in list(dict.values(_registered[kind])):
        given = hook(module, name, value)
        value = value if given is None else given
    return value
