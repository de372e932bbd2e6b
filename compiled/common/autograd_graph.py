"""What lies behind a tensor on the tape."""

from __future__ import annotations

import gc
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ...tape.nodes import SECOND_BACKWARD, DependenceNode, Edge, PrimitiveNode, Saved
from ...tape.nodes import Node as TapeNode
from ...tensors.tensor import Tensor, make
from .classes import is_a


def history_of(tensor: Any) -> TapeNode | None:
    """The node behind a tensor; None for a view whose own is an error, which is the program's to meet."""
    node: TapeNode | None = None if tensor.is_ambiguous() else tensor.grad_fn
    return node


def leading_to(edge: Edge, tensor: Tensor) -> Tensor:
    """`tensor` with a history that leads to `edge`, whichever it has itself."""
    alias = tensor.detach()
    if edge.node is not None:
        alias.attach(edge.node, edge.output)
    return alias


def histories(roots: Iterable[Any]) -> list[Any]:
    """Where the graph of derivatives goes on outside of a recorded call with these roots."""
    return [history_of(root.array) for root in roots if root.requires_grad]


def is_spent(node: TapeNode, stop: Iterable[TapeNode | None] = ()) -> bool:
    """True if a backward pass has already used up the graph behind `node`, up to the nodes `stop`."""
    behind = graph_behind([node], stop)
    return any(is_a(n, FreedNode) or (is_a(n, PrimitiveNode) and n.released) for n in behind)


class FreedNode(TapeNode):
    """The history of a result whose graph was already used by ``backward()`` inside the compiled call."""

    def __init__(self, title: str) -> None:
        super().__init__(title, (Edge(TapeNode("Freed", ())),))  # with an edge, so that the engine asks for gradients

    def backward(self, cotangents: Any, wanted: Any) -> list[Any]:
        raise RuntimeError(SECOND_BACKWARD)


class Cut(TapeNode):
    """The history of a tensor whose own is not to be touched: gradients go to a leaf and no further."""

    def __init__(self, title: str, leaf: Tensor) -> None:
        super().__init__(title, (leaf.gradient_edge(),))
        self.leaf = leaf

    def backward(self, cotangents: Any, wanted: Any) -> list[Any]:
        return list(cotangents)


def cut_off(tensor: Tensor) -> Tensor:
    """Give `tensor` another history that ends at once; returns the leaf at its end, where gradients arrive."""
    assert tensor.grad_fn is not None
    leaf = make(np.zeros(tensor.ndarray.shape, tensor.ndarray.dtype)).requires_grad_()
    tensor.attach(Cut(tensor.grad_fn.title, leaf), 0)
    return leaf


def kept_by_tape(
    tensors: Iterable[Tensor], of: Callable[[PrimitiveNode], Iterable[Any]] = PrimitiveNode.all_kept
) -> list[Tensor]:
    """Tensors that live because the graph of a result still needs them, with those that their own graphs need; `of`
    says which of those that a node keeps."""
    behind: set[TapeNode] = set()
    kept: list[Tensor] = []
    pending = graph_behind(map(history_of, tensors))
    while pending:
        behind |= pending
        saving = [node for node in pending if is_a(node, PrimitiveNode)]
        found = [v.tensor for node in saving for v in node.all_kept() if is_a(v, Saved)]
        kept += [v.tensor for node in saving for v in of(node) if is_a(v, Saved)]
        pending = graph_behind(map(history_of, found), stop=behind) - behind
    return kept


def held_by_tape(tensors: Iterable[Tensor]) -> list[Tensor]:
    """All tensors that live as long as the histories of these do: saved ones, indices, leaves and their gradients."""
    found: dict[int, Tensor] = {}
    stack: list[Any] = [history_of(t) for t in tensors]
    seen = set(map(id, stack))
    while stack:
        value = stack.pop()
        inner = _referents(value)
        if is_a(value, Tensor):
            found[id(value)] = value
            inner = [value._grad, value.base, value._node]
        stack += [each for each in inner if id(each) not in seen]
        seen.update(map(id, inner))
    return list(found.values())


def _referents(value: Any) -> list[Any]:
    """What an object refers to; of a function its variables, and nothing of classes and modules."""
    if is_a(value, types.FunctionType):
        return list(value.__closure__ or ())
    return [] if is_a(value, (type, types.ModuleType, np.ndarray)) else gc.get_referents(value)


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


Ends = Mapping[Edge, frozenset[str]]  # where gradients end, and the names of what they are for


def reached_from(nodes: Iterable[TapeNode], ends: Ends) -> dict[TapeNode, frozenset[str]]:
    """By node: the names of what gradients go on to from it; `nodes` are all from some nodes on to the `ends`.

    Nodes lead to older ones only: in that order each is seen once. Sets are bits, for graphs of thousands of nodes.
    """
    bit_of = {edge: 1 << i for i, edge in enumerate(ends)}
    bits: dict[Any, int] = {}
    for node in sorted(nodes, key=lambda node: node.sequence):
        bits[node] = 0
        for edge in node.edges:
            bits[node] |= bit_of.get(edge) or bits.get(edge.node, 0)
    names = list(ends.values())
    sets = {n: frozenset().union(*[names[i] for i in places_of_bits(n)]) for n in set(bits.values())}
    return {node: sets[n] for node, n in bits.items()}


def places_of_bits(number: int) -> list[int]:
    """The places of the bits that are set, from the last one on."""
    return [i for i in range(number.bit_length()) if number >> i & 1]


def depending_by_zero(reached: Mapping[TapeNode, frozenset[str]], ends: Ends) -> tuple[frozenset[str], ...]:
    """Names of what has gradients in `ends` that depend on each other with a derivative of zero: in one set those which
    come through one node that says so (ReLU's). `reached` is what nodes lead to."""
    found = set[frozenset[str]]()
    for node, names in reached.items():
        if is_a(node, PrimitiveNode) and node.zero:
            found.add(names)
        elif is_a(node, DependenceNode):
            each = [ends.get(edge) or reached.get(edge.node, frozenset()) for edge in node.all_edges]  # type: ignore
            found.add(frozenset().union(*each))
    return tuple(sorted(found, key=sorted))
