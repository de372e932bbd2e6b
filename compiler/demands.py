"""What eager mode asks of the integers that an op meets, and raises otherwise: indices within a size, divisors not 0.

A graph's program has to ask the same, even where the numbers that would be computed do not matter.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from ..ops.core import Kernel, Movement
from ..ops.sources import full_primitive
from .graph import Graph, Node

DIVISIONS = ("floor_divide", "remainder", "fmod")
_WITHIN_AXIS = ("gather", "scatter", "scatter_add", "scatter_prod", "scatter_amax", "scatter_amin")
_WITHIN_ROWS = ("take", "put", "index_add")  # negative indices count from the end
_SAME_ELEMENTS = ("reshape", "transpose", "broadcast")


@dataclass(frozen=True)
class Demand:
    """``low <= index < size`` for each index along `axis`; without an axis, that each divisor is not 0."""

    low: int = 0
    size: int = 0
    axis: int | None = field(default=None, compare=False)


def demand_of(node: Node) -> Demand | None:
    """What is asked of the second operand of `node`; None where nothing can go wrong."""
    kind = node.op.lower.kind if isinstance(node.op.lower, Kernel) else ""
    if kind in _WITHIN_AXIS:
        axis = node.param("axis")
        return Demand(0, node.args[0].type.shape[axis], axis)
    if kind in _WITHIN_ROWS:
        extent = node.args[0].type.shape[0]
        return Demand(-extent, extent, 0)
    if node.op.name in DIVISIONS and not node.type.dtype.is_floating_point and not _is_filled(node):
        return Demand()
    return None


def checked_base(node: Node, chosen: Container[Node] = ()) -> Node:
    """The node in memory with the integers that are asked about: the first one behind movements in `chosen`, or else
    the last one, which has the same elements."""
    operand = node.args[1]
    while isinstance(operand.op.lower, Movement) and operand.op.lower.kind in _SAME_ELEMENTS:
        if operand in chosen:
            break
        operand = operand.args[0]
    return operand


def asks_as_much(graph: Graph, as_before: Graph) -> bool:
    """Whether `graph`, which a pass has made, has kept every op that demands something."""
    return _count(graph) >= _count(as_before)


def _count(graph: Graph) -> int:
    return sum(demand_of(node) is not None for node in graph.nodes())


def _is_filled(node: Node) -> bool:
    """True for a division by a number that is not 0."""
    base = checked_base(node)
    return base.op is full_primitive and base.param("value") != 0
