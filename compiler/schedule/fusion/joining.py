"""Joining groups: along edges of the condensed graph, or of loops that read the same memory.

A round looks at groups in order of their size; a join makes the joined group, and those that read it, worth another
look. So the work is about one look for each edge and for each join, whatever the graph's length.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ...graph import Node
from ..space import united
from ..structure import Key
from ..values import Unfusable
from .condensed import Condensed
from .group import Group, Grouping, union
from .lowering import Lowering, lowered

#: Candidates of one kernel. Larger ones save no more memory traffic, and the C compiler's time grows faster than they.
MOST_NODES = 64
#: Of all that read the same memory, as many before and after a group are tried.
MOST_NEIGHBOURS = 8

Choice = Callable[[Group], Iterable[Group]]


class Joiner:
    """The groups of a grouping while they join."""

    def __init__(self, grouping: Grouping, order: Mapping[Node, int]) -> None:
        self.grouping = grouping
        self.order = order
        self.place = {group: place for place, group in enumerate(grouping.groups)}  # of a join that of its first part
        self.alone = home = {node: group for group in grouping.groups for node in group.nodes}
        self.condensed = Condensed(
            {g: {home[n] for node in g.nodes for n in grouping.reads[node] if n in home} for g in grouping.groups}
        )
        self.trials = Trials(grouping)
        self.shared = SharedMemory(grouping, self.place)

    @property
    def groups(self) -> list[Group]:
        """The groups as they are now, in order."""
        return sorted(self.place, key=self.place.__getitem__)

    # ---------------------------------------------------------------------------------------------- what may join

    def products_read(self, group: Group) -> list[Group]:
        """The products whose result some loops read."""
        return [g for g in self.condensed.before[group] if g.dot is not None] if group.is_loops else []

    def loops_read(self, group: Group) -> list[Group]:
        """The loops whose values some loops read."""
        return [g for g in self.condensed.before[group] if g.is_loops] if group.is_loops else []

    def related(self, group: Group) -> list[Group]:
        """Loops over the same elements that read the same memory, or scalars."""
        return self.shared.neighbours(group) if group.is_loops else []

    # ------------------------------------------------------------------------------------------------- the rounds

    def join_all(self, choice: Choice) -> None:
        """Join groups with what `choice` finds for them until none is left that can."""
        pending = set(self.place)
        while pending:
            pending = self._round(pending, choice)

    def _round(self, pending: set[Group], choice: Choice) -> set[Group]:
        """Each group of `pending` joins once, if it can; the groups for the next round."""
        following: set[Group] = set()
        queue = {self._priority(group): group for group in pending}  # of two with one first node, one is gone
        order = list(queue)
        heapq.heapify(order)
        seen = set(pending)
        while order:
            priority = heapq.heappop(order)
            group = queue[priority]
            joined = self._join_first(group, choice) if group in self.place else None
            if joined is None:
                continue
            following.add(joined)
            for reader in self.condensed.after[joined] - seen:
                seen.add(reader)
                if self._priority(reader) > priority:
                    queue[self._priority(reader)] = reader
                    heapq.heappush(order, self._priority(reader))
            following |= self.condensed.after[joined]
        return {group for group in following if group in self.place}

    def _priority(self, group: Group) -> tuple[int, int]:
        """Large loops first: what small ones join early must not stand between two large ones."""
        return -_size(group.space.shape), self.order[group.nodes[0]]

    def _join_first(self, group: Group, choice: Choice) -> Group | None:
        for other in sorted(choice(group), key=self.place.__getitem__):
            joined = self._joined(group, other)
            if joined is not None:
                return joined
        return None

    def _joined(self, a: Group, b: Group) -> Group | None:
        """Join two groups, and with them every group that waits for one of them and feeds the other."""
        parts = self._parts(a, b)
        joined = None if parts is None else self._union(parts)
        if parts is None or joined is None or not self.trials.lowers(joined):
            return None
        self._put(joined, parts, self.place[b])
        return joined

    def join_blocks(self, joined: Group) -> None:
        """Join the groups of single candidates that `joined` is made of, if one kernel can hold them."""
        parts = {self.alone[node] for node in joined.nodes}
        if self.condensed.is_convex(parts) and self.trials.lowers(joined):
            self._put(joined, parts, min(self.place[part] for part in parts))

    def _put(self, joined: Group, parts: set[Group], place: int) -> None:
        """`joined` in the place of its `parts`."""
        self.condensed.join(parts, joined)
        self.shared.remove(parts)
        for part in parts:
            del self.place[part]
        self.place[joined] = place
        self.shared.add(joined)

    def _parts(self, a: Group, b: Group) -> set[Group] | None:
        """Two groups with all that stands between them; None where one kernel cannot hold them."""
        dots = (a.dot is not None) + (b.dot is not None)
        count = len(a.nodes) + len(b.nodes)
        if dots > 1 or a.is_closed or b.is_closed or count > MOST_NODES or united(a.space, b.space) is None:
            return None

        def fits(group: Group) -> bool:
            nonlocal count
            count += len(group.nodes)
            return not group.is_closed and (group.dot is None or not dots) and count <= MOST_NODES

        later, earlier = (b, a) if self.condensed.precedes(a, b) else (a, b)
        between = self.condensed.between(earlier, later, fits)
        return None if between is None else {a, b, *between}

    # -------------------------------------------------------------------------------------------------- the joined

    def _union(self, parts: set[Group]) -> Group | None:
        nodes = tuple(sorted((n for part in parts for n in part.nodes), key=self.order.__getitem__))
        inside = frozenset(nodes)
        if any(self.grouping.follows[node] & inside for node in nodes):
            return None  # the check of followed indices has to stand between
        joined = union(parts, nodes)
        if joined is None or joined.dot is None:
            return joined
        return None if self.grouping.reads[joined.dot] & inside else joined


@dataclass
class SharedMemory:
    """Which loops over the same elements read the same memory of their own size, or compute the same of less; scalars
    all count as related."""

    grouping: Grouping
    place: Mapping[Group, int]
    _places: dict[object, list[int]] = field(default_factory=lambda: defaultdict(list))
    _at: dict[int, Group] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for group in self.grouping.groups:
            self.add(group)

    def add(self, group: Group) -> None:
        if group.is_loops:
            place = self.place[group]
            self._at[place] = group
            for key in self._keys(group):
                insort(self._places[key], place)

    def remove(self, groups: Iterable[Group]) -> None:
        for group in groups:
            if group.is_loops:
                place = self.place[group]
                for key in self._keys(group):
                    places = self._places[key]
                    del places[bisect_left(places, place)]

    def neighbours(self, group: Group) -> list[Group]:
        """The nearest groups that are related to `group` and have room for it."""
        own, found = self.place[group], set[int]()
        for key in self._keys(group):
            places = self._places[key]
            at = bisect_left(places, own)
            found.update(places[max(at - MOST_NEIGHBOURS, 0) : at + MOST_NEIGHBOURS + 1])
        near = (self._at[place] for place in found - {own})
        return [other for other in near if len(group.nodes) + len(other.nodes) <= MOST_NODES]

    def _keys(self, group: Group) -> set[object]:
        if group.space.shape == ():
            return {group.space}
        size = _size(group.space.shape)
        read = {n for node in group.nodes for n in self.grouping.reads[node] if n.type.size == size}
        spread = {n for node in group.nodes for n in self.grouping.spread[node]}
        return {(node, group.space) for node in read} | spread


@dataclass
class Trials:
    """Whether groups can be lowered: the proof that each value is computed where it is needed. Equal ones are tried
    once."""

    grouping: Grouping
    _known: dict[Key, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._lowering = Lowering(self.grouping)

    def lowers(self, group: Group) -> bool:
        key = self._lowering.key(group, self._lowering.cone(group))
        if key not in self._known:
            self._known[key] = self._is_lowered(group)
        return self._known[key]

    def _is_lowered(self, group: Group) -> bool:
        inside = frozenset(group.nodes)

        def memory(node: Node) -> str | None:
            return "memory" if self._lowering.is_memory(node) and node not in inside else None

        stores = {node: ("store",) for node in group.nodes if node is not group.dot}
        try:
            lowered("", group, self.grouping, stores, memory, lambda node: "")
        except Unfusable:
            return False
        return True


def _size(shape: tuple[int, ...]) -> int:
    total = 1
    for extent in shape:
        total *= extent
    return total
