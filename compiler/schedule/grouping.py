"""Which candidates share a kernel.

Every candidate starts alone. Products take in the element-wise work on their results, then loops take in the work that
they read, then loops over the same elements join. Groups join if one loop nest can hold them and everything that stands
between them, and if lowering them together succeeds: that is the proof that each value is computed where it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..graph import Graph, Node
from .candidates import candidates, indices_followed, is_special, reads
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
    follows: Mapping[Node, frozenset[Node]]
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
    grouping = Grouping(
        groups=[_alone(node) for node in chosen],
        reads={node: reads(node, known) for node in chosen},
        follows={node: indices_followed(node, known) for node in chosen},
    )
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
            # Large loops first: what small ones join early must not stand between two large ones.
            for group in sorted(self.grouping.groups, key=self._priority):
                if group in self.grouping.groups:
                    changed |= self._join_some(group, wanted)

    def _priority(self, group: Group) -> tuple[int, int]:
        return -_size(group.space.shape), self.order[group.nodes[0]]

    def _join_some(self, group: Group, wanted: Callable[[Group, Group], bool]) -> bool:
        for other in list(self.grouping.groups):
            if other is not group and wanted(group, other) and self._join(group, other):
                return True
        return False

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
        """Join two groups, and with them every group that waits for one of them and feeds the other."""
        parts = {a, b, *self._between(a, b), *self._between(b, a)}
        joined = self._union(parts)
        if joined is None or not self._lowers(joined):
            return False
        self.grouping.groups[:] = [joined if g is b else g for g in self.grouping.groups if g is b or g not in parts]
        self.grouping.home.update(dict.fromkeys(joined.nodes, joined))
        return True

    def _between(self, later: Group, earlier: Group) -> set[Group]:
        """The groups on paths from `earlier` to `later`."""
        before = {later}
        pending = [later]
        while pending:
            fresh = self.grouping.needs(pending.pop()) - before
            before |= fresh
            pending.extend(fresh)
        found: set[Group] = set()
        if earlier not in before:
            return found
        after = {earlier}
        while True:
            fresh = {g for g in before - after if self.grouping.needs(g) & after} - {later}
            if not fresh:
                return after - {earlier}
            after |= fresh

    def _union(self, parts: set[Group]) -> Group | None:
        nodes = tuple(sorted((n for part in parts for n in part.nodes), key=self.order.__getitem__))
        inside = frozenset(nodes)
        if any(self.grouping.follows[node] & inside for node in nodes):
            return None  # the check of these indices has to stand between
        dots = [part.dot for part in parts if part.dot is not None]
        if any(part.special for part in parts) or len(dots) > 1:
            return None
        if dots:
            return self._around_product(dots[0], parts, nodes)
        space: Space | None = None
        for part in sorted(parts, key=lambda part: not part.space.folded):
            space = part.space if space is None else united(space, part.space)
            if space is None:
                return None
        return None if space is None else Group(nodes, space)

    def _around_product(self, dot: Node, parts: set[Group], nodes: tuple[Node, ...]) -> Group | None:
        shape = squeezed(dot.type.shape)
        fits = all(not part.space.folded and part.space.shape == shape for part in parts)
        return Group(nodes, Space(shape), dot=dot) if fits and not self.grouping.reads[dot] & set(nodes) else None

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
