"""Losses of scores for classes: `nll_loss` and `cross_entropy`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..ops import indexing, movement
from ..ops import reductions as folds
from ..ops.array import eager
from ..ops.comparison import ne, where
from ..ops.pointwise import cast
from ..ops.requirements import Requirement, require
from ..ops.sources import full
from ..ops.types import uint8
from ..tensors.autocasting import full_precision
from ..tensors.composite import composite, whole
from ..tensors.fusion import fused
from .checks.derivatives import require_constants
from .forms import losses as forms
from .loss_arguments import check_class_weights, older_reduction, reduced, refuse_integers
from .normalizing.softmax import log_softmax

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

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
        raise ValueError("Expected 1 or more dimensions (got 0): one score for each class")
    expected = shape[:axis] + shape[axis + 1 :]
    if len(shape) > 1 and target.ndarray.ndim and target.ndarray.shape[:1] != shape[:1]:
        raise ValueError(
            f"Expected input batch_size ({shape[0]}) to match target batch_size ({target.ndarray.shape[0]})."
        )
    if len(shape) == 2 and target.ndarray.ndim > 1:
        raise RuntimeError(
            f"0D or 1D target tensor expected, multi-target not supported: got {list(target.shape)} for scores "
            f"{list(shape)}"
        )
    if len(shape) == 1 and target.dtype is not _INT64:
        _refuse_type(target)
    if target.ndarray.shape != expected:
        raise RuntimeError(f"Expected target size {list(expected)}, got {list(target.ndarray.shape)}")
    if target.dtype is not _INT64:
        _refuse_type(target)


def _whole_classes(input: Any, target: Any) -> Any:
    """Classes as int64: PyTorch takes bytes too, but not for scores with axes of space."""
    return cast(target, _INT64) if target.dtype is _UINT8 and input.ndarray.ndim <= 2 else target


def _refuse_type(target: Any) -> None:
    name = target.dtype.title
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


@full_precision
@whole
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``-input[n, target[n]] * weight[target[n]]``: minus the log-probability of each target class; reduced.

    `input` is ``[N, C, ...]`` (or ``[C]``), `target` int64 ``[N, ...]`` (or uint8, of scores without axes of space);
    targets equal to `ignore_index` count nothing. The mean is divided by the sum of the targets' weights, of which
    `weight` has one for each class. RuntimeError or ValueError for shapes and types that do not fit, IndexError for a
    target that is no class.

    >>> import tracegrad as tg
    >>> tg.nn.functional.nll_loss(tg.tensor([[-1., -2.], [-3., -4.]]), tg.tensor([0, 1]))
    tensor(2.5000)
    """
    reduction = older_reduction(size_average, reduce, reduction)
    target = _whole_classes(input, target)
    _check_classes(input, target)
    refuse_integers("nll_loss_out_frame", input)
    if weight is not None:
        check_class_weights(input, weight, _class_axis(input.ndarray.ndim))
        require_constants("nll_loss_forward", weight=weight)
    if weight is None and input.ndarray.ndim == 2:
        return _nll_of_rows(input, target, ignore_index, reduction)
    return _nll(input, target, weight, ignore_index, reduction)


def _rule_of_rows(g: Any, kept: Any, target: Any, ignore_index: int, reduction: str) -> Any:
    places, (rows, classes) = kept
    index = eager().literal((places % classes).reshape(rows, 1))
    share = -(g / rows if reduction == "mean" else g)
    share = movement.broadcast(share, (rows,)) if reduction != "none" else share
    zeros = full((rows, classes), 0, g.dtype)
    return indexing.scatter_add(zeros, index, movement.reshape(share, (rows, 1)), 1)


@fused(
    "NllLossBackward0",
    forms.picked_loss,
    forms.picked_loss_gradient,
    rule=_rule_of_rows,
    watched={0: (0,)},
    zero=True,
)
def _nll_of_rows(input: Any, target: Any, ignore_index: int, reduction: str) -> Any:
    return _nll(input, target, None, ignore_index, reduction)


@composite("NllLossBackward0", dict.fromkeys(("input", "target", "weight"), ("input",)), zero=True)
def _nll(input: Any, target: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
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


_INT64, _UINT8 = folds.int64, uint8


def _class_weights(weight: Any, target: Any) -> Any:
    return indexing.take(weight, target)


@full_precision
@whole
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of `log_softmax`: `input` holds scores ``[N, C, ...]`` (or ``[C]``), `target` what they should be.

    That is classes, int64 ``[N, ...]``, or probabilities in the shape and type of `input`. `label_smoothing` gives that
    much of each target to all classes evenly. `weight`, `ignore_index` (for classes) and `reduction` are those of
    `nll_loss`. ValueError or RuntimeError where shapes or types do not fit together.

    >>> import tracegrad as tg
    >>> tg.nn.functional.cross_entropy(tg.zeros(1, 2), tg.tensor([1]))
    tensor(0.6931)
    """
    reduction = older_reduction(size_average, reduce, reduction)
    if not input.ndarray.ndim:
        raise IndexError("Dimension specified as 1 but tensor has no dimensions: the scores need an axis of classes")
    is_soft = target.ndarray.shape == input.ndarray.shape
    _check_options(target, is_soft, ignore_index, label_smoothing)
    target = target if is_soft else _whole_classes(input, target)
    label_smoothing = max(label_smoothing, 0.0)
    logs = log_softmax(input, _class_axis(input.ndarray.ndim))
    if is_soft:
        return _soft_cross_entropy(logs, target, weight, reduction, label_smoothing)
    hard = nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    if not label_smoothing:
        return hard
    smooth = _smoothing(logs, target, weight, ignore_index, reduction)
    return (1 - label_smoothing) * hard + smooth * _share(label_smoothing, input)


def _share(smoothing: float, scores: Any) -> float:
    """What each class is given."""
    classes = scores.ndarray.shape[_class_axis(scores.ndarray.ndim)]
    return smoothing / classes if classes else math.inf


def _check_options(target: Any, is_soft: bool, ignore_index: int, label_smoothing: float) -> None:
    if is_soft and not target.dtype.is_floating_point:
        name = target.dtype.title
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {name}; classes have no axis of "
            "their own in the target"
        )
    if is_soft and ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target; leave it out")
    if label_smoothing > 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


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
    ndim = logs.ndarray.ndim
    axis = _class_axis(ndim)
    if smoothing:
        target = target * (1 - smoothing) + _share(smoothing, logs)
    weighted = logs if weight is None else logs * _along_classes(weight, ndim)
    loss = -folds.sum(weighted * target, (axis,))
    return reduced(loss, reduction)
