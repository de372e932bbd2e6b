"""Losses of numbers and of probabilities. Each takes `reduction`: "mean", "sum" or "none"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..ops import arithmetic, elementary
from ..ops.comparison import lt, where
from ..ops.pointwise import common_dtype
from ..ops.requirements import require
from ..ops.types import get_default_dtype
from ..ops.vjp import unbroadcast
from ..tape.grad_mode import no_grad
from ..tensors.autocasting import full_precision
from ..tensors.composite import whole
from ..tensors.fusion import fused
from ..tensors.in_place import require_castable
from ..tracing.user_warning import warn_user
from .arithmetic import xlogy
from .checks.derivatives import refusing_mixed_types
from .elementwise.bounds import raised_to
from .forms import losses as forms
from .loss_arguments import (
    VARIANCES,
    both_by_rows,
    broadcast_types,
    check_weight,
    compared,
    fitting_variance,
    older_reduction,
    reduced,
    weighted,
)
from .reductions import in_dtype, refuse_mean_of_integers

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


def _warn_of_broadcasting(input: Any, target: Any) -> None:
    if input.ndarray.shape != target.ndarray.shape:
        warn_user(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
        )


#: Losses keep both operands, whichever is differentiated.
_BOTH_READ = {0: (0, 1), 1: (0, 1)}


def _slopes(g: Any, wanted: Sequence[bool], input: Any, target: Any, reduction: str) -> list[Any]:
    difference = input - target
    share = g / difference.ndarray.size if reduction == "mean" else g
    slope = share * difference * 2
    pairs = zip((slope, -slope if wanted[1] else None), (input, target), wanted, strict=True)
    return [unbroadcast(each, x.ndarray.shape) if want else None for each, x, want in pairs]


@fused(
    "MseLossBackward0",
    forms.squared,
    forms.squared_gradient,
    operands=2,
    watched=_BOTH_READ,
    derivatives=_slopes,
)
def _mean_squares(input: Any, target: Any, reduction: str) -> Any:
    difference = input - target
    return reduced(difference * difference, reduction)


@full_precision
@whole
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """``(input - target) ** 2``, reduced: the mean, the "sum", or "none".

    Shapes are broadcast (with a UserWarning). With a `weight` of the input's shape squares are multiplied by it, and
    the mean is divided by the sum of the weights. NotImplementedError for two integers and for complex numbers,
    ValueError for another `reduction`. `size_average` and `reduce` are PyTorch's older arguments for `reduction`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.mse_loss(tg.tensor([1., 2.]), tg.tensor([1., 4.]))
    tensor(2.)
    """
    reduction = older_reduction(size_average, reduce, reduction)
    input, target = broadcast_types(*compared("mse_cpu", input, target))
    _warn_of_broadcasting(input, target)
    if weight is not None:
        return weighted((input - target) ** 2, input, weight, reduction)
    input, target = both_by_rows(input, target)
    return _mean_squares(input, target, reduction)


@fused("MeanBackward0", forms.absolute, forms.absolute_gradient, operands=2, one_kernel=False)
def _mean_distance(input: Any, target: Any, reduction: str) -> Any:
    return reduced(arithmetic.abs(input - target), reduction)


@full_precision
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """``|input - target|``, reduced: the mean, the "sum", or "none". The derivative at 0 is 0.

    Shapes are broadcast (with a UserWarning). With a `weight` of the input's shape differences are multiplied by it,
    and the mean is divided by the sum of the weights. ValueError for another `reduction`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.l1_loss(tg.tensor([1., 2.]), tg.tensor([1., 4.]))
    tensor(1.)
    """
    reduction = older_reduction(size_average, reduce, reduction)
    input, target = broadcast_types(input, target)
    _warn_of_broadcasting(input, target)
    if weight is not None:
        return weighted(arithmetic.abs(input - target), input, weight, reduction)
    if reduction == "mean":
        refuse_mean_of_integers(input, target)
        return _mean_distance(*both_by_rows(input, target), reduction)
    return reduced(arithmetic.abs(input - target), reduction)


@fused("SmoothL1LossBackward0", forms.smooth_absolute, forms.smooth_absolute_gradient, operands=2, watched=_BOTH_READ)
def _smooth_l1(input: Any, target: Any, reduction: str, beta: float) -> Any:
    distance = arithmetic.abs(input - target)
    if beta == 0:
        return reduced(distance, reduction)
    far = distance >= beta
    near = where(far, 0, distance)  # where infinity would give gradients that are NaN
    return reduced(where(far, distance - 0.5 * beta, 0.5 * near * near / beta), reduction)


@full_precision
@whole
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """``d**2 / (2 * beta)`` where ``d = |input - target|`` is below `beta`, else ``d - beta / 2``; reduced.

    Shapes are broadcast (with a UserWarning). `reduction` is "mean", "sum" or "none". RuntimeError for a negative
    `beta`; with 0 it is `l1_loss`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.smooth_l1_loss(tg.tensor([0., 0.]), tg.tensor([0.5, 3.]), reduction="none")
    tensor([0.1250, 2.5000])
    """
    reduction = older_reduction(size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta, got {beta}. Give one from 0 on.")
    input, target = broadcast_types(*compared("smooth_l1_cpu", input, target))
    _warn_of_broadcasting(input, target)
    input, target = both_by_rows(input, target)
    return _smooth_l1(input, target, reduction, beta)


@full_precision
def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """``d**2 / 2`` where ``d = |input - target|`` is at most `delta`, else ``delta * (d - delta / 2)``; reduced.

    Shapes are broadcast (with a UserWarning). `reduction` is "mean", "sum" or "none". With a `weight` of the input's
    shape the losses are multiplied by it; their mean is a plain one. The result has the input's type. RuntimeError
    unless `delta` is positive.

    >>> import tracegrad as tg
    >>> tg.nn.functional.huber_loss(tg.tensor([0., 0.]), tg.tensor([0.5, 3.]), reduction="none", delta=2.)
    tensor([0.1250, 4.0000])
    """
    if delta <= 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta, got {delta}")
    if weight is None:
        return _huber_loss(input, target, reduction, delta)
    check_weight(input, weight)
    return reduced(_huber_loss(input, target, "none", delta) * weight, reduction)


@whole
def _huber_loss(input: Any, target: Any, reduction: str, delta: float) -> Any:
    given = input, target
    input, target = compared("huber_cpu", input, target)
    require_castable(common_dtype([input, target]), given[0].dtype)  # that of the losses, too
    _warn_of_broadcasting(input, target)
    if given[0].ndarray.dtype is given[1].ndarray.dtype:
        return _huber(*both_by_rows(input, target), reduction, delta)
    with no_grad():
        loss = _huber(*both_by_rows(input, target), reduction, delta)
    return refusing_mixed_types(loss, *given, "HuberLossBackward0")


@fused("HuberLossBackward0", forms.huber, forms.huber_gradient, operands=2, watched=_BOTH_READ)
def _huber(input: Any, target: Any, reduction: str, delta: float) -> Any:
    distance = arithmetic.abs(input - target)
    far = distance > delta
    near = where(far, 0, distance)
    loss = where(far, delta * (distance - 0.5 * delta), 0.5 * near * near)
    return reduced(in_dtype(loss, input.dtype), reduction)


# ---------------------------------------------------------------------------------------------------- log-likelihoods


_MEANS_OF_ELEMENTS = (
    "reduction: 'mean' divides the total loss by both the batch size and the support size. 'batchmean' divides only by "
    "the batch size, and aligns with the KL div math definition. 'mean' will be changed to behave the same as "
    "'batchmean' in the next major release."
)


@full_precision
@whole
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """``target * (log(target) - input)``, where `input` holds log-probabilities; reduced. 0 where `target` is 0.

    With `log_target` so does `target`. The "mean" is that of all elements (with a UserWarning, since the divergence is
    the sum divided by the batch, axis 0: "batchmean"). Shapes are broadcast.

    >>> import tracegrad as tg
    >>> tg.nn.functional.kl_div(tg.tensor([[0.5, 0.5]]).log(), tg.tensor([[0., 1.]]), reduction="batchmean")
    tensor(0.6931)
    """
    reduction = older_reduction(size_average, reduce, reduction)
    if reduction == "mean":
        warn_user(_MEANS_OF_ELEMENTS)
    if not (input.dtype.is_floating_point and target.dtype.is_floating_point):
        raise RuntimeError("kl_div: Integral inputs not supported. Convert them first, e.g. with .float().")
    if log_target:
        loss = elementary.exp(target) * (target - input)
    else:
        loss = xlogy(target, target) - target * input
    if reduction == "batchmean":
        total = reduced(loss, "sum")
        return total / input.ndarray.shape[0] if input.ndarray.ndim else total
    return reduced(loss, reduction)


@whole
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """``(log(var) + (input - target) ** 2 / var) / 2``: minus the log-likelihood under normal distributions; reduced.

    `full` adds the constant ``log(2 * pi) / 2``. `var` is a number, or has the shape of `input`, with or without its
    last axis; it counts as no less than `eps`. ValueError where it is negative or of another shape.

    >>> import tracegrad as tg
    >>> tg.nn.functional.gaussian_nll_loss(tg.tensor([0., 0.]), tg.tensor([0., 2.]), tg.tensor([1., 1.]))
    tensor(1.)
    """
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid; it is one of none, mean, sum")
    if isinstance(var, (int, float)):
        if var < 0:
            raise VARIANCES.error(VARIANCES.message)
    else:
        require(lt(var, 0), VARIANCES)
        require_castable(get_default_dtype(), var.dtype)  # it is raised in place
    safe = raised_to(fitting_variance(input, var), eps)
    loss = 0.5 * (elementary.log(safe) + (input - target) ** 2 / safe)
    return reduced(loss + 0.9189385332046727 if full else loss, reduction)


@full_precision
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``exp(input) - target * input``: minus the log-likelihood of counts under Poisson distributions; reduced.

    `input` and `target` are of one shape, or broadcast. Without `log_input`, `input` is the rate itself:
    ``input - target * log(input + eps)``. `full` adds Stirling's approximation of ``log(target!)`` where `target` is
    above 1. ValueError for another `reduction`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.poisson_nll_loss(tg.tensor([0., 0.]), tg.tensor([1., 3.]))
    tensor(1.)
    """
    reduction = older_reduction(size_average, reduce, reduction)
    loss = elementary.exp(input) - target * input if log_input else input - target * elementary.log(input + eps)
    if full:
        stirling = target * elementary.log(target) - target + 0.5 * elementary.log(2 * math.pi * target)
        loss = loss + where(target <= 1, 0.0, stirling)
    return reduced(loss, reduction)
