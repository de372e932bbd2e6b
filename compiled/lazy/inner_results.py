"""Results of one call from which other results of it are computed, and those that share nothing."""

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


def independent(
    graph: Graph, live: Sequence[str], wrt: Collection[str]
) -> list[tuple[tuple[int, ...], frozenset[str]]]:
    """The places of the results among `live`, in groups whose derivatives share no operation, and the labels of the
    inputs to which those of each group lead."""
    node_of = {result.name: result.node for result in graph.results}
    leading, ends = _leading_to(graph, wrt), {node for node in graph.inputs if node.label in wrt}
    groups: list[tuple[tuple[int, ...], set[Node]]] = []
    for i, name in enumerate(live):
        node = node_of[name]
        places: tuple[int, ...] = (i,)
        behind = {each for each in (node, *_differentiated_behind(node)) if each in leading}
        for others, shared in [group for group in groups if not group[1].isdisjoint(behind)]:
            places, behind = (*others, *places), behind | shared
            groups.remove((others, shared))
        groups.append((places, behind))
    reached = {places: {end for node in behind for end in node.args if end in ends} for places, behind in groups}
    return sorted((tuple(sorted(k)), frozenset(str(end.label) for end in found)) for k, found in reached.items())


def _leading_to(graph: Graph, wrt: Collection[str]) -> set[Node]:
    """The operations through which derivatives go on to the inputs `wrt`."""
    found = {node for node in graph.inputs if node.label in wrt}
    for node in graph.nodes():
        ways = [each for each in node.args if each in found and each.type.dtype.numpy.kind in DIFFERENTIABLE_KINDS]
        if ways and node.op is not detach_primitive:
            found.add(node)
    return found.difference(graph.inputs)


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


def require_no_watched(results: Collection[int]) -> None:
    """RuntimeError where a gradient is recorded that leads through results with hooks or a kept gradient, since their
    own derivatives read them: it leads past them here."""
    if results:
        raise RuntimeError(
            "a gradient is recorded (create_graph=True) through a result of a compiled call that its own derivative "
            "reads, and that has a hook or keeps its gradient\n  in backward()\n"
            "  The call is one operation: what comes by the recorded gradient would not be in the result's. Compile "
            "the whole step, or hook a copy of the result: `h = model(x) * 1`."
        )
