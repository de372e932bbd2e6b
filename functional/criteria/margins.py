"""Losses that ask scores or distances to differ by a margin."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ops import elementary, indexing, movement
from ...ops import reductions as folds
from ...ops.arithmetic import minimum
from ...ops.comparison import eq, lt, ne, where
from ...ops.logic import logical_and
from ...ops.pointwise import cast, common_dtype, converted
from ...ops.requirements import Requirement, require
from ...ops.scans import cumsum
from ...ops.sources import iota
from ...ops.types import FLOATING, get_default_dtype, int64
from ...tensors.autocasting import full_precision
from ...tensors.composite import composite, whole
from ...tensors.in_place import require_castable
from ..activations import logsigmoid
from ..checks.derivatives import require_constants
from ..layers import pairwise_distance
from ..loss_arguments import older_reduction, reduced
from ..reductions import refuse_mean_of_integers

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

CLASSES = Requirement(
    lambda target, classes: (target >= 0, target < classes), RuntimeError, "target out of range: there are {0} classes"
)
LABELS = Requirement(
    lambda target, classes: (target >= -1, target < classes),
    RuntimeError,
    "argument #2 'target' is out of range: {value} is not one of {0} classes, nor -1, which ends the labels",
)


def _reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction asked for; ValueError for an unknown one, before anything else is looked at."""
    reduction = older_reduction(size_average, reduce, reduction)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction; it is one of none, mean, sum")
    return reduction


def _above(x: Any, least: float) -> Any:
    """``clamp_min``: the gradient passes where `x` is the bound, too."""
    return where(x >= least, x, least)


@full_precision
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)``: `target` 1 says that `input1` is to be larger, -1 `input2`.

    `reduction` is "mean", "sum" or "none". RuntimeError for operands that differ in their number of axes.

    >>> import tracegrad as tg
    >>> F, x, y = tg.nn.functional, tg.tensor([1., 2.]), tg.tensor([3., 1.])
    >>> F.margin_ranking_loss(x, y, tg.tensor([1., 1.]), reduction="none")
    tensor([2., 0.])
    """
    reduction = _reduction(size_average, reduce, reduction)
    if not input1.ndarray.ndim == input2.ndarray.ndim == target.ndarray.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return reduced(_above(-target * (input1 - input2) + margin, 0), reduction)


@full_precision
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`input`, a distance, where `target` is 1, and ``max(0, margin - input)`` where it is -1; reduced.

    >>> import tracegrad as tg
    >>> tg.nn.functional.hinge_embedding_loss(tg.tensor([0.2, 0.2]), tg.tensor([1., -1.]), reduction="none")
    tensor([0.2000, 0.8000])
    """
    reduction = _reduction(size_average, reduce, reduction)
    if reduction == "mean":
        refuse_mean_of_integers(input, target)
    margin = margin if input.dtype.category >= FLOATING else int(margin)  # the loss has the input's type
    apart, near = where(ne(target, 1), _above(margin - input, 0), 0), where(ne(target, -1), input, 0)
    loss = apart + near
    return reduced(cast(loss, int64) if reduction == "sum" and loss.dtype.category < FLOATING else loss, reduction)


@full_precision
def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """``log(1 + exp(-target * input))``, where `target` is 1 or -1; reduced.

    >>> import tracegrad as tg
    >>> tg.nn.functional.soft_margin_loss(tg.tensor([0., 2.]), tg.tensor([1., -1.]), reduction="none")
    tensor([0.6931, 2.1269])
    """
    reduction = _reduction(size_average, reduce, reduction)
    dtype = common_dtype((input, target))
    require_castable(dtype if dtype.category >= FLOATING else get_default_dtype(), input.dtype)
    require_constants("soft_margin_loss", target=target)
    return _soft_margin(input, target, reduction)


@whole
@composite("SoftMarginLossBackward0", {"input": ("input",), "target": ("input",)})
def _soft_margin(input: Any, target: Any, reduction: str) -> Any:
    return reduced(converted(elementary.log1p(elementary.exp(-input * target)), input.dtype), reduction)


# ---------------------------------------------------------------------------------------------------- many classes


