"""Folds over axes of extent 1 become reshapes."""

from __future__ import annotations

from ...ops.core import Reduction
from ...ops.movement import reshape_primitive
from ..graph import Graph, Node


def reshape_single_folds(graph: Graph) -> Graph:
    """A fold over axes of extent 1 only changes the shape."""
    single = {
        node: Node(reshape_primitive, node.args, (("shape", node.type.shape),), node.type, node.origin)
        for node in graph.nodes()
        if isinstance(node.op.lower, Reduction) and node.type.size and node.type.size == node.args[0].type.size
    }
    return graph.rewritten(single) if single else graph
