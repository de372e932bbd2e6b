"""Losses that are negative log-likelihoods, as layers. The formulas are in ``nn.functional``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_user
from .. import functional as F
from ..linear import Linear
from ..loss import Loss, NLLLoss, WeightedLoss

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.calling.annotations import DeviceLike


class PoissonNLLLoss(Loss):
    """``exp(input) - target * input``, averaged: minus the log-likelihood of counts whose expectations have logarithms
    `input`.

    With ``log_input=False`` the input is the expectation itself: ``input - target * log(input + eps)``, `eps` 1e-8.
    `full` (default False) adds Stirling's approximation of ``log(target!)`` for targets above 1. Input and target have
    one shape. `reduction` is "mean" (default), "sum", or "none", which keeps the shape.

    >>> import tracegrad as tg
    >>> tg.nn.PoissonNLLLoss()(tg.tensor([0.0, 1.0]), tg.tensor([1.0, 3.0]))
    tensor(0.3591)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(Loss):
    """``(log(max(var, eps)) + (input - target) ** 2 / max(var, eps)) / 2``, averaged: minus the log-likelihood of
    normal distributions.

    Called with the means, the targets and the variances `var`, of one shape; `var` may lack the last axis, have length
    1 there, or be a number. `full` (default False) adds the constant ``log(2 * pi) / 2``; `eps` is 1e-6 unless given.
    `reduction` is "mean" (default), "sum", or "none", which keeps the shape. ValueError for a negative variance.

    >>> import tracegrad as tg
    >>> tg.nn.GaussianNLLLoss()(tg.tensor([0.0, 1.0]), tg.tensor([2.0, 1.0]), tg.tensor([4.0, 1.0]))
    tensor(0.5966)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class CTCLoss(Loss):
    """Minus the log probability of label sequences, summed over all alignments to longer sequences of scores (Graves et
    al. 2006).

    Called with ``log_probs`` [time, batch, classes] (logarithms of probabilities, or without batch), `targets` int64
    [batch, longest] or all joined, `input_lengths` and `target_lengths` [batch]. Class `blank` (default 0) stands for
    no label, and is no target. `reduction` is "mean" (default: of losses divided by target lengths), "sum", or "none",
    which gives [batch]. A target that does not fit gives inf, or 0 with `zero_infinity`.

    >>> import tracegrad as tg
    >>> log_probs = tg.full((4, 1, 3), 1 / 3).log()
    >>> tg.nn.CTCLoss(reduction="sum")(log_probs, tg.tensor([[1, 2]]), tg.tensor([4]), tg.tensor([2]))
    tensor(1.6864)
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class NLLLoss2d(NLLLoss):
    """The old name of `NLLLoss`, of which PyTorch warns (FutureWarning): for input [batch, classes, height, width] and
    target int64 [batch, height, width].

    >>> import tracegrad as tg
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     loss = tg.nn.NLLLoss2d()
    >>> loss(tg.full((1, 2, 2, 2), -0.5), tg.zeros(1, 2, 2, dtype=tg.int64))
    tensor(0.5000)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn_user(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
            "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
            FutureWarning,
        )
        super().__init__(*args, **kwargs)


class LinearCrossEntropyLoss(WeightedLoss):
    """A linear map and the cross entropy of its scores: ``cross_entropy(linear(input), target)``.

    Input [batch, in_features], target int64 [batch], or without batch; with `out_features` the scores are [batch,
    num_classes, *out_features], and the target's shape is [batch, *out_features]. The map is the submodule `linear`,
    whose weight [num_classes * product of out_features, in_features] (and bias, with ``bias=True``) start as those of
    `Linear`. `weight` [num_classes], `ignore_index`, `label_smoothing` and `reduction` are those of `CrossEntropyLoss`;
    `options` are PyTorch's choice of a method, and change nothing here. RuntimeError for a `weight` or a
    `label_smoothing` that does not fit.

    >>> import tracegrad as tg
    >>> loss = tg.nn.LinearCrossEntropyLoss(3, 5)
    >>> loss(tg.ones(2, 3), tg.tensor([0, 4])).shape, loss.linear.weight.shape
    (tracegrad.Size([]), tracegrad.Size([5, 3]))
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: object = None,
    ) -> None:
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, None, None, reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing, self.options = ignore_index, label_smoothing, options
        results = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, results, bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        outer, bias = (self.num_classes, *self.out_features), self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*outer, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(*outer),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        shown: dict[str, Any] = {"in_features": self.linear.in_features, "num_classes": self.num_classes}
        shown |= {"out_features": self.out_features, "bias": self.linear.bias is not None}
        names = ("reduction", "ignore_index", "label_smoothing", "options")
        return ", ".join(f"{name}={value}" for name, value in (shown | {n: getattr(self, n) for n in names}).items())
