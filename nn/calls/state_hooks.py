"""Hooks around ``state_dict`` and ``load_state_dict``."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from ...tape.handles import RemovableHandle, add_hook
from ...tracing.watched_order import WatchedOrder

#: The attributes in which a module keeps them, under PyTorch's names.
STATE_HOOKS = (
    "_state_dict_pre_hooks",
    "_state_dict_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class _WrappedHook:
    """A hook before a module's own part is loaded; with a module, it is the first argument. Files hold it as this."""

    def __init__(self, hook: Callable[..., Any], module: Any = None) -> None:
        self.hook = hook
        self.with_module = module is not None
        if self.with_module:
            self.module = weakref.ref(module)

    def __call__(self, *args: Any) -> None:
        if not self.with_module:
            self.hook(*args)
            return
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        self.hook(module, *args)

    def __getstate__(self) -> dict[str, Any]:
        state = {"hook": self.hook, "with_module": self.with_module}
        return state | ({"module": self.module()} if self.with_module else {})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]
        if not self.with_module:
            return
        if state["module"] is None:
            raise RuntimeError("You are trying to revive the hook of a dead Module!")
        self.module = weakref.ref(state["module"])


def hooks_of(module: Any, name: str) -> list[Any]:
    """The module's hooks of one kind."""
    return list((module.__dict__.get(name) or {}).values())


class StateHooks:
    """What Module has of them."""

    def _state_hooks(self, name: str) -> WatchedOrder:
        hooks: WatchedOrder = self.__dict__.setdefault(name, WatchedOrder())
        return hooks

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before the module's state is collected."""
        return add_hook(self._state_hooks("_state_dict_pre_hooks"), hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` when it is; it may change the dict in place.

        >>> import tracegrad as tg
        >>> layer = tg.nn.Linear(1, 1)
        >>> handle = layer.register_state_dict_post_hook(lambda module, state, prefix, local: state.pop("bias"))
        >>> layer.state_dict()
        Traceback (most recent call last):
        RuntimeError: state_dict post-hook must return None; change the dict in place
        """
        hook._from_public_api = True  # type: ignore[attr-defined]  # in the dict is the hook itself
        return add_hook(self._state_hooks("_state_dict_hooks"), hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """As `register_state_dict_post_hook`, but what `hook` returns takes the dict's place.

        RuntimeError for a function that has been registered there, which its mark tells from others.
        """
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook. Register another function, such as a lambda that calls it."
            )
        return add_hook(self._state_hooks("_state_dict_hooks"), hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)``
        before the module's own part is loaded; it may change the dict, which is a copy, and the lists."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """The same; `hook` gets the module only with `with_module`."""
        return add_hook(
            self._state_hooks("_load_state_dict_pre_hooks"), _WrappedHook(hook, self if with_module else None)
        )

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` when the module and all below it are loaded.

        It may change the lists of keys in place, and so decide what is an error.
        """
        return add_hook(self._state_hooks("_load_state_dict_post_hooks"), hook)
