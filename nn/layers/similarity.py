"""Distances and similarities as layers."""

from __future__ import annotations

from ...tensors.tensor import Tensor
from .. import functional as F
from ..module import Module


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along `dim` (default 1): ``x1 · x2 / (max(|x1|, eps) * max(|x2|, eps))``.

    Inputs of shapes that broadcast, output that shape without the axis `dim`, of their floating type. `eps` is 1e-8
    unless given.

    >>> import tracegrad as tg
    >>> tg.nn.CosineSimilarity()(tg.tensor([[1.0, 0.0], [1.0, 1.0]]), tg.tensor([[0.0, 2.0], [3.0, 3.0]]))
    tensor([0., 1.])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The `p`-norm (default 2.0) of ``x1 - x2 + eps`` along the last axis; `eps` (1e-6) keeps the gradient finite at 0.

    Inputs [batch, n] or [n], output [batch] or a scalar; with `keepdim` the last axis stays, with length 1.

    >>> import tracegrad as tg
    >>> tg.nn.PairwiseDistance()(tg.tensor([[0.0, 0.0]]), tg.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
