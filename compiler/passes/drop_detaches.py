"""detach(x) = x: where derivatives stop matters to `differentiate` only, which comes before the passes."""

from __future__ import annotations

from ...ops.identity import detach_primitive
from ..graph import Graph, Node


def drop_detaches(graph: Graph, settled: set[Node] | None = None) -> Graph:
    """The graph without its walls for derivatives."""
    return graph.mapped(_undetached, settled)


def _undetached(node: Node) -> Node:
    return node.args[0] if node.op is detach_primitive else node