def _check_batch(input: Any) -> None:
    shape = input.ndarray.shape
    if len(shape) > 2 or (shape and shape[-1] == 0):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(shape)}"
        )


def _check_long(target: Any) -> None:
    if target.dtype is not int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.title}: classes are integers, y.long()")


@full_precision
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of ``weight[y] * max(0, margin - input[y] + input[i]) ** p`` for all i but the class y.

    `input` is [batch, classes] or [classes], `target` int64 [batch] or one number; `p` is 1 or 2, `weight` a number for
    each class. ValueError for another `p`, RuntimeError for shapes that do not fit and for a class that is none.

    >>> import tracegrad as tg
    >>> tg.nn.functional.multi_margin_loss(tg.tensor([[0.1, 0.5, 0.9]]), tg.tensor([2]))
    tensor(0.2667)
    """
    reduction = _reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndarray.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    _check_batch(input)
    shape = input.ndarray.shape
    batch, classes = shape if len(shape) == 2 else (1, shape[0] if shape else 1)
    if target.ndarray.ndim > 1 or target.ndarray.size != batch:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{batch}], but got {list(target.shape)}. Input has shape {list(shape)}."
        )
    if weight is not None and weight.ndarray.size != classes:
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    _check_long(target)
    require_constants("multi_margin_loss", weight=weight)
    return _multi_margin(input, target, weight, p, margin, (batch, classes), reduction)


@whole
@composite("MultiMarginLossBackward0", {"input": ("input",), "target": ("input",), "weight": ("input",)})
def _multi_margin(
    input: Any, target: Any, weight: Any, p: int, margin: float, shape: tuple[int, int], reduction: str
) -> Any:
    require(target, CLASSES, shape[1])
    scores, place = movement.reshape(input, shape), movement.reshape(target, (shape[0], 1))
    gap = margin - indexing.gather(scores, place, 1) + scores
    counted = logical_and(ne(iota(shape, 1, int64), place), gap > 0)
    loss = where(counted, gap if p == 1 else gap * gap, 0)
    if weight is not None:
        loss = loss * movement.reshape(indexing.take(weight, place), (shape[0], 1))
    loss = folds.sum(loss, (1,)) / shape[1]
    return reduced(movement.reshape(loss, target.ndarray.shape) if reduction == "none" else loss, reduction)


@full_precision
def multilabel_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """The mean over classes of ``max(0, 1 - input[y] + input[i])`` for all labels y of a sample and all other i.

    `input` is [batch, classes] or [classes], `target` int64 of the same shape: a sample's labels, then -1. RuntimeError
    for shapes that differ and for a label that is none.

    >>> import tracegrad as tg
    >>> tg.nn.functional.multilabel_margin_loss(tg.tensor([0.1, 0.5, 0.9]), tg.tensor([2, -1, 0]))
    tensor(0.2667)
    """
    reduction = _reduction(size_average, reduce, reduction)
    _check_batch(input)
    if target.ndarray.shape != input.ndarray.shape:
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    _check_long(target)
    return _multilabel_margin(input, target, reduction)


@whole
@composite("MultilabelMarginLossBackward0", {"input": ("input",), "target": ("input",)})
def _multilabel_margin(input: Any, target: Any, reduction: str) -> Any:
    shape = input.ndarray.shape
    classes = shape[-1] if shape else 1
    batch = shape[0] if len(shape) == 2 else 1
    require(target, LABELS, classes)
    scores, labels = movement.reshape(input, (batch, classes)), movement.reshape(target, (batch, classes))
    given = eq(cumsum(cast(lt(labels, 0), int64), 1), 0)  # before the first -1
    safe = where(given, labels, 0)
    whole_shape = (batch, classes, classes)  # a label, and a class that may be none of the labels
    hit = logical_and(
        movement.reshape(given, (batch, classes, 1)),
        eq(movement.reshape(safe, (batch, classes, 1)), iota(whole_shape, 2, int64)),
    )
    others = movement.reshape(eq(folds.sum(cast(hit, int64), (1,)), 0), (batch, 1, classes))
    counted = logical_and(movement.reshape(given, (batch, classes, 1)), others)
    own = movement.reshape(indexing.gather(scores, safe, 1), (batch, classes, 1))
    gap = 1 - own + movement.reshape(scores, (batch, 1, classes))
    loss = folds.sum(where(logical_and(counted, gap > 0), gap, 0), (1, 2)) / classes
    return reduced(movement.reshape(loss, shape[:-1]) if reduction == "none" else loss, reduction)


@whole
def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of the binary cross entropy of scores [..., classes]; `target` holds 0 and 1.

    `weight` has a number for each class. ValueError for an unknown `reduction`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.multilabel_soft_margin_loss(tg.tensor([[0., 1.]]), tg.tensor([[1., 0.]]))
    tensor(1.0032)
    """
    reduction = _reduction(size_average, reduce, reduction)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    loss = loss if weight is None else loss * weight
    last = loss.ndarray.ndim - 1
    return reduced(folds.sum(loss, (last,)) / input.ndarray.shape[-1], reduction)


