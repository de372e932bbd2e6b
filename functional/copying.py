"""Tensors under Python's copy and pickle protocols."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.array import Array, Buffer, eager
from ..tensors.tensor import Tensor, blank


def _rebuilt(kind: type[Tensor], values: np.ndarray, requires_grad: bool) -> Tensor:
    tensor: Tensor = blank(kind)
    Array.__init__(tensor, values)
    return tensor.requires_grad_() if requires_grad else tensor


def reduce_ex(self: Tensor, protocol: Any) -> Any:
    """Pickled as numbers, type and `requires_grad`; the history stays behind."""
    return _rebuilt, (type(self), np.array(self.detach().numpy(), order="C"), self.requires_grad)


def shallow(self: Tensor) -> Tensor:
    """``copy.copy``: another tensor over the same memory."""
    copied: Tensor = blank(type(self))
    Array.__init__(copied, self.ndarray, self.buffer, self.steps)
    eager().read(self.detach(), "copy.copy()")
    return copied.requires_grad_() if self.requires_grad and self.is_leaf else copied


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf with memory of its own; tensors that share memory have copies that do. RuntimeError where there is a
    history."""
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            "Use detach().clone(), or clone() to stay in the graph."
        )
    eager().read(self.detach(), "copy.deepcopy()")
    copied: Tensor = blank(type(self))
    Array.__init__(copied, *copied_memory(self, memo))
    memo[id(self)] = copied
    if self.requires_grad:
        copied.requires_grad_()
    if self.grad is not None:
        copied.grad = deepcopy(self.grad, memo)
    return copied


def copied_memory(tensor: Tensor, memo: dict[int, Any]) -> tuple[Any, ...]:
    """What `Array` is made of for a copy of `tensor`: each piece of memory is copied once, as a whole."""
    buffer = tensor.buffer
    whole = buffer.whole
    if not whole.flags.c_contiguous:
        return (np.array(tensor.ndarray, order="C"),)
    if id(whole) not in memo:
        memo[id(whole)] = whole.copy()
        memo.setdefault(id(memo), []).append(whole)  # what `memo` knows by its identity must live as long
    if id(buffer) not in memo:
        memo[id(buffer)] = Buffer(memo[id(whole)])
        memo.setdefault(id(memo), []).append(buffer)
    return _shown_alike(tensor.ndarray, whole, memo[id(whole)]), memo[id(buffer)], tensor.steps


def _shown_alike(view: np.ndarray, whole: np.ndarray, copied: np.ndarray) -> np.ndarray:
    """The part of `copied` that `view` is of `whole`."""
    if view is whole:
        return copied
    offset = view.ctypes.data - whole.ctypes.data
    shown = np.ndarray(view.shape, view.dtype, copied, offset, view.strides)
    shown.flags.writeable = view.flags.writeable
    return shown
