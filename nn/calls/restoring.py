"""Modules under pickle: what a file or a copy holds of one, made here or by PyTorch, becomes its attributes."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from ...tape.handles import RemovableHandle
from ...tracing.watch import WatchedDict
from ...tracing.watched_order import WatchedOrder
from ..option import Option
from ..registry import REGISTRIES
from .state_hooks import STATE_HOOKS
from .tables import TABLES

#: What PyTorch keeps in modules, and computes anew where it needs it.
_LEFT_OUT = frozenset({"_flat_weight_refs", "_backward_compile_hooks"})


def restore(module: Any, state: Mapping[str, Any]) -> None:
    """Give `module` the attributes in `state`. Registries and hooks that are missing are empty ones."""
    kind = type(module)
    kept = {name: v for name, v in state.items() if name in _STORED or _is_kept(kind, name)}
    for name in REGISTRIES:
        given = kept.get(name)
        if type(given) is not WatchedDict:
            kept[name] = _made(WatchedDict, {} if given is None else given)
    became: dict[int, Any] = {}
    for name in _ORDERED:
        given = kept.get(name)
        if type(given) is not WatchedOrder:
            kept[name] = made = _made(WatchedOrder, {} if given is None else given)
            if given is not None:
                became[id(given)] = made
    if became:
        for value in kept.values():
            if isinstance(value, RemovableHandle):
                value.follow(became)
    kept.setdefault("training", True)
    kept.setdefault("_is_full_backward_hook", None)
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


_ORDERED = (*TABLES, *STATE_HOOKS)
_STORED = frozenset((*REGISTRIES, *_ORDERED))  # most of what each module has


def _is_kept(kind: type, name: str) -> bool:
    """False for what is computed anew where it is needed."""
    return name not in _LEFT_OUT and not isinstance(getattr(kind, name, None), property)


def _made(kind: type[WatchedDict], entries: Any) -> WatchedDict:
    made = kind()
    for key, value in dict.items(entries):  # without a count of each change
        (OrderedDict if isinstance(made, OrderedDict) else dict).__setitem__(made, key, value)
    return made
