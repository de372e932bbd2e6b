"""What is known when the graph is built is computed then. A folded value is one number, filled into its shape."""

from __future__ import annotations

import numpy as np

from ...ops.core import Movement, Pointwise
from ...ops.sources import full_primitive
from ...ops.types import Type, broadcast_shapes, number_in
from ..graph import Graph, Node, Origin

# Reductions and products of constants are evaluated only up to so many elements: compiling must stay quick.
MOST_ELEMENTS = 4096


def fold_constants(graph: Graph, settled: set[Node] | None = None) -> Graph:
    """The graph with ops on constants evaluated, by the same numpy functions that eager mode calls."""
    return graph.mapped(_folded, settled)


def filled(value: bool | int | float, of: Type, origin: Origin) -> Node:
    """A node of type `of` in which every element is `value`."""
    params = (("shape", of.shape), ("value", number_in(value, of.dtype).item()), ("dtype", of.dtype))
    return Node(full_primitive, (), params, of, origin)


def _folded(node: Node) -> Node:
    if node.op is full_primitive:
        return _canonical(node)
    if node.args and all(a.op is full_primitive for a in node.args):
        return _evaluated(node)
    return _with_scalars(node) if isinstance(node.op.lower, Pointwise) else node


def _canonical(node: Node) -> Node:
    """Numbers are kept in their own type: 0.0 in f32, not 0."""
    value = node.param("value")
    known = filled(value, node.type, node.origin)
    return node if repr(known.param("value")) == repr(value) else known


def _evaluated(node: Node) -> Node:
    """The value of an op on constants, if it is the same number everywhere and cheap to know."""
    if isinstance(node.op.lower, Pointwise):
        operands = [_scalar(a) for a in node.args]
    elif isinstance(node.op.lower, Movement) and len(node.args) == 1 and node.op.is_view:
        return filled(node.args[0].param("value"), node.type, node.origin)
    elif node.type.size + sum(a.type.size for a in node.args) <= MOST_ELEMENTS:
        operands = [_scalar(a, a.type.shape) for a in node.args]
    else:
        return node
    return _filled_like(node, operands)


def _filled_like(node: Node, operands: list[np.ndarray]) -> Node:
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(node.op.evaluate(*operands, **dict(node.params)))
    except (ArithmeticError, RuntimeError, IndexError):
        return node  # it fails when it is run, as in eager mode
    one = value.reshape(-1)[:1]
    uniform = one.size == 1 and np.broadcast_to(one, value.size).tobytes() == value.tobytes()
    return filled(one[0].item(), node.type, node.origin) if uniform else node


def _scalar(node: Node, shape: tuple[int, ...] = ()) -> np.ndarray:
    return np.full(shape, node.param("value"), node.type.dtype.numpy)


def _with_scalars(node: Node) -> Node:
    """Filled arrays as scalars, where another operand gives the result its shape."""
    small = tuple(
        filled(a.param("value"), Type(a.type.dtype, ()), a.origin) if a.op is full_primitive and a.type.shape else a
        for a in node.args
    )
    if small == node.args or broadcast_shapes(*(a.type.shape for a in small)) != node.type.shape:
        return node
    return Node(node.op, small, node.params, node.type, node.origin)
