"""Losses of numbers and of probabilities. Each takes `reduction`: "mean", "sum" or "none"."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.function import Function
from ..ops import arithmetic, elementary
from ..ops.comparison import lt, where
from ..ops.requirements import Requirement, require
from ..tensors.composite import composite, relabel, whole
from ..tensors.fusion import fused
from ..tensors.operands import SCALAR_NAMES
from ..tracing.user_warning import warn_user
from . import array_forms
from .activations import logsigmoid
from .arithmetic import raised_to, xlogy
from .loss_arguments import VARIANCES, fitting_variance, older_reduction, reduced, refuse_integers
from .reductions import refuse_mean_of_integers


def _warn_of_broadcasting(input: Any, target: Any) -> None:
    if input.ndarray.shape != target.ndarray.shape:
        warn_user(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
        )


#: Losses keep both operands, whichever is differentiated.
_BOTH = {"input": ("input", "target"), "target": ("input", "target")}
_BOTH_READ = {0: (0, 1), 1: (0, 1)}


@fused("MseLossBackward0", array_forms.mean_squares, array_forms.mean_squares_gradient, operands=2, watched=_BOTH_READ)
def _mean_squares(input: Any, target: Any, reduction: str) -> Any:
    difference = input - target
    return reduced(difference * difference, reduction)


@whole
def mse_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Any:
    """The squared differences."""
    reduction = older_reduction(size_average, reduce, reduction)
    refuse_integers("mse_cpu", input, target)
    _warn_of_broadcasting(input, target)
    return _mean_squares(input, target, reduction)


def l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Any:
    """The absolute differences."""
    reduction = older_reduction(size_average, reduce, reduction)
    _warn_of_broadcasting(input, target)
    if reduction == "mean":
        refuse_mean_of_integers(input, target)
    out = reduced(arithmetic.abs(input - target), reduction)
    if reduction == "mean":
        relabel(out, "MeanBackward0", (input, target))
    return out


@whole
@composite("SmoothL1LossBackward0", _BOTH)
def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """Quadratic for differences below `beta`, linear above. RuntimeError for a negative `beta`."""
    reduction = older_reduction(size_average, reduce, reduction)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta, got {beta}. Give one from 0 on.")
    refuse_integers("smooth_l1_cpu", input, target)
    _warn_of_broadcasting(input, target)
    distance = arithmetic.abs(input - target)
    if beta == 0:
        return reduced(distance, reduction)
    return reduced(where(distance < beta, 0.5 * distance * distance / beta, distance - 0.5 * beta), reduction)


@whole
@composite("HuberLossBackward0", _BOTH)
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Quadratic for differences up to `delta`, linear above with slope `delta`, which is positive."""
    if delta <= 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta, got {delta}")
    refuse_integers("huber_cpu", input, target)
    _warn_of_broadcasting(input, target)
    distance = arithmetic.abs(input - target)
    loss = where(distance <= delta, 0.5 * distance * distance, delta * (distance - 0.5 * delta))
    return reduced(loss, reduction)


# ------------------------------------------------------------------------------------------------------ probabilities


def _check_same_shape(input: Any, target: Any) -> None:
    if input.ndarray.shape != target.ndarray.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )


def _between_0_and_1(x: Any) -> tuple[Any, Any]:
    return x >= 0, x <= 1


PREDICTED = Requirement(
    _between_0_and_1,
    RuntimeError,
    "all elements of input should be between 0 and 1; use binary_cross_entropy_with_logits for scores",
)
OBSERVED = Requirement(
    _between_0_and_1, RuntimeError, "all elements of target should be between 0 and 1: they are probabilities, too"
)


@whole
@composite("BinaryCrossEntropyBackward0")
def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """The cross entropy of probabilities; logarithms are kept above -100, and the derivative finite, as in PyTorch.

    RuntimeError for an input or a target outside [0, 1].
    """
    reduction = older_reduction(size_average, reduce, reduction)
    _check_same_shape(input, target)
    if target.dtype is not input.dtype:
        got, wanted = SCALAR_NAMES[target.dtype.name], SCALAR_NAMES[input.dtype.name]
        raise RuntimeError(f"Found dtype {got} but expected {wanted}: the target has the input's type, use .to(input)")
    require(input, PREDICTED)
    require(target, OBSERVED)
    loss = _ProbabilityCrossEntropy.apply(input, target)
    return reduced(loss if weight is None else loss * weight, reduction)


class _ProbabilityCrossEntropy(Function):
    """The cross entropy element by element, with a derivative that survives 0 and 1."""

    @staticmethod
    def forward(ctx: Any, p: Any, target: Any) -> Any:
        ctx.save_for_backward(p, target)
        log, log_of_rest = elementary.log(p), elementary.log1p(-p)
        return (target - 1) * arithmetic.maximum(log_of_rest, -100.0) - target * arithmetic.maximum(log, -100.0)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        p, target = ctx.saved_tensors
        to_p = g * (p - target) / arithmetic.maximum((1 - p) * p, 1e-12) if ctx.needs_input_grad[0] else None
        return to_p, g * (elementary.log1p(-p) - elementary.log(p)) if ctx.needs_input_grad[1] else None


@whole
@composite("BinaryCrossEntropyWithLogitsBackward0", _BOTH)
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """`binary_cross_entropy` of ``sigmoid(input)`` without overflow; `pos_weight` weighs the positive targets."""
    reduction = older_reduction(size_average, reduce, reduction)
    if input.ndarray.shape != target.ndarray.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    if not target.dtype.is_floating_point:
        name = SCALAR_NAMES[target.dtype.name]
        raise RuntimeError(f"result type Float can't be cast to the desired output type {name}: convert the target")
    log = logsigmoid(input)
    if pos_weight is not None:
        log = log * ((pos_weight - 1) * target + 1)
    loss = (1 - target) * input - log
    return reduced(loss if weight is None else loss * weight, reduction)


@whole
def kl_div(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """``target * (log(target) - input)``: `input` holds log-probabilities; "batchmean" divides by the batch."""
    reduction = older_reduction(size_average, reduce, reduction)
    if not (input.dtype.is_floating_point and target.dtype.is_floating_point):
        raise RuntimeError("kl_div: Integral inputs not supported. Convert them first, e.g. with .float().")
    if log_target:
        loss = elementary.exp(target) * (target - input)
    else:
        loss = xlogy(target, target) - target * input
    if reduction == "batchmean":
        return reduced(loss, "sum") / input.ndarray.shape[0]
    return reduced(loss, reduction)


@whole
def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """Minus the log-likelihood of `target` under normal distributions, up to a constant.

    `var` is a number, or has the shape of `input`, with or without its last axis. ValueError where one is negative.
    """
    if isinstance(var, (int, float)):
        if var < 0:
            raise VARIANCES.error(VARIANCES.message)
    else:
        require(lt(var, 0), VARIANCES)
    safe = raised_to(fitting_variance(input, var), eps)
    loss = 0.5 * (elementary.log(safe) + (input - target) ** 2 / safe)
    return reduced(loss + 0.9189385332046727 if full else loss, reduction)


def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Minus the log-likelihood of `target` under Poisson distributions; `full` adds Stirling's term of target alone."""
    reduction = older_reduction(size_average, reduce, reduction)
    loss = elementary.exp(input) - target * input if log_input else input - target * elementary.log(input + eps)
    if full:
        stirling = target * elementary.log(target) - target + 0.5 * elementary.log(2 * math.pi * target)
        loss = loss + where(target <= 1, 0.0, stirling)
    return reduced(loss, reduction)
