"""Groups: the candidates that share a kernel, and what each of them reads."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ...graph import Node
from ..lower import Unit
from ..space import Space, space_of, squeezed, united
from .candidates import is_contraction, is_special


@dataclass(eq=False)
class Group:
    """The candidates of one kernel, in graph order. `dot` (a contraction) and `special` name the node that decides
    its kind; with `blocks`, several products and work on rows go through blocks of rows."""

    nodes: tuple[Node, ...]
    space: Space
    dot: Node | None = None
    special: Node | None = None
    blocks: bool = False

    @property
    def is_loops(self) -> bool:
        return self.dot is None and not self.is_closed

    @property
    def is_closed(self) -> bool:
        """True where nothing else can join."""
        return self.special is not None or self.blocks


@dataclass
class Grouping:
    """A partition of the candidates, and what each of them reads, follows, and computes for itself of less memory."""

    groups: list[Group]
    reads: dict[Node, frozenset[Node]]
    follows: dict[Node, frozenset[Node]]
    spread: dict[Node, frozenset[Node]]

    def unit(self, group: Group) -> Unit:
        return Unit(group.nodes, group.space, self.reads)


def alone(node: Node) -> Group:
    """The group of a single candidate."""
    space = space_of(node)
    return Group((node,), space, node if is_contraction(node) else None, node if is_special(node) else None)


def union(parts: Collection[Group], nodes: tuple[Node, ...]) -> Group | None:
    """The group of all `nodes` of `parts`, if there are loops that can compute them, around one product or none."""
    dots = [part.dot for part in parts if part.dot is not None]
    if dots:
        shape = squeezed(dots[0].type.shape)
        fits = len(dots) == 1 and all(not part.space.folded and part.space.shape == shape for part in parts)
        return Group(nodes, Space(shape), dot=dots[0]) if fits else None
    first, *rest = (part.space for part in sorted(parts, key=lambda part: not part.space.folded))
    space: Space | None = first
    for other in rest:
        space = None if space is None else united(space, other)
    return None if space is None else Group(nodes, space)
