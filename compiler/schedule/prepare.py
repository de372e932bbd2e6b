"""Rewrites that give the scheduler what it expects; the values stay the same to the last bit."""

from __future__ import annotations

from dataclasses import replace

from ...ops.identity import copy_primitive
from ...ops.movement import reshape_primitive, transpose_primitive
from ..graph import Graph, Node, users
from .dots import is_dot
from .lower import is_fold


def prepared(graph: Graph) -> Graph:
    """`graph` with folds of single elements as reshapes, products turned around, and copies where results need them."""
    return _with_copies(_with_products_turned(without_empty_folds(graph)))


def without_empty_folds(graph: Graph) -> Graph:
    """A fold over axes of extent 1 only changes the shape."""
    single = {
        node: Node(reshape_primitive, node.args, (("shape", node.type.shape),), node.type, node.origin)
        for node in graph.nodes()
        if is_fold(node) and node.type.size and node.type.size == node.args[0].type.size
    }
    return graph.rewritten(single) if single else graph


def _with_products_turned(graph: Graph) -> Graph:
    """``transpose(dot(a, b))`` is ``dot(transpose(b), transpose(a))``, where transposing costs nothing: strides."""
    readers = users(graph)
    kept = {result.node for result in graph.results}
    turned = {}
    for node in readers:
        if _swaps_last_axes(node) and is_dot(node.args[0]):
            product = node.args[0]
            if len(readers[product]) == 1 and product not in kept:
                swapped = [_swapped(arg, node) for arg in reversed(product.args)]
                turned[node] = replace(product, args=tuple(swapped), type=node.type)
    return graph.rewritten(turned) if turned else graph


def _swaps_last_axes(node: Node) -> bool:
    n = node.type.ndim
    return node.op is transpose_primitive and node.param("permutation") == (*range(n - 2), n - 1, n - 2)


def _swapped(arg: Node, like: Node) -> Node:
    shape = (*arg.type.shape[:-2], arg.type.shape[-1], arg.type.shape[-2])
    return Node(transpose_primitive, (arg,), like.params, replace(arg.type, shape=shape), arg.origin)


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
