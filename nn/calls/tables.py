"""Where hooks around calls are kept, under PyTorch's names: the hooks themselves, and beside them what is said of each.

A module has these dicts as attributes; those of all modules are in `everywhere.py`. Programs read and change them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

#: Dicts of hooks by the numbers of their handles.
HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
#: The numbers of those hooks that were registered with an option.
MARKS = ("_forward_pre_hooks_with_kwargs", "_forward_hooks_with_kwargs", "_forward_hooks_always_called")
TABLES = (*HOOKS, *MARKS)


class ForwardHook(NamedTuple):
    """A hook before or after a forward, and how it is called."""

    hook: Callable[..., Any]
    with_kwargs: bool
    always: bool = False

    def before(self, module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The arguments after the hook has seen them."""
        if not self.with_kwargs:
            given = self.hook(module, args)
            return args if given is None else given if isinstance(given, tuple) else (given,), kwargs
        given = self.hook(module, args, kwargs)
        if given is None:
            return args, kwargs
        if not isinstance(given, tuple) or len(given) != 2:
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {given}."
            )
        return given

    def after(self, module: Any, args: Any, kwargs: Any, output: Any) -> Any:
        """The output after the hook has seen it."""
        given = self.hook(module, args, kwargs, output) if self.with_kwargs else self.hook(module, args, output)
        return output if given is None else given


def before_forward(tables: Mapping[str, Any]) -> Iterator[ForwardHook]:
    """The hooks before a forward, in order."""
    with_kwargs = tables["_forward_pre_hooks_with_kwargs"]
    return (ForwardHook(hook, number in with_kwargs) for number, hook in tables["_forward_pre_hooks"].items())


def after_forward(tables: Mapping[str, Any]) -> Iterator[ForwardHook]:
    """The hooks after a forward, in order."""
    with_kwargs, always = tables["_forward_hooks_with_kwargs"], tables["_forward_hooks_always_called"]
    hooks = tables["_forward_hooks"].items()
    return (ForwardHook(hook, number in with_kwargs, number in always) for number, hook in hooks)


def backward(tables: Mapping[str, Any], full: bool) -> list[Callable[..., Any]]:
    """The hooks of a backward pass, those of the one kind or of the other: a module has one kind at most."""
    return list(tables["_backward_hooks"].values()) if tables["_is_full_backward_hook"] is full else []


def identities(tables: Mapping[str, Any]) -> tuple[Any, ...]:
    """Which hooks there are, in order, and how they are called; compiled functions depend on it."""
    found: list[Any] = [tuple(dict.keys(tables.get(name, {}))) for name in TABLES]
    return (*found, tables.get("_is_full_backward_hook"))


def require_one_kind(tables: Mapping[str, Any], full: bool, where: str) -> None:
    """RuntimeError where there are, or have been, backward hooks of the other kind."""
    if tables["_is_full_backward_hook"] is (not full):
        raise RuntimeError(
            f"Cannot use both regular backward hooks and full backward hooks {where}. Please use only one of them."
        )
