"""Which candidates share a kernel.

Every candidate starts alone. Products take in the element-wise work on their results, then loops take in the work that
they read, then loops over the same elements join. Two units join if one loop nest can hold both, if no third unit stands
between them, and if lowering them together succeeds: that is the proof that each value is computed where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..graph import Graph, Node
from .candidates import candidates, is_special, reads
from .dots import is_dot, lower_dot
from .lower import Unit, lower_loops
from .space import Space, space_of, squeezed, united
from .values import Unfusable


@dataclass(eq=False)
class Group:
    """The candidates of one kernel, in graph order. `dot` and `special` name the node that decides its kind."""

    nodes: tuple[Node, ...]
    space: Space
    dot: Node | None = None
    special: Node | None = None

    @property
    def is_loops(self) -> bool:
        return self.dot is None and self.special is None


@dataclass
class Grouping:
    """A partition of the candidates, and what each of them reads."""

    groups: list[Group]
    reads: Mapping[Node, frozenset[Node]]
    home: dict[Node, Group] = field(default_factory=dict)

    def needs(self, group: Group) -> set[Group]:
        """The other groups whose values `group` reads."""
        found = {self.home[n] for node in group.nodes for n in self.reads[node] if n in self.home}
        return found - {group}

    def unit(self, group: Group) -> Unit:
        return Unit(group.nodes, group.space, self.reads)


def grouped(graph: Graph) -> Grouping:
    """The kernels of a graph, before memory and order are decided."""
    chosen = candidates(graph)
    known = frozenset(chosen)
    grouping = Grouping([_alone(node) for node in chosen], {node: reads(node, known) for node in chosen})
    grouping.home = {node: group for group in grouping.groups for node in group.nodes}
    joiner = _Joiner(grouping, {node: place for place, node in enumerate(chosen)})
    joiner.join_all(lambda a, b: b.dot is not None and a.is_loops and b in grouping.needs(a))
    joiner.join_all(lambda a, b: a.is_loops and b.is_loops and b in grouping.needs(a))
    joiner.join_all(lambda a, b: a.is_loops and b.is_loops and joiner.related(a, b))
    return grouping


def _alone(node: Node) -> Group:
    space = space_of(node)
    return Group((node,), space, node if is_dot(node) else None, node if is_special(node) else None)


@dataclass
class _Joiner:
    grouping: Grouping
    order: Mapping[Node, int]

    def join_all(self, wanted: Callable[[Group, Group], bool]) -> None:
        """Join pairs for which `wanted(later, earlier)` until none is left that can."""
        changed = True
        while changed:
            changed = False
            for group in list(self.grouping.groups):
                if group in self.grouping.groups:
                    changed |= self._join_some(group, wanted)

    def _join_some(self, group: Group, wanted: Callable[[Group, Group], bool]) -> bool:
        for other in self._partners(group):
            if other is not group and wanted(group, other) and self._join(group, other):
                return True
        return False

    def _partners(self, group: Group) -> Iterable[Group]:
        return list(self.grouping.groups)

    def related(self, a: Group, b: Group) -> bool:
        """Loops over the same elements that read the same memory, or scalars."""
        if a.space != b.space:
            return False
        return a.space.shape == () or bool(self._memory(a) & self._memory(b))

    def _memory(self, group: Group) -> set[Node]:
        """What a group reads of its own size."""
        size = _size(group.space.shape)
        return {n for node in group.nodes for n in self.grouping.reads[node] if n.type.size == size}

    def _join(self, a: Group, b: Group) -> bool:
        joined = self._union(a, b)
        if joined is None or self._something_between(a, b) or not self._lowers(joined):
            return False
        groups = self.grouping.groups
        groups[groups.index(b)] = joined
        groups.remove(a)
        self.grouping.home.update(dict.fromkeys(joined.nodes, joined))
        return True

    def _union(self, a: Group, b: Group) -> Group | None:
        nodes = tuple(sorted((*a.nodes, *b.nodes), key=self.order.__getitem__))
        if b.dot is not None:
            fits = not a.space.folded and a.space.shape == squeezed(b.dot.type.shape)
            inside = self.grouping.reads[b.dot] & frozenset(nodes)
            return Group(nodes, b.space, dot=b.dot) if fits and not inside else None
        space = united(a.space, b.space)
        return None if space is None else Group(nodes, space)

    def _something_between(self, a: Group, b: Group) -> bool:
        """True where a path leads from one to the other through a third group: joined, they would wait for it."""
        return self._reaches(a, b) or self._reaches(b, a)

    def _reaches(self, start: Group, goal: Group) -> bool:
        pending = [group for group in self.grouping.needs(start) if group is not goal]
        seen = set(pending)
        while pending:
            for group in self.grouping.needs(pending.pop()):
                if group is goal:
                    return True
                if group not in seen:
                    seen.add(group)
                    pending.append(group)
        return False

    def _lowers(self, group: Group) -> bool:
        inside = frozenset(group.nodes)

        def memory(node: Node) -> str | None:
            known = node.is_input or (node in self.grouping.home and node not in inside)
            return "memory" if known else None

        stores = {node: ("store",) for node in group.nodes if node is not group.dot}
        try:
            if group.dot is not None:
                lower_dot("", group.dot, group.nodes, stores, memory)
            else:
                lower_loops("", self.grouping.unit(group), stores, memory)
        except Unfusable:
            return False
        return True


def _size(shape: tuple[int, ...]) -> int:
    total = 1
    for extent in shape:
        total *= extent
    return total
