"""Tensors under Python's copy and pickle protocols."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..autograd.tensor import Tensor
from ..ops.array import Array


def _rebuilt(kind: type[Tensor], values: np.ndarray, requires_grad: bool) -> Tensor:
    tensor: Tensor = object.__new__(kind)
    Array.__init__(tensor, values)
    return tensor.requires_grad_() if requires_grad else tensor


def reduce_ex(self: Tensor, protocol: Any) -> Any:
    """Pickled as numbers, type and `requires_grad`; the history stays behind."""
    return _rebuilt, (type(self), np.array(self.detach().numpy(), order="C"), self.requires_grad)


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf with memory of its own; RuntimeError for a tensor with a history."""
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            "Use detach().clone(), or clone() to stay in the graph."
        )
    copied = _rebuilt(type(self), np.array(self.detach().numpy(), order="C"), self.requires_grad)
    memo[id(self)] = copied
    if self.grad is not None:
        copied.grad = deepcopy(self.grad, memo)
    return copied
