"""Which candidates share a kernel.

Every candidate starts alone. Products take in the element-wise work on their results, then loops take in the work that
they read, then loops over the same elements join. Groups join if one loop nest can hold them and everything that stands
between them, and if lowering them together succeeds: that is the proof that each value is computed where it is needed.
"""

from __future__ import annotations

from collections.abc import Collection

from ...graph import Graph, Node
from ..row_blocks.parts import parts_of
from ..row_blocks.regions import Regions
from .candidates import candidates, indices_followed, reads, spread
from .group import Group, Grouping, alone, union
from .joining import Joiner

Partition = tuple[tuple[int, ...], ...]


def grouped(graph: Graph) -> Grouping:
    """The kernels of a graph, before memory and order are decided."""
    grouping = _separate(graph)
    joiner = Joiner(grouping, {node: place for place, node in enumerate(grouping.reads)})
    for group in _blocks(graph, joiner):
        joiner.join_blocks(group)
    for choice in (joiner.products_read, joiner.loops_read, joiner.related):
        joiner.join_all(choice)
    grouping.groups = joiner.groups
    return grouping


def _blocks(graph: Graph, joiner: Joiner) -> list[Group]:
    """The groups of products that go through blocks of rows."""

    def is_convex(nodes: Collection[Node]) -> bool:
        return joiner.condensed.is_convex({joiner.alone[node] for node in nodes})

    results = frozenset(result.node for result in graph.results)
    found = Regions(joiner.grouping.reads, results, is_convex).all()
    return [Group(nodes, parts_of(nodes).space, blocks=True) for nodes in found]


def partition_of(graph: Graph) -> Partition:
    """The groups of a graph, by the places of their nodes in it."""
    place = {node: place for place, node in enumerate(graph.nodes())}
    return tuple(tuple(place[node] for node in group.nodes) for group in grouped(graph).groups)


def grouped_as(graph: Graph, partition: Partition) -> Grouping:
    """The groups that were found for a graph of the same structure; nothing is tried again."""
    grouping = _separate(graph)
    nodes = graph.nodes()
    grouping.groups = [_group(tuple(nodes[place] for place in places)) for places in partition]
    assert {node for group in grouping.groups for node in group.nodes} == set(grouping.reads)
    return grouping


def _separate(graph: Graph) -> Grouping:
    """Every candidate alone."""
    chosen = candidates(graph)
    known = frozenset(chosen)
    return Grouping(
        groups=[alone(node) for node in chosen],
        reads={node: reads(node, known) for node in chosen},
        follows={node: indices_followed(node, known) for node in chosen},
        spread={node: spread(node, known) for node in chosen},
    )


def _group(nodes: tuple[Node, ...]) -> Group:
    if len(nodes) == 1:
        return alone(nodes[0])
    group = union([alone(node) for node in nodes], nodes)
    assert group is not None
    return group
