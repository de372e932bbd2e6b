"""Tensors that a recorded call stores in attributes and variables outside of it, as each replay does.

A layer keeps its attention weights, a cell its hidden state, a model its last loss: ``self.attention = weights``. Such
a tensor is one more result of the call, which a replay puts where the call has put its own. What was there before is
guarded like all that the function reaches, unless no code that was found reads it.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ...compiler.capture import Root
from ...compiler.graph import Graph, topological
from ...tensors.tensor import Tensor
from ...tracing.declares import declares
from ..common.classes import is_a
from ..guards.environment import Environment
from ..guards.sources import Attribute, AttributeCount, Cell, Source, Variable, counts_changes
from ..guards.stored_places import stored_places
from ..guards.value_guard import ValueGuard
from ..guards.value_kinds import own_attributes
from .substitution import key_at
from .validity import refusal

_NAMESPACES = (type, types.ModuleType, types.FunctionType)


@dataclass(frozen=True, eq=False)
class StoredTensor:
    """What a call leaves at one source: `tensor` in the recorded call, in which `before` was there at first."""

    source: Source
    tensor: Tensor
    before: Any
    is_guarded: bool  # whether `before` is
    line: str  # the user's, that stores it

    def store_with(self) -> Callable[[Any], None]:
        """What puts the tensor of another call there."""
        if not _is_of_module(self.source):
            return self.source.rebind
        return functools.partial(stored_places.store, self.source.owner, self.source.name)


def stored_tensors(environment: Environment) -> list[StoredTensor]:
    """What the recorded call, which has ended, has stored. From here on these are no side effects of it."""
    changed = [fact for fact in environment.facts if not fact.holds()]
    grown = {id(fact.source.owner) for fact in changed if type(fact.source) is AttributeCount}  # the next call finds it
    facts = [fact for fact in changed if id(fact.source.owner) not in grown and _takes_tensors(fact)]
    unread = [fact for fact in facts if environment.is_only_stored(fact.source)]
    for source in (fact.source for fact in facts if _is_of_module(fact.source)):
        stored_places.add(source.owner, source.name)
    environment.repeats(facts, unread)
    found = {
        key_at(fact.source): StoredTensor(fact.source, fact.source.now(), fact.value, fact not in unread, fact.line)
        for fact in facts
    }
    return list(found.values())


def _takes_tensors(fact: ValueGuard) -> bool:
    """True for a source where there is a tensor now, and where ``rebind`` does what the program's assignment does."""
    source = fact.source
    if type(source.now()) is not Tensor or source.storage() is None:
        return False
    if type(source) is Attribute:
        return _is_plain_attribute(source.owner, source.name)
    return type(source) is Cell or (type(source) is Variable and "__builtins__" in source.owner)


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


def _is_of_module(source: Source) -> bool:
    return type(source) is Attribute and counts_changes(source.owner)


def check_unread(stored: list[StoredTensor], roots: Iterable[Root], graph: Graph) -> None:
    """CaptureError if the call has computed with a tensor that was in a place before and is not guarded: it was read in
    a way that its code does not name."""
    unguarded = {id(each.before): each for each in stored if not each.is_guarded}
    if not unguarded:
        return
    live = set(topological(result.node for result in graph.results))
    for root in roots:
        if id(root.array) in unguarded and root.node in live:
            one = unguarded[id(root.array)]
            raise refusal(
                f"{one.source.describe()}, which the function replaces, is read by code of the library, or in another "
                "way that its code does not name",
                f"replaced at {one.line}",
                "Read it by its name, and pass it on.",
            )
