"""What a recorded call stores in attributes, variables and containers outside of it, as each replay does.

A layer keeps its attention weights, a cell its hidden state, a model its last loss and the count of its calls:
``self.attention = weights``, ``self.hidden = (h, c)``, ``features["mean"] = m``, ``self.calls += 1``. Such a tensor, a
tuple, list or dict of tensors, or a number computed of the call's numbers, is one more result of the call, which a
replay puts where the call has put its own. What was there before is guarded like all that the function reaches, unless
no code that was found reads it.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ...compiler.graph import Graph, topological
from ...compiler.roots import Root
from ...tensors.tensor import Tensor
from ...tracing.stored_places import stored_places
from ..common.classes import is_a
from ..common.exactness import Same
from ..common.pytree import containers, leaves
from ..guards.environment import Environment
from ..guards.sources import AttributeCount, Source
from ..guards.states import is_plain_of
from ..guards.value_guard import ValueGuard
from ..symbolic.number import KINDS
from .replaceable import is_made_of_tensors, is_of_module, is_replaceable, replaced_items
from .substitution import NumberLocation, key_at
from .symbolic_inputs import SymbolicInputs
from .validity import refusal

_ADVICE = "A compiled step repeats what it computes, not what it does to Python objects: return the value."


@dataclass(frozen=True, eq=False)
class StoredValue:
    """What a call leaves at one source, or in the container there as the item `key`: `value` in the recorded call, in
    which `before` was there at first."""

    source: Source
    value: Any
    before: Any
    is_guarded: bool  # whether `before` is
    line: str  # the user's, that stores it
    is_item: bool = False
    key: Any = None

    def store_with(self) -> Callable[[Any], None]:
        """What puts the value of another call there."""
        source, key = self.source, self.key
        if self.is_item:
            return lambda value: source.now().__setitem__(key, value)
        if not is_of_module(source):
            return source.rebind
        return functools.partial(stored_places.store, source.owner, source.name)

    def tensors_before(self) -> Iterator[Any]:
        """The tensors that were there."""
        return (leaf for _, leaf in leaves(self.before) if is_a(leaf, Tensor))


def found_stores(
    environment: Environment, numbers: SymbolicInputs, result: Any, outcome: Any
) -> tuple[str, list[StoredValue]]:
    """Why the next call has to be recorded as well, "" if it has not, and what later calls store as this one has, which
    has returned `result`: a replay will build that as `outcome`."""
    stores = _Stores(environment, numbers, set() if result is outcome else set(map(id, containers(result))))
    reason = stores.first_counter()
    return reason, [] if reason else stores.values()


@dataclass(frozen=True)
class _Stores:
    """What the recorded call has changed outside. `others` are the containers of its result that a replay will build in
    another way, by their identities."""

    environment: Environment
    numbers: SymbolicInputs
    others: set[int]

    def first_counter(self) -> str:
        """Where the call has put another number of the same type than it has found, which was no input of it: from the
        next recording on it is one, so that each call can store the next. Says what the first is; "" if there is none.
        """
        known = {spot.label for spot in self.numbers.wanted}
        found = [spot for fact in self._changed() for spot in self._counters_at(fact) if spot.label not in known]
        if not (found and self.numbers.is_alone and self.environment.is_symbolic_safe()):
            return ""
        self.numbers.counters = found
        return f"the function changes {found[0].name}, which outlives the call"

    def _counters_at(self, fact: ValueGuard) -> Iterator[NumberLocation]:
        if type(fact.value) in KINDS and is_replaceable(fact.source) and type(fact.source.now()) is type(fact.value):
            yield NumberLocation(fact.name, fact.source, ())
        for item in replaced_items(fact, self.environment, set()):
            if type(item.now) in KINDS and is_plain_of(item.before, type(item.now)):
                yield NumberLocation(fact.name, fact.source, (item.key,))

    def values(self) -> list[StoredValue]:
        """What later calls store as well. From here on these are no side effects of the call."""
        changed = self._changed()
        grown = {id(fact.source.owner) for fact in changed if type(fact.source) is AttributeCount}
        changed = [fact for fact in changed if id(fact.source.owner) not in grown]  # else the next call finds it
        facts = [fact for fact in changed if self._takes(fact)]
        unread = [fact for fact in facts if self.environment.is_only_stored(fact.source)]
        for source in (fact.source for fact in facts if is_of_module(fact.source)):
            stored_places.add(source.owner, source.name)
        whole = {key_at(fact.source): self._stored_at(fact, fact not in unread) for fact in facts}
        self.environment.repeats(facts, unread)
        return [*whole.values(), *(each for fact in changed if fact not in facts for each in self._items(fact))]

    def _changed(self) -> list[ValueGuard]:
        """Where something else is now than before, or a number that is only by chance the one of before."""
        left = {source for source, _ in self.numbers.left}
        return [fact for fact in self.environment.facts if id(fact.source) in left or not fact.holds()]

    def _takes(self, fact: ValueGuard) -> bool:
        if not is_replaceable(fact.source):
            return False
        now, is_number = fact.source.now(), (id(fact.source), ()) in self.numbers.left
        return is_number or (now is not fact.value and self._is_storable(now))

    def _stored_at(self, fact: ValueGuard, is_guarded: bool) -> StoredValue:
        value = self.numbers.left.get((id(fact.source), ()), fact.source.now())
        return StoredValue(fact.source, value, fact.value, is_guarded, fact.line)

    def _items(self, fact: ValueGuard) -> list[StoredValue]:
        """The items of the container at this source; none if there are others that cannot be stored. Such a change is
        refused as a side effect, where it shows."""
        left = {path[0]: value for (at, path), value in self.numbers.left.items() if at == id(fact.source) and path}
        items = replaced_items(fact, self.environment, set(left))
        tensors = [item for item in items if item.key not in left]
        if not all(is_a(item.before, Same) and self._is_storable(item.now) for item in tensors):
            items = []
        if not items:
            if fact.holds():
                raise refusal(f"the function changes {fact.name}, which outlives the call", f"at {fact.line}", _ADVICE)
            return []
        before = copy.copy(fact.value)
        for item in tensors:
            before[item.key] = item.before.value
        self.environment.repeats_in(fact, before)
        stored = ((item.key, left.get(item.key, item.now)) for item in items)
        return [StoredValue(fact.source, value, None, True, fact.line, True, key) for key, value in stored]

    def _is_storable(self, value: Any) -> bool:
        return is_made_of_tensors(value, self.environment, self.others)


def check_unread(stored: list[StoredValue], roots: Iterable[Root], graph: Graph) -> None:
    """CaptureError if the call has computed with a tensor that was in a place before and is not guarded: it was read in
    a way that its code does not name."""
    unguarded = {id(tensor): each for each in stored if not each.is_guarded for tensor in each.tensors_before()}
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
