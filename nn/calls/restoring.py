"""Modules under pickle: what a file or a copy holds of one, made here or by PyTorch, becomes its attributes."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from ...tape.handles import RemovableHandle
from ...tracing.watch import WatchedDict
from ...tracing.watched_order import WatchedOrder
from ..hooks import BackwardHook, ForwardHook, ForwardPreHook
from ..option import Option
from ..registry import REGISTRIES
from .calling import HOOKS
from .state_hooks import STATE_HOOKS, LoadingHook, SavedHook

#: What PyTorch keeps beside its hooks, and computes anew where it needs it.
_LEFT_OUT = frozenset({"_forward_hooks_with_kwargs", "_forward_hooks_always_called", "_forward_pre_hooks_with_kwargs",
                       "_is_full_backward_hook", "_flat_weight_refs", "_backward_compile_hooks"})  # fmt: skip


def restore(module: Any, state: Mapping[str, Any]) -> None:
    """Give `module` the attributes in `state`. Registries and hooks that are missing are empty ones."""
    kept = {name: value for name, value in state.items() if name not in _LEFT_OUT and not _is_computed(module, name)}
    for name in REGISTRIES:
        kept[name] = _as(WatchedDict, kept.get(name, {}))
    handles = [value for value in kept.values() if isinstance(value, RemovableHandle)]
    for name in (*HOOKS, *STATE_HOOKS):
        given = kept.get(name, {})
        kept[name] = _as(WatchedOrder, {key: _hook(name, key, hook, state) for key, hook in dict.items(given)})
        for handle in handles:
            handle.follow(kept[name])
    kept.setdefault("training", True)
    for name in _options(type(module)) - kept.keys():
        kept[name] = None  # PyTorch's class of that name does not have it
    kept.setdefault("_non_persistent_buffers_set", set())
    dict.update(module.__dict__, kept)


def _options(kind: type) -> frozenset[str]:
    """The names of a class's options: those of this library, whose classes keep theirs."""
    found = _known_options.get(kind)
    if found is None:
        names = (name for base in kind.__mro__ for name, value in vars(base).items() if isinstance(value, Option))
        found = _known_options[kind] = frozenset(names)
    return found


_known_options: weakref.WeakKeyDictionary[type, frozenset[str]] = weakref.WeakKeyDictionary()


def _is_computed(module: Any, name: str) -> bool:
    return isinstance(getattr(type(module), name, None), property)


def _as(kind: type[WatchedDict], entries: Any) -> WatchedDict:
    if type(entries) is kind:
        return entries
    made = kind()
    for key, value in dict.items(entries):  # without a count of each change
        (OrderedDict if isinstance(made, OrderedDict) else dict).__setitem__(made, key, value)
    return made


class _WrappedHook:
    """PyTorch's form of a hook before a module's own part is loaded, as files hold it."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.hook, self.with_module = state["hook"], state["with_module"]


def _hook(name: str, key: int, hook: Any, state: Mapping[str, Any]) -> Any:
    """A hook as modules keep it here; PyTorch keeps the function, and what else it was given beside it."""
    if isinstance(hook, (ForwardPreHook, ForwardHook, BackwardHook, SavedHook, LoadingHook)):
        return hook
    if isinstance(hook, _WrappedHook):
        return LoadingHook(hook.hook, hook.with_module)
    if name == "_forward_pre_hooks":
        return ForwardPreHook(hook, key in state.get("_forward_pre_hooks_with_kwargs", {}))
    if name == "_forward_hooks":
        beside = [key in state.get(of, {}) for of in ("_forward_hooks_with_kwargs", "_forward_hooks_always_called")]
        return ForwardHook(hook, *beside)
    if name == "_backward_hooks":
        return BackwardHook(hook, full=state.get("_is_full_backward_hook") is not False)
    return SavedHook(hook, False) if name == "_state_dict_hooks" else hook