# --------------------------------------------------------------------------------------------------------- distances


@full_precision
@whole
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``1 - cosine`` where `target` is 1, ``max(0, cosine - margin)`` where it is -1.

    `target` [batch] for inputs [batch, features], one number for two vectors. RuntimeError for other shapes.

    >>> import tracegrad as tg
    >>> tg.nn.functional.cosine_embedding_loss(tg.tensor([[1., 0.]]), tg.tensor([[1., 1.]]), tg.tensor([1]))
    tensor(0.2929)
    """
    reduction = _reduction(size_average, reduce, reduction)
    axes = target.ndarray.ndim
    if axes > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if input1.ndarray.ndim != axes + 1 or input2.ndarray.ndim != axes + 1:
        raise RuntimeError(
            f"{axes}D target tensor expects {axes + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    product = (input1 * input2).sum(axes)
    squares = ((input1 * input1).sum(axes) + 1e-12) * ((input2 * input2).sum(axes) + 1e-12)
    cosine = product / elementary.sqrt(squares)
    near, apart = where(eq(target, 1), 1 - cosine, 0), where(eq(target, -1), _above(cosine - margin, 0), 0)
    return reduced(near + apart, reduction)


def _check_triplet(anchor: Any, positive: Any, negative: Any) -> None:
    ndims = [x.ndarray.ndim for x in (anchor, positive, negative)]
    if len(set(ndims)) > 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {ndims[0]}D, positive {ndims[1]}D, and negative {ndims[2]}D inputs"
        )


def _check_margin(margin: float) -> None:
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")


@full_precision
@whole
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, d(anchor, positive) - d(anchor, negative) + margin)``; d is the `p`-norm of differences plus `eps`.

    With `swap` the smaller of the negative's distances to anchor and positive counts. ValueError unless the margin is
    positive, RuntimeError for operands that differ in their number of axes.

    >>> import tracegrad as tg
    >>> tg.nn.functional.triplet_margin_loss(tg.zeros(1, 2), tg.zeros(1, 2), tg.tensor([[0.3, 0.4]]))
    tensor(0.5000)
    """
    reduction = _reduction(size_average, reduce, reduction)
    _check_margin(margin)
    _check_triplet(anchor, positive, negative)
    near, apart = (pairwise_distance(anchor, x, p, eps) for x in (positive, negative))
    if swap:
        apart = minimum(apart, pairwise_distance(positive, negative, p, eps))
    return reduced(_above(margin + near - apart, 0), reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own, a function of two tensors (default: `pairwise_distance`).

    The three tensors are [batch, features], or what the distance takes, of one shape.

    >>> import tracegrad as tg
    >>> F, far = tg.nn.functional, lambda x, y: (x - y).abs().sum(-1)
    >>> F.triplet_margin_with_distance_loss(tg.zeros(1), tg.zeros(1), tg.tensor([0.25]), distance_function=far)
    tensor(0.7500)
    """
    reduction = _reduction(None, None, reduction)
    _check_margin(margin)
    _check_triplet(anchor, positive, negative)
    distance = pairwise_distance if distance_function is None else distance_function
    near, apart = distance(anchor, positive), distance(anchor, negative)
    if swap:
        apart = minimum(apart, distance(positive, negative))
    return reduced(_above(margin + near - apart, 0), reduction)
