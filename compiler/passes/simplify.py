"""All passes, again and again until nothing changes."""

from __future__ import annotations

from ..graph import Graph, Node
from . import PASSES

# Each round makes the graph smaller or its ops cheaper; what is left after so many rounds is correct all the same.
MOST_ROUNDS = 20


def simplify(graph: Graph) -> Graph:
    """A graph with the same results, bit for bit, and less to compute.

    Differentiate before, not after: the marks where derivatives stop are dropped.
    """
    settled: list[set[Node]] = [set() for _ in PASSES]  # by the pass, what it leaves as it is
    for _ in range(MOST_ROUNDS):
        before = graph
        for apply, nodes in zip(PASSES, settled, strict=True):
            graph = apply(graph, nodes)
        if graph is before:
            break
    return graph
