"""Common subexpressions: nodes with equal op, operands and parameters become one."""

from __future__ import annotations

from collections.abc import Hashable

from ...ops.core import Kernel
from ..graph import Graph, Node

# The operands' order changes no bit. (maximum is not here: of +0 and -0 it may give the first.)
COMMUTATIVE = frozenset({"add", "mul", "eq", "ne", "logical_and", "logical_or", "logical_xor"})


def merge_duplicates(graph: Graph, settled: object = None) -> Graph:
    """The graph with each value computed once. The first of equal nodes stays, with its origin: which one that is
    depends on the graph, so that none is settled."""
    first: dict[Hashable, Node] = {}
    return graph.mapped(lambda node: first.setdefault(_key(node), node))


def _key(node: Node) -> Hashable:
    """Equal for nodes that have the same value."""
    if node.is_input or _is_random(node):
        return node
    args = frozenset(node.args) if node.op.name in COMMUTATIVE else node.args
    # Their text tells 0.0 from -0.0 and 1 from True, which compare as equal; and nan from nothing.
    return node.op, args, repr(node.params) if node.params else ""


def _is_random(node: Node) -> bool:
    return isinstance(node.op.lower, Kernel) and node.op.lower.kind.startswith("random")
