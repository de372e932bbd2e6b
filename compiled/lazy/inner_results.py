"""Results of one call from which other results of it are computed: one node of the tape stands for all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...compiler.graph import Graph, Node
from ...ops.identity import detach_primitive
from ...ops.types import DIFFERENTIABLE_KINDS


def computed_of(graph: Graph, live: Sequence[str]) -> Mapping[int, frozenset[int]]:
    """By the place of a result among `live`: the places of those whose derivatives go through it."""
    node_of = {result.name: result.node for result in graph.results}
    nodes = [node_of[name] for name in live]
    behind = [_differentiated_behind(node) for node in nodes]
    found = {i: frozenset(j for j, nodes in enumerate(behind) if node in nodes) for i, node in enumerate(nodes)}
    return {i: others for i, others in found.items() if others}


def _differentiated_behind(node: Node) -> set[Node]:
    """What a node is computed of, but for itself, as far as derivatives go."""
    found: set[Node] = set()
    stack = [node]
    while stack:
        here = stack.pop()
        if here.op is not detach_primitive:
            new = {
                each for each in here.args if each not in found and each.type.dtype.numpy.kind in DIFFERENTIABLE_KINDS
            }
            found |= new
            stack += new
    return found


def require_no_others(computed: Mapping[int, frozenset[int]], asked: Collection[int], arrived: Collection[int]) -> None:
    """RuntimeError where somebody asks for the gradient of a result that also goes through others: it is not known.

    `asked` are the places of results with hooks or a kept gradient, and of those that are differentiated by; `arrived`
    of those at which a gradient has arrived.
    """
    for i in asked:
        if not computed.get(i, frozenset()).isdisjoint(arrived):
            raise RuntimeError(
                "the gradient of a result of a compiled call, of which another result of that call was computed, is "
                "asked for: by grad(), a hook or retain_grad()\n  in backward()\n"
                "  The call is one operation, which does not know it. Compute the other result outside of the compiled "
                "function, or compile the whole step."
            )
