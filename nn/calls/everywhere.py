"""Hooks of all modules: around calls, and when something is registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tape.handles import RemovableHandle, add_hook
from ...tracing.entries import TableRead
from ...tracing.watch import changes
from ...tracing.watched_order import WatchedOrder
from .tables import HOOKS, TABLES, identities, require_one_kind

#: As a module has them.
tables: dict[str, Any] = {name: WatchedOrder() for name in TABLES} | {"_is_full_backward_hook": None}
_own = [tables[name] for name in HOOKS]
_registered = {kind: WatchedOrder() for kind in ("buffer", "module", "parameter")}


def is_hooked() -> bool:
    """Whether calls of modules have any hooks that belong to all."""
    return any(_own)


#: Which hooks there are, and how they are called; compiled functions depend on it.
HOOK_IDS = TableRead.of(tables, TABLES, identities, tables)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, args)`` before the forward of each module; what it returns replaces the arguments."""
    return add_hook(tables["_forward_pre_hooks"], hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the forward of each module, as `Module.register_forward_hook`."""
    marks = [
        (tables["_forward_hooks_with_kwargs"], with_kwargs),
        (tables["_forward_hooks_always_called"], always_call),
    ]
    return add_hook(tables["_forward_hooks"], hook, marks=marks)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before the backward of each module."""
    return add_hook(tables["_backward_pre_hooks"], hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` after the backward of each module."""
    return _add_backward(hook, full=True)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Deprecated: a hook of the operation that gave a module's output, for each module."""
    return _add_backward(hook, full=False)


def _add_backward(hook: Callable[..., Any], full: bool) -> RemovableHandle:
    require_one_kind(tables, full, "as a global Module hook")
    tables["_is_full_backward_hook"] = full
    changes.count += 1
    return add_hook(tables["_backward_hooks"], hook)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, parameter)`` when a parameter is registered; what it returns takes its place."""
    return add_hook(_registered["parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` when a buffer is registered; what it returns takes its place."""
    return add_hook(_registered["buffer"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` when a submodule is registered; what it returns takes its place."""
    return add_hook(_registered["module"], hook)


def as_registered(kind: str, module: Any, name: str, value: Any) -> Any:
    """`value`, or what the hooks put in its place."""
    for hook in list(dict.values(_registered[kind])):
        given = hook(module, name, value)
        value = value if given is None else given
    return value
