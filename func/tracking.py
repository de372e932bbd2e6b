"""What a derivative is taken by: copies of the given tensors, so that derivatives nest, and what is seen of them."""

from __future__ import annotations

from typing import Any

from ..functional.trees import flatten_tree, unflatten_tree
from ..ops.identity import copy
from ..tape.grad_mode import is_recording
from ..tape.nodes import AccumulateGrad, Node
from ..tape.tangents import alias_of, levels
from ..tensors.tensor import Tensor


class OuterInput(Node):
    """Where a graph within a batched call ends that goes on outside of it."""


def _leaf(x: Tensor) -> Tensor:
    """The same memory as a leaf, and as a normal tensor, also where `x` is an inference tensor."""
    leaf: Tensor = alias_of(x)
    if leaf.buffer.version < 0:
        leaf.buffer.version = 0  # of the alias alone
    return leaf.requires_grad_()


class Tracked:
    """A nest of tensors to differentiate by, `tree`, its `leaves`, and the graphs that reach beyond them."""

    def __init__(self, tree: Any, what: str) -> None:
        given, self.shape = flatten_tree(tree)
        for x in given:
            _require_tensor(x, what)
        self.is_outer = any(x.requires_grad for x in given)  # somebody differentiates by the given tensors as well
        self.leaves = [copy(x) if x.requires_grad else _leaf(x) for x in given]
        self.tree = unflatten_tree(self.shape, self.leaves)

    def nest(self, leaves: Any) -> Any:
        """Tensors, one for each leaf, nested as what was given."""
        return unflatten_tree(self.shape, list(leaves))

    def released(self, tree: Any) -> Any:
        """Results for the caller: their graphs are kept if they reach tensors beyond the tracked ones."""
        found, shape = flatten_tree(tree)
        return unflatten_tree(shape, [self._released(x) for x in found])

    def _released(self, x: Any) -> Any:
        if not isinstance(x, Tensor) or not x.requires_grad:
            return x
        if is_recording() and (self.is_outer or self._reaches_beyond(x)):
            return x
        alias = x.detach()
        if levels.open is not None and levels.open.has_tangent(x):
            levels.open.give(alias, self._released(levels.open.tangent_of(x)))
        return alias

    def _reaches_beyond(self, x: Tensor) -> bool:
        """Whether a leaf that is none of the tracked ones takes part in x."""
        own = {id(leaf) for leaf in self.leaves}
        seen, waiting = set[int](), [x.gradient_edge().node]
        while waiting:
            node = waiting.pop()
            if node is None or id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, OuterInput):
                return True
            if isinstance(node, AccumulateGrad):
                if id(node.variable) not in own:
                    return True
            else:
                waiting += [edge.node for edge in node.edges]
        return False


def _require_tensor(x: Any, what: str) -> None:
    if not isinstance(x, Tensor):
        if what.startswith("jvp"):
            raise RuntimeError(f"{what}: Expected primals to only contain Tensors, got {type(x)}")
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        if what.startswith("jvp"):
            raise ValueError(f"{what}: Expected primal to be floating point or complex, but got: {x.dtype}")
        raise RuntimeError(f"only Tensors of floating point dtype can require gradients, {what} got {x.dtype}")
