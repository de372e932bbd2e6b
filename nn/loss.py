"""Losses as layers. The formulas are in ``nn.functional``."""

from __future__ import annotations

from ..functional.loss_arguments import older_reduction
from ..tensors.tensor import Tensor
from . import functional as F
from .module import Module


class Loss(Module):
    """A distance of an input to a target; `reduction` is "mean", "sum" or "none".

    `size_average` and `reduce` are PyTorch's older way to say the same: False means "sum", and no reduction.
    """

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = older_reduction(size_average, reduce, reduction)


class WeightedLoss(Loss):
    """A loss with a `weight` for each class or each element, kept as a buffer."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(Loss):
    """``(input - target) ** 2``, averaged: ``nn.functional.mse_loss``.

    Input and target have one shape (others are broadcast, with a warning). `reduction` is "mean" (default), "sum", or
    "none", which keeps the shape; "mean" and "sum" give a scalar. `size_average` and `reduce` are PyTorch's older words
    for it, here and in all losses.

    >>> import tracegrad as tg
    >>> tg.nn.MSELoss()(tg.tensor([1.0, 2.0]), tg.tensor([0.0, 4.0]))
    tensor(2.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(Loss):
    """``|input - target|``, averaged: ``nn.functional.l1_loss``.

    Input and target have one shape (others are broadcast, with a warning). `reduction` is "mean" (default), "sum", or
    "none", which keeps the shape; "mean" and "sum" give a scalar.

    >>> import tracegrad as tg
    >>> tg.nn.L1Loss(reduction="sum")(tg.tensor([1.0, 2.0]), tg.tensor([0.0, 4.0]))
    tensor(3.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(Loss):
    """``d ** 2 / (2 * beta)`` where ``d = |input - target|`` is below `beta`, else ``d - beta / 2``, averaged (Girshick
    2015).

    `beta` is 1.0 unless given; with 0 it is the L1 loss (RuntimeError for a negative one). Input and target have one
    shape (others are broadcast, with a warning). `reduction` is "mean" (default), "sum", or "none", which keeps the
    shape.

    >>> import tracegrad as tg
    >>> tg.nn.SmoothL1Loss(reduction="none")(tg.tensor([0.0, 0.0]), tg.tensor([0.5, 4.0]))
    tensor([0.1250, 3.5000])
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(Loss):
    """``d ** 2 / 2`` where ``d = |input - target|`` is below `delta`, else ``delta * (d - delta / 2)``, averaged (Huber
    1964).

    `delta` is 1.0 unless given, and positive (RuntimeError, when it is called). Input and target have one shape (others
    are broadcast, with a warning). `reduction` is "mean" (default), "sum", or "none", which keeps the shape.

    >>> import tracegrad as tg
    >>> tg.nn.HuberLoss(delta=2.0, reduction="none")(tg.tensor([0.0, 0.0]), tg.tensor([0.5, 4.0]))
    tensor([0.1250, 6.0000])
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(WeightedLoss):
    """``-weight[target] * input[target]``, averaged: the input holds log probabilities, as `LogSoftmax` gives them.

    Input [batch, classes, ...] (or [classes]), target int64 [batch, ...] (or a scalar), numbers of classes. `weight`
    [classes] is a buffer; "mean" divides by the sum of the weights of the targets. Targets equal to `ignore_index`
    (default -100) do not count. `reduction` is "mean" (default), "sum", or "none", which gives the target's shape.
    IndexError for a target that is no class.

    >>> import tracegrad as tg
    >>> log_probs = tg.log(tg.tensor([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]))
    >>> tg.nn.NLLLoss()(log_probs, tg.tensor([0, 2]))
    tensor(1.0397)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(WeightedLoss):
    """``-log(softmax(input))[target]``, averaged: the input holds scores of classes, not probabilities.

    Input [batch, classes, ...] (or [classes]); target int64 [batch, ...] (or a scalar), numbers of classes, or
    probabilities of the input's shape and type. `weight` [classes] is a buffer; "mean" divides by the sum of the
    weights of the targets. Targets equal to `ignore_index` (default -100) do not count. `label_smoothing` (default 0.0,
    up to 1) mixes that part of a uniform distribution into the targets. `reduction` is "mean" (default), "sum", or
    "none", which gives [batch, ...]. IndexError for a target that is no class.

    >>> import tracegrad as tg
    >>> scores = tg.tensor([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> tg.nn.CrossEntropyLoss()(scores, tg.tensor([0, 1]))
    tensor(0.3955)
    >>> tg.nn.CrossEntropyLoss(label_smoothing=0.1)(scores, tg.tensor([0, 1]))
    tensor(0.4955)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class BCELoss(WeightedLoss):
    """``-(target * log(input) + (1 - target) * log(1 - input))``, averaged: binary cross entropy of probabilities.

    Input and target have one shape (ValueError) and lie between 0 and 1 (RuntimeError for the input); logarithms count
    as at least -100, so that the loss stays finite. `weight`, a buffer, is broadcast to that shape and multiplies each
    element. `reduction` is "mean" (default), "sum", or "none", which keeps the shape. Of scores, `BCEWithLogitsLoss` is
    the exact one.

    >>> import tracegrad as tg
    >>> tg.nn.BCELoss()(tg.tensor([0.75, 0.5]), tg.tensor([1.0, 0.0]))
    tensor(0.4904)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(WeightedLoss):
    """Binary cross entropy of ``sigmoid(input)``, averaged, without overflow: the input holds scores.

    Input and target have one shape (ValueError for others). `weight` multiplies each element, `pos_weight` the part of
    positive targets (more than 1 for rare ones); both are buffers that are broadcast to that shape. `reduction` is
    "mean" (default), "sum", or "none", which keeps the shape.

    >>> import tracegrad as tg
    >>> tg.nn.BCEWithLogitsLoss()(tg.tensor([0.0, 100.0]), tg.tensor([1.0, 1.0]))
    tensor(0.3466)
    """

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, weight=self.weight, reduction=self.reduction, pos_weight=self.pos_weight
        )


class KLDivLoss(Loss):
    """``target * (log(target) - input)``, averaged: the input holds log probabilities, the target probabilities.

    With `log_target` (default False) the target holds logarithms, too. Input and target have one shape. `reduction` is
    "mean" (default, over all elements), "batchmean" (the divergence as it is defined: the sum divided by the batch's
    length), "sum" or "none", which keeps the shape.

    >>> import tracegrad as tg
    >>> p, q = tg.tensor([[0.5, 0.5]]), tg.tensor([[0.25, 0.75]])
    >>> tg.nn.KLDivLoss(reduction="batchmean")(q.log(), p)
    tensor(0.1438)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)
