"""From the arguments of a call to the inputs of a recording.

Arguments of which a function reads some entries only are taken as these entries (`argument_reads.py`). A tensor in a
variable, an attribute or a container that is another one at each call is one more argument, behind those by position:
its place is known, and what is found there has to be of the recorded type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...tensors.tensor import Tensor
from ..common.argument_names import argument_names
from ..common.classes import is_a
from ..common.pytree import Excerpt, Path
from ..guards.argument_reads import Reads, reads_of_arguments
from ..guards.environment import Environment
from ..guards.sources import NOT_THERE, Source
from .substitution import Key, NumberLocation, found_in, inner_key, key_at

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


@dataclass(frozen=True, eq=False)
class CallInputs:
    """How the inputs of one recording follow from the arguments of a call."""

    reads: dict[Any, Reads] = field(default_factory=dict)  # of arguments, by position or keyword
    places: tuple[NumberLocation, ...] = ()  # of tensors
    opened: dict[int, set[Path]] = field(default_factory=dict)  # the paths to them, by the identity of a fact's source
    # Objects in which the call stores what it may read of an argument: an argument must not be one of them.
    apart: dict[int, Any] = field(default_factory=dict)  # by their identity

    @property
    def are_arguments(self) -> bool:
        """True if the inputs of a call are its arguments."""
        return not (self.reads or self.places)

    def find(self, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs] | None:
        """The inputs of a call, as arguments; None if a place is not there."""
        if self.reads:
            if not self.apart.keys().isdisjoint(map(id, (*args, *kwargs.values()))):
                return None
            args = tuple([self._input(i, arg) for i, arg in enumerate(args)])
            kwargs = {name: self._input(name, arg) for name, arg in kwargs.items()}
        if not self.places:
            return args, kwargs
        try:
            return (*args, *[place.read(None) for place in self.places]), kwargs
        except NOT_THERE:
            return None

    def keep_apart(self, owners: Iterable[Any]) -> None:
        """The call stores in these objects."""
        self.apart.update((id(owner), owner) for owner in owners)

    def _input(self, at: Any, argument: Any) -> Any:
        excerpt = self.reads[at].excerpt(argument) if at in self.reads else None
        return argument if excerpt is None else excerpt

    def of(self, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        """The inputs of the call for which the places have just been found."""
        found = self.find(args, kwargs)
        assert found is not None
        return found

    def names(self, function: Callable[..., Any], args: Args) -> list[str]:
        """What the user calls the inputs by position."""
        names = argument_names(function, args[: len(args) - len(self.places)])
        return names + ["_".join(map(str, (place.name.rpartition(".")[2], *place.path))) for place in self.places]

    def opened_with(self, numbers: dict[int, set[Path]]) -> dict[int, set[Path]]:
        """All that is data in the surroundings: `numbers`, and the tensors that are looked up at each call."""
        return {get: numbers.get(get, set()) | self.opened.get(get, set()) for get in (*numbers, *self.opened)}

    def arguments(self, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
        """The arguments of the call that has these inputs."""
        given = args[: len(args) - len(self.places)]
        return tuple(map(_whole, given)), {name: _whole(arg) for name, arg in kwargs.items()}


def _whole(argument: Any) -> Any:
    return argument.whole() if type(argument) is Excerpt else argument


@dataclass(eq=False)
class Noted:
    """What one recording was made with, for comparison with later calls."""

    unread: dict[Any, Any]  # of each argument that is read by name: what is not read
    tensors: list[tuple[NumberLocation, Tensor]]


def noted(function: Callable[..., Any], environment: Environment, args: Args, kwargs: Kwargs) -> Noted:
    """To be asked when a recording begins."""
    reads = reads_of_arguments(function)
    unread = {at: reads[at].unread(arg) for at, arg in _positions(args, kwargs) if _has_excerpt(reads, at, arg)}
    return Noted(unread, [(spot, tensor) for spot, _, tensor in _tensors_around(environment)])


def _positions(args: Args, kwargs: Kwargs) -> Iterator[tuple[Any, Any]]:
    yield from enumerate(args)
    yield from kwargs.items()


def _has_excerpt(reads: dict[Any, Reads], at: Any, argument: Any) -> bool:
    return at in reads and reads[at].excerpt(argument) is not None


def _tensors_around(environment: Environment) -> Iterator[tuple[NumberLocation, Key, Tensor]]:
    for fact in environment.facts:
        found = [*found_in(fact.source.now(), key_at(fact.source), (Tensor,))]
        if not (found and environment.is_only_stored(fact.source)):
            yield from ((NumberLocation(fact.name, fact.source, path), key, tensor) for path, key, tensor in found)


class LearnedInputs:
    """What one compiled function has learned of its calls: which arguments differ in what is not read, and where
    tensors are rebound."""

    def __init__(self) -> None:
        self._read: set[Any] = set()
        self._rebound: dict[Any, Key] = {}

    def compare(self, before: Iterable[Noted], function: Callable[..., Any], args: Args, kwargs: Kwargs) -> None:
        """Learn from a call that no program serves."""
        reads = reads_of_arguments(function)
        for noted in before:
            for at, argument in _positions(args, kwargs):
                if at in noted.unread and _has_excerpt(reads, at, argument):
                    if _differ(reads[at].unread(argument), noted.unread[at]):
                        self._read.add(at)
            for spot, tensor in noted.tensors:
                if _is_rebound(spot, tensor):
                    self._rebound[spot.label] = spot.label

    def inputs(self, function: Callable[..., Any], environment: Environment, args: Args, kwargs: Kwargs) -> CallInputs:
        """How the inputs of the next recording are found, of a call with these arguments."""
        found_alone = {at for at, argument in _positions(args, kwargs) if environment.is_found_alone(argument)}
        reads = {at: reads for at, reads in reads_of_arguments(function).items() if at in self._read - found_alone}
        if environment.by_identity or not self._rebound:
            return CallInputs(reads)
        found: dict[Key, list[tuple[NumberLocation, Tensor]]] = {}
        for spot, key, tensor in _tensors_around(environment):
            found.setdefault(key, []).append((spot, tensor))
        wanted = {k for k, spots in found.items() if any(spot.label in self._rebound for spot, _ in spots)}
        opened = {k for k in wanted if _is_found_only(environment, found[k][0][1], wanted)}
        environment.as_arguments = frozenset(id(tensor) for k in opened for _, tensor in found[k])
        free: dict[int, set[Path]] = {}
        for spot in (spot for k in opened for spot, _ in found[k]):
            free.setdefault(id(spot.get), set()).add(spot.path)
        return CallInputs(reads, tuple(found[k][0][0] for k in found if k in opened), free)


def _differ(now: Any, before: Any) -> bool:
    if is_a(now, list) and is_a(before, list):
        same = len(now) == len(before) and all(a is c and b is d for (a, b), (c, d) in zip(now, before, strict=True))
        return not same
    return now is not before


def _is_rebound(spot: NumberLocation, tensor: Tensor) -> bool:
    try:
        now = spot.read(None)
    except NOT_THERE:
        return False
    return type(now) is Tensor and now is not tensor


def _is_found_only(environment: Environment, value: Any, keys: set[Key], below: Key = ()) -> bool:
    """True if all ways on which the function finds the value lead through these storages, each of which is that of
    what holds the value, and `below` it."""
    ways = environment.ways_to(value)
    return bool(ways) and all(_leads_by(environment, way, value, keys, below) for way in ways)


def _leads_by(environment: Environment, way: Any, value: Any, keys: set[Key], below: Key) -> bool:
    if is_a(way, Source):
        key = key_at(way)
        return key is not None and (*key, *below) in keys
    if is_a(way, tuple):  # which has no storage of its own
        places = [at for at, item in enumerate(way) if item is value]
        return all(_is_found_only(environment, way, keys, ("in", at, *below)) for at in places)
    if not is_a(way, (list, dict)):
        return False
    items = [*(way.items() if is_a(way, dict) else enumerate(way))]
    found = [inner_key(way, None, at) for at, item in items if item is value]
    return all(key is not None and (*key, *below) in keys for key in found)
