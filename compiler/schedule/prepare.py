"""Rewrites that give the scheduler what it expects; the values stay the same to the last bit."""

from __future__ import annotations

from dataclasses import replace

from ...ops.identity import copy_primitive
from ...ops.movement import transpose_primitive
from ..graph import Graph, Node, users
from ..passes.reshape_single_folds import reshape_single_folds
from ..passes.widen_short_types import widen_short_types
from .dots import is_dot
from .rewrites.overlaps import by_blocks
from .rewrites.token_rows import in_rows
from .row_blocks.recompute import with_recomputed_scores


def prepared(graph: Graph) -> Graph:
    """`graph` with arithmetic on wide types only, folds of single elements as reshapes, products turned around, and
    copies where results need them."""
    computed = reshape_single_folds(by_blocks(widen_short_types(graph)))
    return _with_copies(with_recomputed_scores(in_rows(_with_products_turned(computed))))


def _with_products_turned(graph: Graph) -> Graph:
    """``transpose(dot(a, b))`` is ``dot(transpose(b), transpose(a))``, where transposing costs nothing: strides.

    Where other axes are moved besides, as heads are, what remains is a transposition that keeps the order of the last.
    """
    readers = users(graph)
    kept = {result.node for result in graph.results}
    turned = {}
    for node in readers:
        if _turns_last_axes(node) and is_dot(node.args[0]):
            product = node.args[0]
            if len(readers[product]) == 1 and product not in kept:
                turned[node] = _moved(_turned(product), node)
    return graph.rewritten(turned) if turned else graph


def _turns_last_axes(node: Node) -> bool:
    """True for a transposition after which what was the last axis comes before what was the one before it."""
    n = node.type.ndim
    if node.op is not transpose_primitive or n < 2:
        return False
    permutation = node.param("permutation")
    return permutation.index(n - 1) < permutation.index(n - 2)


def _turned(product: Node) -> Node:
    *batch, m, n = product.type.shape
    args = tuple(_swapped(arg) for arg in reversed(product.args))
    return replace(product, args=args, type=replace(product.type, shape=(*batch, n, m)))


def _moved(turned: Node, node: Node) -> Node:
    """`node`, a transposition of a product, as one of the turned product."""
    last = node.type.ndim - 1
    permutation = tuple({last: last - 1, last - 1: last}.get(axis, axis) for axis in node.param("permutation"))
    if permutation == tuple(range(last + 1)):
        return turned
    return replace(node, args=(turned,), params=(("permutation", permutation),))


def _swapped(arg: Node) -> Node:
    *batch, m, n = arg.type.shape
    last = len(batch) + 1
    params = (("permutation", (*range(last - 1), last, last - 1)),)
    return Node(transpose_primitive, (arg,), params, replace(arg.type, shape=(*batch, n, m)), arg.origin)


def _with_copies(graph: Graph) -> Graph:
    """A result that is an input, or a node that an earlier result is already, gets memory of its own."""
    seen: set[Node] = set()
    results = []
    for result in graph.results:
        node = result.node
        if node.is_input or node in seen:
            result = replace(result, node=_copy(node))
        seen.add(node)
        results.append(result)
    return replace(graph, results=tuple(results))


def _copy(node: Node) -> Node:
    return Node(copy_primitive, (node,), (), node.type, node.origin)
