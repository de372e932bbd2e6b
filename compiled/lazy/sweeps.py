"""Backward passes of noted calls, repeated without the engine.

Where `backward()` goes through noted calls only and gives gradients to leaves that had none, what it notes is the same
each time: the way through the tree of events from here to there, and which new memories are the leaves' gradients. So
the engine finds it once, and later passes check that they are like it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...tape.grad_mode import is_grad_enabled
from ...tape.nodes import AccumulateGrad
from ...tensors.tensor import Tensor, make
from ...tracing.watch import changes
from .backward_program import CompiledNode
from .event_trie import Point

if TYPE_CHECKING:
    from .deferred_calls import Deferred


@dataclass(frozen=True, eq=False)
class Leaf:
    """A leaf that the pass gives a gradient: the memory's number behind the first of the pass, and its token."""

    tensor: Tensor
    shown: np.ndarray  # ``leaf.data = other`` may give it another shape than its gradient has
    memory: int
    token: int


@dataclass(frozen=True, eq=False)
class Visited:
    """A call that the pass goes through: its backward programs, where it was noted, and where its edges lead: a leaf,
    another call (by its position among the visited), or nowhere."""

    backward: Any
    token: int
    edges: tuple[Tensor | int | None, ...]


@dataclass(frozen=True, eq=False)
class SweepPlan:
    """One backward pass: from a point of the tree of events to another."""

    output: int
    visited: tuple[Visited, ...]
    leaves: tuple[Leaf, ...]
    after: Point
    memories: int
    ops: int


def repeat(deferred: Deferred, loss: Tensor) -> bool:
    """Do the backward pass of `loss` as a plan says; False, with nothing done, if there is none that fits."""
    node = loss._node
    if not isinstance(node, CompiledNode) or loss._base is not None:
        return False
    plan: SweepPlan | None = deferred.here.sweeps.get((node.token, loss._output))
    if plan is None:
        return False
    nodes: list[Any] = [node] + [None] * (len(plan.visited) - 1)
    for position, visited in enumerate(plan.visited):
        if not _fits(nodes, position, visited, deferred.segment):
            return False
    for leaf in plan.leaves:
        tensor = leaf.tensor
        if tensor._grad is not None or not tensor._requires or tensor._node is not None or _is_hooked(tensor):
            return False
        if tensor.ndarray is not leaf.shown:
            return False
    gradients = [make(np.empty(leaf.tensor.ndarray.shape, leaf.tensor.ndarray.dtype)) for leaf in plan.leaves]
    deferred.advance(plan, [gradient.ndarray for gradient in gradients])
    for leaf, gradient in zip(plan.leaves, gradients, strict=True):
        gradient.place = (deferred.segment, leaf.token)
        leaf.tensor._grad = gradient
    changes.grads += 1
    for each in nodes:
        each.release()
    return True


def _fits(nodes: list[Any], position: int, visited: Visited, segment: Any) -> bool:
    node = nodes[position]
    if node.backward_programs is not visited.backward or node.segment is not segment or node.token != visited.token:
        return False
    if node.tensor_hooks or node.retained or node.pre_hooks or node.post_hooks or not node.is_intact():
        return False
    for edge, leads_to in zip(node.edges, visited.edges, strict=True):
        after = edge.node
        if type(leads_to) is int:
            if not isinstance(after, CompiledNode) or (nodes[leads_to] is not None and nodes[leads_to] is not after):
                return False
            nodes[leads_to] = after
        elif leads_to is None:
            if after is not None:
                return False
        elif type(after) is not AccumulateGrad or after.variable is not leads_to:
            return False
    return True


def _is_hooked(leaf: Tensor) -> bool:
    return bool(leaf.leaf_hooks or leaf.post_accumulate_hooks)


class Observed:
    """A pass that the engine does: what can be learnt from it, looked at before and after."""

    def __init__(self, deferred: Deferred, loss: Tensor) -> None:
        self._deferred = deferred
        self._before, self._segment = deferred.here, deferred.segment
        self._memories, self._ops = deferred.count_of_memories, deferred.ops
        self._output, self._root = loss._output, loss._node
        self._nodes = _calls_behind(loss, deferred)
        self._visited = None if self._nodes is None else tuple(map(self._seen, self._nodes))
        leaves = {id(leaf): leaf for v in self._visited or () for leaf in v.edges if isinstance(leaf, Tensor)}
        self._leaves = [leaf for leaf in leaves.values() if leaf._grad is None and not _is_hooked(leaf)]
        self._is_plain = self._visited is not None and len(self._leaves) == len(leaves)

    def _seen(self, node: Any) -> Visited:
        assert self._nodes is not None
        edges: list[Tensor | int | None] = []
        for edge in node.edges:
            after: Any = edge.node
            if after is None:
                edges.append(None)
            else:
                edges.append(after.variable if isinstance(after, AccumulateGrad) else self._nodes.index(after))
        return Visited(node.backward_programs, node.token, tuple(edges))

    def learn(self) -> None:
        """After the pass: keep the plan, if what it has brought are gradients of leaves and nothing else."""
        deferred = self._deferred
        if not self._is_plain or deferred.segment is not self._segment:
            return
        numbers = deferred.numbers_since(self._memories)
        found = [leaf for leaf in self._leaves if leaf._grad is not None]
        leaves = []
        for leaf in found:
            gradient: Any = leaf._grad
            number = numbers.pop(id(gradient.ndarray), None)
            if number is None or gradient.place is None or gradient.place[0] is not self._segment:
                return
            leaves.append(Leaf(leaf, leaf.ndarray, number, gradient.place[1]))
        if numbers:
            return
        assert self._visited is not None and isinstance(self._root, CompiledNode)
        plan = SweepPlan(
            self._output, self._visited, tuple(leaves), deferred.here,
            deferred.count_of_memories - self._memories, deferred.ops - self._ops,
        )  # fmt: skip
        self._before.sweeps[self._root.token, self._output] = plan


def _calls_behind(loss: Tensor, deferred: Deferred) -> list[CompiledNode] | None:
    """The noted calls that the pass goes through; None if it goes through anything else."""
    if loss._base is not None or not isinstance(loss._node, CompiledNode):
        return None
    found: list[Any] = [loss._node]
    for node in found:
        if not isinstance(node, CompiledNode) or node.segment is not deferred.segment or not _is_plain(node):
            return None
        for edge in node.edges:
            after = edge.node
            if after is not None and not isinstance(after, AccumulateGrad) and after not in found:
                found.append(after)
    return found


def _is_plain(node: CompiledNode) -> bool:
    return not (node.tensor_hooks or node.retained or node.pre_hooks or node.post_hooks)


def backward_of(deferred: Deferred, otherwise: Any, loss: Any) -> None:
    """``loss.backward()`` in a re-recorded call."""
    if not (is_grad_enabled() and deferred.segments.are_open):
        otherwise(loss)
    elif not repeat(deferred, loss):
        observed = Observed(deferred, loss)
        otherwise(loss)
        observed.learn()
