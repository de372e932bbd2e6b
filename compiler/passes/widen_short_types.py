"""Arithmetic on types of 8 and 16 bits is done in wider ones, between conversions; only memory is of the short types.

Conversions that leave the 16-bit floating types, or lead to them, go through float32, and those from floating types to
short integers through int64.
"""

from __future__ import annotations

from ...ops.core import Source, bind, computes, interpreting
from ...ops.pointwise import cast, cast_primitive
from ...ops.sources import iota
from ...ops.types import WIDE, DType, float32, int64
from ..graph import Builder, Graph, Node


def widen_short_types(graph: Graph, settled: set[Node] | None = None) -> Graph:
    """The graph without ops on short types but for conversions and movements."""
    return graph.mapped(_widened, settled)


def _widened(node: Node) -> Node:
    if node.type.dtype not in WIDE and all(a.type.dtype not in WIDE for a in node.args):
        return node
    with interpreting(Builder(node.origin)):
        if node.op is cast_primitive:
            if _between(node.args[0].type.dtype, node.type.dtype) is None:
                return node
            return _converted(node.args[0], node.type.dtype)
        if isinstance(node.op.lower, Source) and node.op.lower.kind == "iota":
            return _converted(iota(node.type.shape, node.param("axis"), int64), node.type.dtype)
        if not computes(node.op.lower):
            return node
        out = bind(node.op, *map(_wide, node.args), **dict(node.params))
        return out if out.type.dtype is node.type.dtype else cast(out, node.type.dtype)


def _wide(x: Node) -> Node:
    made: Node = cast(x, WIDE[x.type.dtype]) if x.type.dtype in WIDE else x
    return made


def _converted(x: Node, to: DType) -> Node:
    between = _between(x.type.dtype, to)
    made: Node = cast(x if between is None else cast(x, between), to)
    return made


def _between(source: DType, to: DType) -> DType | None:
    """What a conversion goes through, None where it is one of C's."""
    if WIDE.get(source) is float32 or WIDE.get(to) is float32:
        return None if float32 in (source, to) else float32
    return int64 if source.is_floating_point and to in WIDE else None
