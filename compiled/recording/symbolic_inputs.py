"""Which numbers of a function are data: opened places, stand-ins in them while a recording runs, and what is learned.

The first recording takes all numbers as facts. When a call comes in which some differ, it is recorded with stand-ins in
these places (`symbolic/number.py`), and the recording serves all values. A number whose very value the program looks at
(it shapes something) is closed again: a guard.
"""

from __future__ import annotations

import gc
import re
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...autograd.function import FunctionCtx
from ...tracing.user_warning import warn_user
from ..common.classes import is_a
from ..common.collection import referrers
from ..common.exactness import same_number
from ..common.pytree import Path, leaves, rebuilt
from ..guards import onlookers
from ..guards.environment import Environment
from ..guards.sources import NOT_THERE
from ..guards.value_guard import ValueGuard
from ..symbolic.number import Computed, Formulas, Number, value_of
from .holders import DEEPEST, swap
from .shims import shims_for
from .substitution import (
    Key,
    NumberLocation,
    Replaced,
    found_in,
    is_changeable,
    items_in,
    key_at,
    key_of,
    unwrapped,
)
from .validity import refusal

STAYS = (
    "a number that stands for {value!r} in a recording stays in what the compiled function has kept: {holders}\n"
    "  in a call that was recorded because a number had changed; the call itself was done\n"
    "  It computes as the number does, but its type is another one. Keep such objects outside of the function."
)
Place = tuple[int, Path]  # a source, by its identity, and the path from there
_HOLDERS_OF_A_CALL = frozenset({"frame", "list_iterator", "traceback"})  # for as long as somebody looks at its error


@dataclass(eq=False)
class SymbolicInput:
    """A number that each call finds anew. All spots lead to one storage, and must agree later."""

    kind: type
    spots: list[NumberLocation]
    value: Any  # at the recording

    def name(self, argument: Callable[[Path], str]) -> str:
        """What the user calls it: the argument, the variable, the attribute, and the keys that lead on from there."""
        spot = self.spots[0]
        outer = spot.name.rpartition(".")[2]
        named = argument(spot.path) if spot.get is None else "_".join(map(str, (outer, *spot.path)))
        return re.sub(r"\W", "_", named)


