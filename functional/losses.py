"""Losses. Each takes `reduction`: "mean", "sum" or "none"."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.function import Function
from ..ops import arithmetic, elementary, indexing, movement
from ..ops import reductions as folds
from ..ops.comparison import lt, ne, where
from ..ops.pointwise import cast
from ..ops.requirements import Requirement, require
from ..tensors.composite import composite, relabel, whole
from ..tensors.operands import SCALAR_NAMES
from ..tracing.user_warning import warn_user
from .activations import log_softmax, logsigmoid
from .arithmetic import raised_to, xlogy
from .loss_arguments import VARIANCES, check_class_weights, fitting_variance, older_reduction, refuse_integers
from .reductions import refuse_mean_of_integers


def reduced(loss: Any, reduction: str) -> Any:
    """`loss` element by element, its sum, or its mean."""
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction; it is one of none, mean, sum")
    total = folds.sum(loss, tuple(range(loss.ndarray.ndim)))
    return total / loss.ndarray.size if reduction == "mean" else total


def _warn_of_broadcasting(input: Any, target: Any) -> None:
    if input.ndarray.shape != target.ndarray.shape:
        warn_user(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
        )


@whole
@composite("MseLossBackward0")
def mse_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Any:
    """The squared differences."""
    reduction = older_reduction(size_average, reduce, reduction)
    refuse_integers("mse_cpu", input, target)
    _warn_of_broadcasting(input, target)
    difference = input - target
    return reduced(difference * difference, reduction)


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
@composite("SmoothL1LossBackward0")
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
@composite("HuberLossBackward0")
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Quadratic for differences up to `delta`, linear above with slope `delta`, which is positive."""
    if delta <= 0:
        raise RuntimeError(f"huber_loss does not support non-positive values for delta, got {delta}")
    refuse_integers("huber_cpu", input, target)
    _warn_of_broadcasting(input, target)
    distance = arithmetic.abs(input - target)
    loss = where(distance <= delta, 0.5 * distance * distance, delta * (distance - 0.5 * delta))
    return reduced(loss, reduction)


# ------------------------------------------------------------------------------------------------------------ classes


CLASSES = Requirement(
    lambda target, classes: (target >= 0, target < classes),
    IndexError,
    "Target {value} is out of bounds. There are {0} classes, from 0.",
)


def _class_axis(ndim: int) -> int:
    return 0 if ndim == 1 else 1


def _check_classes(input: Any, target: Any) -> None:
    shape, axis = input.ndarray.shape, _class_axis(input.ndarray.ndim)
    if not shape:
        raise ValueError("nll_loss and cross_entropy need one score for each class, got a 0-d input")
    expected = shape[:axis] + shape[axis + 1 :]
    if len(shape) > 1 and target.ndarray.ndim and target.ndarray.shape[:1] != shape[:1]:
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size ({target.ndarray.shape[0]})."
        )
    if target.ndarray.shape != expected:
        raise RuntimeError(f"Expected target size {list(expected)}, got {list(target.ndarray.shape)}")
    if target.dtype is not _INT64:
        name = SCALAR_NAMES[target.dtype.name]
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {name} (expected scalar type Long but found {name}): "
            "classes are integers, e.g. y.long()"
        )


def _picked(x: Any, target: Any, axis: int) -> Any:
    """``x[n, target[n], ...]``."""
    shape = target.ndarray.shape
    index = movement.reshape(target, (*shape[:axis], 1, *shape[axis:]))
    try:
        return movement.reshape(indexing.gather(x, index, axis), shape)
    except RuntimeError:
        require(target, CLASSES, x.ndarray.shape[axis])  # in the words of losses
        raise


@whole
@composite("NllLossBackward0")
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Minus the log-probability of each target class.

    `input` is ``[N, C, ...]`` (or ``[C]``), `target` int64 ``[N, ...]``; targets equal to `ignore_index` count nothing.
    The mean is weighted by `weight`, one number for each class.
    """
    reduction = older_reduction(size_average, reduce, reduction)
    _check_classes(input, target)
    refuse_integers("nll_loss_out_frame", input)
    if weight is not None:
        check_class_weights(input, weight, _class_axis(input.ndarray.ndim))
    counted = ne(target, ignore_index)
    safe = where(counted, target, 0)
    axis = _class_axis(input.ndarray.ndim)
    loss = -_picked(input, safe, axis)
    scale = cast(counted, input.dtype) if weight is None else where(counted, _class_weights(weight, safe), 0)
    loss = where(counted, loss if weight is None else loss * scale, 0)
    if reduction == "mean":
        every = tuple(range(loss.ndarray.ndim))
        return folds.sum(loss, every) / folds.sum(scale, every)
    return reduced(loss, reduction)


_INT64 = folds.int64


def _class_weights(weight: Any, target: Any) -> Any:
    return indexing.take(weight, target)


@whole
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """`nll_loss` of `log_softmax`: `input` holds scores ``[N, C, ...]``, `target` classes (int64) or probabilities.

    ValueError or RuntimeError where shapes or types do not fit together.

    >>> import tracegrad as tg
    >>> tg.nn.functional.cross_entropy(tg.zeros(1, 2), tg.tensor([1]))
    tensor(0.6931)
    """
    reduction = older_reduction(size_average, reduce, reduction)
    logs = log_softmax(input, _class_axis(input.ndarray.ndim))
    if target.dtype.is_floating_point:
        return _soft_cross_entropy(logs, target, weight, reduction, label_smoothing)
    hard = nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    if not label_smoothing:
        return hard
    smooth = _smoothing(logs, target, weight, ignore_index, reduction)
    return (1 - label_smoothing) * hard + smooth * (label_smoothing / input.ndarray.shape[_class_axis(input.ndim)])


def _along_classes(weight: Any, ndim: int) -> Any:
    return weight if ndim == 1 else movement.reshape(weight, (weight.ndarray.size, *(1,) * (ndim - 2)))


def _smoothing(logs: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    """What label smoothing adds: every class's loss, averaged as the hard loss is."""
    ndim = logs.ndarray.ndim
    counted = ne(target, ignore_index)
    weighted = logs if weight is None else logs * _along_classes(weight, ndim)
    loss = where(counted, -folds.sum(weighted, (_class_axis(ndim),)), 0)
    if reduction != "mean":
        return reduced(loss, reduction)
    every = tuple(range(loss.ndarray.ndim))
    if weight is None:
        return folds.sum(loss, every) / folds.sum(cast(counted, logs.dtype), every)
    scale = where(counted, _class_weights(weight, where(counted, target, 0)), 0)
    return folds.sum(loss, every) / folds.sum(scale, every)


def _soft_cross_entropy(logs: Any, target: Any, weight: Any, reduction: str, smoothing: float) -> Any:
    """Cross entropy with probabilities as targets; the mean is over the batch."""
    if target.ndarray.shape != logs.ndarray.shape:
        raise RuntimeError(f"Expected floating point target of shape {list(logs.shape)}, got {list(target.shape)}")
    ndim = logs.ndarray.ndim
    axis = _class_axis(ndim)
    if smoothing:
        target = target * (1 - smoothing) + smoothing / logs.ndarray.shape[axis]
    weighted = logs if weight is None else logs * _along_classes(weight, ndim)
    loss = -folds.sum(weighted * target, (axis,))
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
@composite("BinaryCrossEntropyWithLogitsBackward0")
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
