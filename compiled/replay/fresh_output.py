"""A tensor that each call makes anew, and how it lies in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...compiler.graph import Builder, Node
from ...ops.layouts.orders import own_strides
from ...ops.memory import aligned_empty, order_of
from ...ops.movement import transpose_primitive
from ...tensors.tensor import Tensor
from ..common.autograd_graph import FreedNode


@dataclass(frozen=True)
class FreshOutput:
    """A tensor that each call makes anew, called `name` in the graph. `live` says that the graph behind it can still
    be differentiated; where a ``backward()`` inside the function has used it up, `spent` stands for it. `leaf` says
    that it requires a gradient without a history. `strides` are those of eager mode, None for what lies row by row;
    where these only turn axes, C writes the tensor with its axes in the `order` in which they lie in memory. `version`
    is how often the call has written to its memory, which is known before anything is saved of it."""

    name: str
    live: bool = False
    spent: FreedNode | None = None
    leaf: bool = False
    strides: tuple[int, ...] | None = None
    order: tuple[int, ...] | None = None
    version: int = 0

    def lay_out(self, tensor: Tensor) -> None:
        """Let `tensor`, which C has written row by row, lie in memory as it does in eager mode."""
        if self.strides is None:
            return
        values = tensor.ndarray
        if self.order is not None:
            shape = tuple(extent for _, extent in sorted(zip(self.order, values.shape, strict=True)))
            laid = np.ndarray(shape, values.dtype, values, strides=self.strides)
        else:
            extent = sum((n - 1) * s for n, s in zip(values.shape, self.strides, strict=True)) // values.itemsize + 1
            laid = as_strided(aligned_empty((extent,), values.dtype), values.shape, self.strides)
            np.copyto(laid, values)
        tensor.ndarray = tensor.buffer.whole = laid

    def written(self, node: Node) -> Node:
        """What C writes for the tensor that `node` computes."""
        if self.order is None:
            return node
        return turned(node, self.order)


def order_in_memory(tensor: Tensor) -> tuple[int, ...] | None:
    """The axes of `tensor` as they lie in memory, None for what lies row by row, and for what has gaps."""
    return None if tensor.ndarray.flags.c_contiguous else order_of(tensor.ndarray)


def strides_in_memory(tensor: Tensor) -> tuple[int, ...] | None:
    """The strides of `tensor` in what C writes, None for what lies row by row, and for what has gaps."""
    return None if order_of(tensor.ndarray) is None else own_strides(tensor.ndarray)


def turned(node: Node, order: tuple[int, ...]) -> Node:
    """What C writes row by row for a tensor whose axes lie in memory in this order."""
    return Builder(node.origin).apply(transpose_primitive, (node,), {"permutation": order})