@dataclass(eq=False)
class SymbolicInputs:
    """The opened places of one recording."""

    formulas: Formulas
    wanted: list[NumberLocation]
    sources: list[SymbolicInput] = field(default_factory=list)
    snapshot: list[tuple[NumberLocation, Any]] = field(default_factory=list)  # all numbers that the recording has found
    escaped: bool = False
    compares: bool = False  # whether code could find a nan in a container, which no stand-in shows
    is_alone: bool = field(default_factory=onlookers.are_absent)
    is_withdrawn: bool = False  # somebody else had a look: the recording is good for nothing
    # What the call has left in the places of these numbers, and numbers computed of them that it has left elsewhere.
    left: dict[Place, Any] = field(default_factory=dict)
    counters: list[NumberLocation] = field(default_factory=list)  # whose numbers it has changed, which were guards
    _new: dict[Key, Any] = field(default_factory=dict)
    _is_put: bool = False
    _replaced: Replaced = field(default_factory=Replaced)

    def find(self, environment: Environment, call_arguments: Any) -> None:
        """Note all numbers, and choose those for which there will be stand-ins: where nobody else can look."""
        self.compares = environment.compares
        found = list(_numbers_around(environment, call_arguments))
        self.snapshot = [(spot, number) for spot, _, number in found]
        if not self.wanted or not environment.is_symbolic_safe():
            return
        keys = {key_of(spot, call_arguments) for spot in self.wanted}
        if not self.is_alone:
            kept = environment.keeps_nothing()
            keys = {key for key in keys if kept and key is not None and key[0] == "argument"}
        self._new = self._stand_ins(found, keys)

    def applied(self, environment: Environment, call_arguments: Any, run: Callable[..., None]) -> None:
        """``run(args, kwargs)`` with stand-ins among the arguments, and stand-ins wherever else they are wanted."""
        new, self._new = self._new, {}
        try:
            try:
                if new:
                    self._put(environment, new)
                    call_arguments = self._replaced.replaced(call_arguments, ("argument",), new)
                new.clear()
                run(*call_arguments)
            except BaseException as error:
                error.args = unwrapped(error.args, value_of)
                raise
            finally:
                call_arguments = None
                self._put_back()
        finally:
            self._put_back()  # wholly: an interrupt may have come within
            self._replaced.forget()

    def _put(self, environment: Environment, new: dict[Key, Any]) -> None:
        self._is_put = True
        if self.is_alone:
            for fact in environment.facts:
                self._replaced.put_at(fact.source, new)
            shims_for(environment, self._replaced)

    def _put_back(self) -> None:
        self._is_put = False  # first of all: a collection may come within
        self._restore()

    def _restore(self) -> None:
        self._replaced.restore(lambda value: unwrapped(value, value_of))

    def hide(self) -> None:
        """Put everything back for a while."""
        if self._is_put:
            self._restore()

    def show(self) -> None:
        """Put the stand-ins in again."""
        if self._is_put and not self._replaced.put_again():
            self.withdraw()

    def withdraw(self) -> bool:
        """Let nobody see a stand-in from now on, though the call is under way; True if there are any."""
        if self.sources and (self.formulas.is_open or self.is_withdrawn):
            self.formulas.is_open, self.is_withdrawn = False, True
            self._put_back()
            self.abandon()
        return self.is_withdrawn

    def abandon(self) -> None:
        """Stand-ins that something still holds become plain numbers: the call has come to no end."""
        self._take_back(tuple(self.formulas.survivors()))

    def _stand_ins(self, found: list[Any], keys: set[Key | None]) -> dict[Key, Number]:
        by_key: dict[Key, SymbolicInput] = {}
        for spot, key, number in found:
            if key in by_key:
                by_key[key].spots.append(spot)
            elif key in keys:
                by_key[key] = SymbolicInput(type(number), [spot], number)
        self.sources = list(by_key.values())
        return {key: self.formulas.source(source.value) for key, source in by_key.items()}

    def kept(self, result: Any, facts: Iterable[ValueGuard]) -> Any:
        """The result as each call fills it, apart from containers that will be restored."""
        self.formulas.is_open = False
        self.left = self._left_at(facts)
        return rebuilt(result, self._filled) if self.sources else result

    def _filled(self, leaf: Any) -> Any:
        position = self._position_of(leaf)
        return leaf if position is None else Computed(position)

    def _left_at(self, facts: Iterable[ValueGuard]) -> dict[Place, Any]:
        spots = [(spot, position) for position, source in enumerate(self.sources) for spot in source.spots if spot.get]
        untouched = {_place(spot) for spot, position in spots if self._position_of(_thing_at(spot)) == position}
        left = {}
        for source in (fact.source for fact in (facts if spots else ())):
            for path, thing in _things_at(source.now()):
                position = self._position_of(thing)
                if position is not None and (id(source), path) not in untouched:
                    left[id(source), path] = Computed(position)
        for spot, _ in spots:
            if _place(spot) not in untouched | left.keys():
                self.escaped = self.escaped or len(spot.path) > 1
                left[_place(spot)] = value_of(_thing_at(spot))
        return left

    def _position_of(self, thing: Any) -> int | None:
        """Which of the numbers of this recording it is."""
        return thing.tg_position if is_a(thing, Number) and thing.tg_formulas is self.formulas else None

    def find_escaped(self) -> None:
        """After the call: stand-ins that something holds become plain numbers; in what the program keeps they have
        escaped."""
        if self.sources and self.formulas.survivors():
            gc.collect()
            survivors, passing = self.formulas.survivors(), (FunctionCtx, types.FrameType)
            for number in survivors:
                holders = [holder for holder in referrers([number]) if holder is not survivors]
                escaped = not all(is_a(holder, passing) for holder in holders)
                self.escaped = self.escaped or (escaped and not self.is_withdrawn)
            self._take_back(tuple(survivors))

    def _take_back(self, numbers: tuple[Number, ...]) -> None:
        """Plain numbers wherever something holds these stand-ins; a warning where that is not possible."""
        swap([(number, number.tg_value) for number in numbers])
        for number in numbers:  # no cell: what that holds has been replaced
            kinds = _kinds_of_holders(number, numbers)
            if kinds:
                warn_user(STAYS.format(value=number.tg_value, holders=", ".join(kinds)))

    def forget(self, gets: list[Any]) -> None:
        """What is found there is not to be opened later: lists that grow at each call."""
        self.snapshot = [(spot, number) for spot, number in self.snapshot if spot.get not in gets]

    def open_facts(self) -> dict[int, set[Any]]:
        """For each fact (by the identity of its source) the paths to numbers in it that are data."""
        free: dict[int, set[Any]] = {}
        for source in self.sources:
            for spot in source.spots:
                if spot.get is not None:
                    free.setdefault(id(spot.get), set()).add(spot.path)
        return free


