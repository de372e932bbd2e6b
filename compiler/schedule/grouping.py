"""Which candidates share a kernel.

Every candidate starts alone. Products take in the element-wise work on their results, then loops take in the work that
they read, then loops over the same elements join. Groups join if one loop nest can hold them and everything that stands
between them, and if lowering them together succeeds: that is the proof that each value is computed where it is needed.
"""

from __future__ import annotations

from ..graph import Graph
from .candidates import candidates, indices_followed, reads
from .group import Grouping, alone
from .joining import Joiner


def grouped(graph: Graph) -> Grouping:
    """The kernels of a graph, before memory and order are decided."""
    chosen = candidates(graph)
    known = frozenset(chosen)
    grouping = Grouping(
        groups=[alone(node) for node in chosen],
        reads={node: reads(node, known) for node in chosen},
        follows={node: indices_followed(node, known) for node in chosen},
    )
    joiner = Joiner(grouping, {node: place for place, node in enumerate(chosen)})
    for choice in (joiner.products_read, joiner.loops_read, joiner.related):
        joiner.join_all(choice)
    grouping.groups = joiner.groups
    return grouping
