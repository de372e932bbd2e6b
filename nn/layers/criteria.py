"""Losses of margins, distances, distributions and label sequences, as layers. The formulas are in ``nn.functional``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tensors.tensor import Tensor
from .. import functional as F
from ..loss import Loss, WeightedLoss
from .similarity import PairwiseDistance


class MarginRankingLoss(Loss):
    """``max(0, -target * (input1 - input2) + margin)``, averaged: the first input is to be larger where the target is
    1, the second where it is -1.

    All three have shapes that broadcast. `margin` is 0.0 unless given. `reduction` is "mean" (default), "sum", or
    "none", which keeps the shape.

    >>> import tracegrad as tg
    >>> a, b = tg.tensor([1.0, 1.0]), tg.tensor([0.0, 3.0])
    >>> tg.nn.MarginRankingLoss(reduction="none")(a, b, tg.tensor([1.0, 1.0]))
    tensor([0., 2.])
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class HingeEmbeddingLoss(Loss):
    """The input where the target is 1, ``max(0, margin - input)`` where it is -1, averaged: the input is a distance.

    Input and target have shapes that broadcast. `margin` is 1.0 unless given. `reduction` is "mean" (default), "sum",
    or "none", which keeps the shape.

    >>> import tracegrad as tg
    >>> distance = tg.tensor([0.25, 0.25, 4.0])
    >>> tg.nn.HingeEmbeddingLoss(reduction="none")(distance, tg.tensor([1.0, -1.0, -1.0]))
    tensor([0.2500, 0.7500, 0.0000])
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(Loss):
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1, averaged; cos is the cosine between
    vectors.

    Inputs [batch, n] with target [batch], or [n] with a scalar (RuntimeError for others). `margin` is 0.0 unless given,
    between -1 and 1. `reduction` is "mean" (default), "sum", or "none", which gives [batch].

    >>> import tracegrad as tg
    >>> a, b = tg.tensor([[1.0, 0.0], [1.0, 0.0]]), tg.tensor([[1.0, 0.0], [3.0, 4.0]])
    >>> tg.nn.CosineEmbeddingLoss(reduction="none")(a, b, tg.tensor([1, -1]))
    tensor([0.0000, 0.6000])
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(Loss):
    """``log(1 + exp(-target * input))``, averaged: the input holds scores, targets are 1 and -1.

    Input and target have one shape. `reduction` is "mean" (default), "sum", or "none", which keeps the shape.

    >>> import tracegrad as tg
    >>> tg.nn.SoftMarginLoss()(tg.tensor([0.0, 2.0]), tg.tensor([1.0, -1.0]))
    tensor(1.4100)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(Loss):
    """The sum of ``max(0, 1 - (input[label] - input[other])) / classes`` over all labels of a sample and all other
    classes, averaged over the batch.

    Input [batch, classes] or [classes]; target int64 of that shape: the numbers of the labels, then -1, whatever
    follows it. `reduction` is "mean" (default), "sum", or "none", which gives [batch]. RuntimeError for another shape
    or a number that is no class.

    >>> import tracegrad as tg
    >>> tg.nn.MultiLabelMarginLoss()(tg.tensor([[0.1, 0.2, 0.4, 0.8]]), tg.tensor([[3, 0, -1, 1]]))
    tensor(0.8500)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(WeightedLoss):
    """The mean over classes of the binary cross entropy of ``sigmoid(input)``, averaged over the batch.

    Input and target [batch, classes] or [classes], targets 0 and 1. `weight` [classes], a buffer, multiplies each
    class. `reduction` is "mean" (default), "sum", or "none", which gives [batch].

    >>> import tracegrad as tg
    >>> tg.nn.MultiLabelSoftMarginLoss()(tg.tensor([[0.0, 100.0]]), tg.tensor([[1.0, 1.0]]))
    tensor(0.3466)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class MultiMarginLoss(WeightedLoss):
    """``sum(max(0, margin - input[target] + input[other]) ** p) / classes`` over all other classes, averaged over the
    batch.

    Input [batch, classes] or [classes], target int64 [batch] or a scalar. `p` is 1 (default) or 2, `margin` 1.0 unless
    given; `weight` [classes], a buffer, multiplies by the target's class. `reduction` is "mean" (default), "sum", or
    "none", which gives [batch]. ValueError for another `p` or a `weight` of more axes, RuntimeError for a target that
    is no class.

    >>> import tracegrad as tg
    >>> tg.nn.MultiMarginLoss()(tg.tensor([[0.1, 0.2, 0.4, 0.8]]), tg.tensor([3]))
    tensor(0.3250)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.ndim != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.ndim}D instead")
        self.p, self.margin = p, margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class TripletMarginLoss(Loss):
    """``max(0, |anchor - positive| - |anchor - negative| + margin)``, averaged (Balntas et al. 2016).

    Inputs [batch, n] or [n]. Distances are `PairwiseDistance` with `p` (default 2.0) and `eps` (1e-6); with `swap` the
    smaller of the negative's distances from anchor and positive counts. `margin` is 1.0 unless given, and positive
    (ValueError). `reduction` is "mean" (default), "sum", or "none", which gives [batch].

    >>> import tracegrad as tg
    >>> anchor, near, far = tg.zeros(1, 2), tg.tensor([[0.5, 0.0]]), tg.tensor([[1.0, 0.0]])
    >>> tg.nn.TripletMarginLoss()(anchor, near, far)
    tensor(0.5000)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin, self.p, self.eps, self.swap = margin, p, eps, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(Loss):
    """``max(0, distance(anchor, positive) - distance(anchor, negative) + margin)``, averaged, with a distance of one's
    own.

    `distance_function` takes two inputs and returns [batch] (default: `PairwiseDistance`). `margin` is 1.0 unless
    given, and positive (ValueError); `swap` is that of `TripletMarginLoss`. `reduction` is "mean" (default), "sum", or
    "none", which keeps the distances' shape.

    >>> import tracegrad as tg
    >>> loss = tg.nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().amax(-1))
    >>> loss(tg.zeros(1, 2), tg.tensor([[0.5, 0.0]]), tg.tensor([[1.0, 0.0]]))
    tensor(0.5000)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(None, None, reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.distance_function: Any = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = margin, swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