def shown(result: Any) -> Any:
    """A result as its caller gets it."""
    return unwrapped(result, value_of) if any(is_a(leaf, Number) for _, leaf in leaves(result)) else result


def _place(spot: NumberLocation) -> Place:
    return id(spot.get), spot.path


def _thing_at(spot: NumberLocation) -> Any:
    """What is there now, None if nothing is."""
    try:
        return spot.read(None)
    except NOT_THERE:
        return None


def _things_at(value: Any) -> list[tuple[Path, Any]]:
    """The value at a source, and the items of a container there, with the paths to them."""
    items = items_in(value) if is_changeable(type(value)) else []
    return [((), value), *(((key,), item) for key, item in items)]


def _kinds_of_holders(number: Number, own: tuple[Number, ...]) -> list[str]:
    """What still holds a stand-in, but for the call itself."""
    return sorted({type(holder).__name__ for holder in _lasting_holders(number, frozenset([id(own)]))})


def _lasting_holders(value: Any, own: frozenset[int], depth: int = DEEPEST) -> list[Any]:
    """Who holds `value`, but for the lists of this search (`own`, identities) and for what an error that is under way
    holds: its frames, and tuples (of arguments) that only they hold."""
    lasting: list[Any] = []
    found = referrers([value])
    own |= {id(found), id(lasting)}
    for holder in found:
        if id(holder) in own or type(holder).__name__ in _HOLDERS_OF_A_CALL:
            continue
        if type(holder) is not tuple or not depth or _lasting_holders(holder, own, depth - 1):
            lasting.append(holder)
    return lasting


def _numbers_around(environment: Environment, call_arguments: Any) -> Iterator[tuple[NumberLocation, Key, Any]]:
    for path, key, number in found_in(call_arguments, ("argument",)):
        yield NumberLocation("argument", None, path), key, number
    for fact in environment.facts:
        for path, key, number in found_in(fact.source.now(), key_at(fact.source)):
            yield NumberLocation(fact.name, fact.source, path), key, number


class Learned:
    """What one compiled function has learned about its numbers."""

    def __init__(self) -> None:
        self._closed: set[Key] = set()  # labels of spots whose numbers are guards
        self._stored: dict[Key, NumberLocation] = {}  # by their labels, spots where the function leaves other numbers

    def wanted(self, recordings: Iterable[Any], args: Any, kwargs: Any) -> list[NumberLocation]:
        """The spots to open in the next recording: those opened before, and those where a number has changed."""
        recordings = list(recordings)
        if not all(recording.environment.is_symbolic_safe() for recording in recordings):
            return []
        inputs = [(recording.symbolic_inputs, recording.inputs.find(args, kwargs)) for recording in recordings]
        found = [spot for symbolic_inputs, call in inputs if call for spot in _changed_since(symbolic_inputs, call)]
        return [spot for spot in (*found, *self._stored.values()) if spot.label not in self._closed]

    def note(self, recording: Any) -> None:
        """Learn from a recording that is done. CaptureError if the function keeps a number that it has computed."""
        symbolic_inputs: SymbolicInputs = recording.symbolic_inputs
        self._stored.update((spot.label, spot) for spot in symbolic_inputs.counters)
        for position, source in enumerate(symbolic_inputs.sources):
            if position in symbolic_inputs.formulas.pinned:
                self._closed.update(spot.label for spot in source.spots)
        if symbolic_inputs.escaped:
            raise refusal(
                "the function keeps a number that it has computed (in an object, a list, a cache)",
                f"in {recording.name}",
                "Later calls would not do it again: return the number and keep it outside.",
            )


def _changed_since(symbolic_inputs: SymbolicInputs, call_arguments: Any) -> Iterator[NumberLocation]:
    for source in symbolic_inputs.sources:
        yield from (spot for spot in source.spots if _number_at(spot, call_arguments) is not None)
    for spot, before in symbolic_inputs.snapshot:
        now = _number_at(spot, call_arguments)
        if type(now) is type(before) and not same_number(now, before):
            yield spot


def _number_at(spot: NumberLocation, call_arguments: Any) -> Any:
    """The number that is there now, None if nothing is."""
    try:
        return value_of(spot.read(call_arguments))
    except NOT_THERE:
        return None
