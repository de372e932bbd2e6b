"""Where a recorded call has put something in the place of something else, and whether a replay can do the same.

It can in variables and in attributes that nothing but Python's own assignment sets, and in items of lists and dicts, if
what it puts there is made of tensors.
"""

from __future__ import annotations

import types
from collections import OrderedDict, defaultdict
from typing import Any, NamedTuple

from ...tensors.tensor import Tensor
from ...tracing.declares import declares
from ..common.classes import is_a
from ..common.pytree import containers, filled, is_finite
from ..guards.environment import Environment
from ..guards.sources import Attribute, Cell, Source, Variable, counts_changes
from ..guards.states import state
from ..guards.value_guard import ValueGuard
from ..guards.value_kinds import own_attributes
from .plain_results import held, is_plain

_NAMESPACES = (type, types.ModuleType, types.FunctionType)
_DICTS = (dict, OrderedDict, defaultdict)


class Item(NamedTuple):
    """An item of a list or a dict that a call has replaced: its key, what is there now, and the state of what was."""

    key: Any
    now: Any
    before: Any


def is_replaceable(source: Source) -> bool:
    """True for a source at which ``rebind`` does what the program's assignment does."""
    if source.storage() is None:
        return False
    if type(source) is Attribute:
        return _is_plain_attribute(source.owner, source.name)
    return type(source) is Cell or (type(source) is Variable and "__builtins__" in source.owner)


def is_of_module(source: Source) -> bool:
    """True for an attribute of a module."""
    return type(source) is Attribute and counts_changes(source.owner)


def _is_plain_attribute(owner: Any, name: str) -> bool:
    """True for what is in the ``__dict__`` of an object whose class has neither a ``__setattr__`` of its own nor a
    property of that name."""
    kind, declared = type(owner), declares(type(owner))
    if declared is None:
        is_plain = kind.__setattr__ is object.__setattr__ and not is_a(owner, (*_NAMESPACES, Tensor))
    else:
        is_plain = declared.counter == "modules" and counts_changes(owner)
    if not is_plain or name not in (own_attributes(owner) or ()):
        return False
    return not any(hasattr(vars(base).get(name), "__set__") for base in kind.__mro__)


def replaced_items(fact: ValueGuard, environment: Environment, keys: set[Any]) -> list[Item]:
    """The items that the call has replaced in the list or dict at a source, those under `keys` whatever they are now;
    none if it has done anything else to the container, or if a later call may find it in the place of another."""
    container = fact.value
    if type(container) not in (list, *_DICTS) or fact.source.now() is not container or fact.by_identity:
        return []
    if not environment.is_only_one(container):
        return []
    states = fact.state[1]
    if type(container) is list:
        items = [*enumerate(container)]
    else:
        items = [*container.items()]
        if [key for key, _ in states] != [state(key) for key, _ in items]:
            return []
        states = [of_item for _, of_item in states]
    if len(items) != len(states):
        return []
    found = (Item(*item, before) for item, before in zip(items, states, strict=True))
    return [item for item in found if item.key in keys or state(item.now) != item.before]


def is_made_of_tensors(value: Any, environment: Environment, others: set[int]) -> bool:
    """True for a tensor, and for containers that the call has made which hold tensors, and what never changes besides.

    `others` are containers that a replay builds in another way, by their identities.
    """
    if type(value) is Tensor:
        return True
    found = filled(value) if is_finite(value) else []
    if not any(type(leaf) is Tensor for leaf in found) or not all(type(f) is Tensor or is_plain(f) for f in found):
        return False
    if not all(map(is_plain, held(value))):
        return False
    return not any(environment.reaches(each) or id(each) in others for each in containers(value))
