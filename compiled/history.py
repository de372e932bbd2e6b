"""What lies behind a tensor on the tape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..autograd.nodes import SECOND_BACKWARD, Edge, PrimitiveNode, Saved
from ..autograd.nodes import Node as TapeNode
from ..autograd.tensor import Tensor


def is_spent(node: TapeNode) -> bool:
    """True if a backward pass has already used up the graph behind `node`."""
    return any(isinstance(n, Spent) or (isinstance(n, PrimitiveNode) and n.released) for n in graph_behind([node]))


class Spent(TapeNode):
    """The history of a result whose graph was already used by ``backward()`` inside the compiled call."""

    def __init__(self, title: str) -> None:
        super().__init__(title, (Edge(TapeNode("Freed", ())),))  # with an edge, so that the engine asks for gradients

    def backward(self, cotangents: Any, wanted: Any) -> list[Any]:
        raise RuntimeError(SECOND_BACKWARD)


def kept_by_tape(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Tensors that live because the graph of a result still needs them."""
    behind = graph_behind(t.grad_fn for t in tensors)
    saving = [node for node in behind if isinstance(node, PrimitiveNode)]
    return [v.tensor for node in saving for v in node.known.values() if isinstance(v, Saved)]


def graph_behind(nodes: Iterable[TapeNode | None], stop: Iterable[TapeNode | None] = ()) -> set[TapeNode]:
    """All nodes that a gradient which starts at `nodes` reaches, without `stop` and what lies behind it only."""
    seen = {node for node in nodes if node is not None}
    ended = set(stop)
    stack = list(seen)
    while stack:
        for edge in stack.pop().edges:
            if edge.node is not None and edge.node not in seen and edge.node not in ended:
                seen.add(edge.node)
                stack.append(edge.node)
    return seen - ended
