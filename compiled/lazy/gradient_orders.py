"""How the gradients of a recorded call lie in memory: as those of its own tape do, which is asked once."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ...ops.layouts.formats import laid_as
from ...ops.layouts.orders import kept_order
from ...tape.grad_mode import no_grad
from ...tape.nodes import AccumulateGrad, PrimitiveNode
from ...tape.nodes import Node as TapeNode
from ...tape.reverse import grad_between
from ...tensors.tensor import Tensor
from ..common.tensor_memory import hooks_on, memory_of

Orders = Mapping[str, tuple[int, ...]]


def gradient_orders(live: Sequence[Tensor], inputs: Mapping[str, Any], behind: Collection[TapeNode]) -> Orders:
    """The orders of axes, by label, of gradients that do not lie row by row, for cotangents that lie as the results do.

    Where all operands and results lie row by row so do gradients. What the inputs were computed from is no part of the
    call. Nothing of the program's own is called: with hooks, or derivatives that it defines, gradients lie row by row.
    """
    if all(memory_of(x)[1].contiguous for x in (*live, *inputs.values())):
        return {}
    library = (PrimitiveNode, AccumulateGrad)
    if not all(isinstance(node, library) for node in behind):
        return {}
    ends = [x.grad_fn for x in inputs.values() if x.grad_fn is not None]
    if any(hooks_on(x) for x in inputs.values() if x.is_leaf) or any(map(_is_observed, (*behind, *ends))):
        return {}
    with no_grad():
        ones = [x.new_ones(()).expand(x.shape).clone() for x in live]
        ones = [laid_as(one, x.ndarray) for one, x in zip(ones, live, strict=True)]
    found = grad_between(live, list(inputs.values()), ones)
    return {
        label: kept_order(g.ndarray)
        for label, g in zip(inputs, found, strict=True)
        if g is not None and not g.ndarray.flags.c_contiguous
    }


def _is_observed(node: TapeNode) -> bool:
    """Whether the program would notice that gradients pass a node: it has hooks, or is to keep them."""
    return bool(node.tensor_hooks or node.pre_hooks or node.post_hooks or node.retained)
