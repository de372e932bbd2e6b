"""Hooks of optimizers: before and after a step, and around saving and loading; of one optimizer, or of all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from typing import Any

from ..tape.handles import RemovableHandle, add_hook
from ..tracing.counted import Counted
from ..tracing.watch import declare_read
from ..tracing.watched_order import WatchedOrder

#: Hooks of all optimizers, under PyTorch's names.
_global_optimizer_pre_hooks, _global_optimizer_post_hooks = WatchedOrder(), WatchedOrder()

#: The attributes in which an optimizer keeps its hooks, under PyTorch's names.
HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of each optimizer; it may return both anew."""
    return add_hook(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of each optimizer."""
    return add_hook(_global_optimizer_post_hooks, hook)


class StepHooks(Counted):
    """What Optimizer has of hooks."""

    _in_step = False

    def make_hooks(self) -> None:
        """No hooks yet; a copy, or what was pickled, begins without any, as in PyTorch."""
        dict.update(self.__dict__, {name: WatchedOrder() for name in HOOKS}, _in_step=False)

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles are made of: all but the hooks and the compiled step, which belong to this object."""
        left_out = {*HOOKS, "fused_step", "_in_step", "_in_making", "_latest_call"}
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        if HOOKS[0] not in self.__dict__:
            self.make_hooks()

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; what it returns replaces both.

        The first of `args` is the optimizer itself.

        >>> import tracegrad as tg
        >>> optimizer = tg.optim.SGD([tg.nn.Parameter(tg.ones(1))])
        >>> with optimizer.register_step_pre_hook(lambda *_: print("step")):
        ...     optimizer.step()
        step
        """
        return add_hook(self._hooks("_optimizer_step_pre_hooks"), hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return add_hook(self._hooks("_optimizer_step_post_hooks"), hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` before ``state_dict()``."""
        return add_hook(self._hooks("_optimizer_state_dict_pre_hooks"), hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` with what ``state_dict()`` gives; what it returns replaces that."""
        return add_hook(self._hooks("_optimizer_state_dict_post_hooks"), hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` with a shallow copy of what is loaded; its result is loaded instead."""
        return add_hook(self._hooks("_optimizer_load_state_dict_pre_hooks"), hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(optimizer)`` after ``load_state_dict()``."""
        return add_hook(self._hooks("_optimizer_load_state_dict_post_hooks"), hook, prepend)

    def _hooks(self, name: str) -> WatchedOrder:
        if name not in self.__dict__:  # the program's __setstate__ has not called this class's
            self.make_hooks()
        hooks: WatchedOrder = self.__dict__[name]
        return hooks

    # ------------------------------------------------------------------------------------------------------- running

    def with_step_hooks(self, step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``step(self, *args, **kwargs)`` with hooks around it, once where one step calls another.

        Difference: in PyTorch a subclass's step that calls its base's has hooks around both, if the base was used.
        """
        own = self.__dict__
        if HOOKS[0] not in own:
            self.make_hooks()
        before, after = own[HOOKS[0]], own[HOOKS[1]]
        tables = (_global_optimizer_pre_hooks, before, after, _global_optimizer_post_hooks)
        has_hooks = declare_read("whether hooks are around the optimizer's step", partial(any, tables))
        if self._in_step or not has_hooks:
            return step(self, *args, **kwargs)
        declare_read("hooks around the optimizer's step", lambda: tuple(chain(*tables)))
        args = (self, *args)  # as hooks see them in PyTorch
        try:
            object.__setattr__(self, "_in_step", True)
            for hook in [*_global_optimizer_pre_hooks.values(), *before.values()]:
                args, kwargs = _replaced(step, hook(self, args, kwargs), args, kwargs)
            result = step(*args, **kwargs)
            for hook in [*after.values(), *_global_optimizer_post_hooks.values()]:
                hook(self, args, kwargs)
            return result
        finally:
            object.__setattr__(self, "_in_step", False)

    def with_state_dict_hooks(self, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """``make()`` with hooks around it."""
        for hook in list(self._hooks("_optimizer_state_dict_pre_hooks").values()):
            hook(self)
        saved = make()
        for hook in list(self._hooks("_optimizer_state_dict_post_hooks").values()):
            given = hook(self, saved)
            saved = saved if given is None else given
        return saved

    def with_load_hooks(self, load: Callable[[Any], None], saved: Any) -> None:
        """``load(saved)`` with hooks around it."""
        before = list(self._hooks("_optimizer_load_state_dict_pre_hooks").values())
        saved = dict(saved) if before else saved
        for hook in before:
            given = hook(self, saved)
            saved = saved if given is None else given
        load(saved)
        for hook in list(self._hooks("_optimizer_load_state_dict_post_hooks").values()):
            hook(self)


def _replaced(step: Any, given: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    if given is None:
        return args, kwargs
    if not isinstance(given, tuple) or len(given) != 2:
        raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {given}.")
    return given
