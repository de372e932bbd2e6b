"""Hooks around ``state_dict`` and ``load_state_dict``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...tape.handles import RemovableHandle
from ...tracing.watched_order import WatchedOrder

#: The attributes in which a module keeps them, under PyTorch's names.
STATE_HOOKS = (
    "_state_dict_pre_hooks",
    "_state_dict_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class SavedHook(NamedTuple):
    """A hook after ``state_dict``; one of the public ones may not give another dict."""

    hook: Callable[..., Any]
    public: bool

    def __call__(self, module: Any, into: Any, prefix: str, metadata: dict[str, Any]) -> Any:
        given = self.hook(module, into, prefix, metadata)
        if given is not None and self.public:
            raise RuntimeError("state_dict post-hook must return None; change the dict in place")
        return into if given is None else given


class LoadingHook(NamedTuple):
    """A hook before a module's own part is loaded."""

    hook: Callable[..., Any]
    with_module: bool

    def __call__(self, module: Any, *args: Any) -> None:
        self.hook(*((module, *args) if self.with_module else args))


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
        return RemovableHandle(self._state_hooks("_state_dict_pre_hooks"), hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` when it is; it may change the dict in place.

        >>> import tracegrad as tg
        >>> layer = tg.nn.Linear(1, 1)
        >>> handle = layer.register_state_dict_post_hook(lambda module, state, prefix, local: state.pop("bias"))
        >>> layer.state_dict()
        Traceback (most recent call last):
        RuntimeError: state_dict post-hook must return None; change the dict in place
        """
        return RemovableHandle(self._state_hooks("_state_dict_hooks"), SavedHook(hook, True))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """As `register_state_dict_post_hook`, but what `hook` returns takes the dict's place."""
        return RemovableHandle(self._state_hooks("_state_dict_hooks"), SavedHook(hook, False))

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)``
        before the module's own part is loaded; it may change the dict, which is a copy, and the lists."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """The same; `hook` gets the module only with `with_module`."""
        return RemovableHandle(self._state_hooks("_load_state_dict_pre_hooks"), LoadingHook(hook, with_module))

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` when the module and all below it are loaded.

        It may change the lists of keys in place, and so decide what is an error.
        """
        return RemovableHandle(self._state_hooks("_load_state_dict_post_hooks"), hook)
