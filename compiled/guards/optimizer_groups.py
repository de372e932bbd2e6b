"""An optimizer's parameter groups, as a compiled function depends on them: which objects they are made of."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator, Set
from operator import is_
from typing import Any

from ...tracing.watch import WatchedDict, WatchedList
from . import looks
from .value_kinds import has_attributes


class Identities:
    """Equal for the very same objects. It keeps them, so that their identities stay taken."""

    __slots__ = ("objects",)

    def __init__(self, objects: list[Any]) -> None:
        self.objects = objects

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Identities) or len(other.objects) != len(self.objects):
            return False
        return all(map(is_, self.objects, other.objects))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self.objects)} objects>"


def is_optimizer(value: Any) -> bool:
    """True for the library's optimizers and those that inherit from them."""
    return any(base.__module__ == "tracegrad.optim.optimizer" for base in type(value).__mro__)


def is_of_the_library(value: Any) -> bool:
    """True for optimizers that read nothing but what they declare."""
    return type(value).__module__.startswith("tracegrad.")


def group_members(optimizer: Any) -> Identities:
    """The optimizer's state, its groups, their lists and parameters, and what hides its methods."""
    own = optimizer.__dict__
    groups = own.get("param_groups", ())
    objects = [own.get("state"), groups, *groups]
    for group in groups:
        params = dict.get(group, "params", ())
        objects += [params, *params]
    return Identities([*objects, *hiding(optimizer).values()])


def hiding(value: Any) -> dict[str, Any]:
    """The attributes of an object, by name, that are found in place of methods of its class."""
    own = looks.own_attributes(value) or {}
    return {name: own[name] for name in own if callable(getattr(type(value), name, None))}


def is_counted(optimizer: Any) -> bool:
    """True while nobody can change a group without being counted: all lists and dicts are the library's."""
    groups = optimizer.__dict__.get("param_groups")
    return type(groups) is WatchedList and all(
        isinstance(group, WatchedDict) and type(dict.get(group, "params")) is WatchedList for group in groups
    )


def parameters(optimizer: Any) -> list[Any]:
    """All of them."""
    return [p for group in optimizer.__dict__.get("param_groups", ()) for p in dict.get(group, "params", ())]


def hidden_methods(
    objects: Iterable[Any], names: Set[str] | None
) -> Iterator[tuple[str, types.CodeType | None, Callable[[], Any]]]:
    """Places for objects of the library, whose attributes nobody counts: how many hide a method.

    Only methods that code names; all of them where `names` is None.
    """
    kinds: dict[type, list[dict[str, Any]]] = {}
    for value in objects:
        own = None if has_attributes(value) or is_optimizer(value) else looks.own_attributes(value)
        is_thing = not isinstance(value, (type, types.FunctionType, types.ModuleType))
        if own is not None and is_thing and type(value).__module__.startswith("tracegrad."):
            kinds.setdefault(type(value), []).append(own)
    for kind, attributes in kinds.items():
        named = dir(kind) if names is None else names
        methods = frozenset(name for name in named if name[:2] != "__" and callable(getattr(kind, name, None)))
        if methods:
            look = functools.partial(looks.hidden, methods, attributes)
            yield f"methods of {kind.__name__} that are hidden", None, look
