"""What layers compute besides products: embedding, dropout, normalisation, similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops import elementary, indexing, movement
from ..ops import reductions as folds
from ..ops.comparison import eq, where
from ..ops.pointwise import cast, common_dtype, converted
from ..ops.requirements import Requirement, require
from ..ops.sources import iota
from ..ops.types import broadcast_shapes, int32, int64
from ..tensors.composite import composite, part, whole
from ..tensors.fusion import fused
from ..tensors.operands import SCALAR_NAMES, require_floating
from ..tensors.random import bernoulli_with, strides_like
from . import array_forms
from .activations import finished
from .arithmetic import raised_to
from .checks.shapes import check_normalized, check_one_type
from .embedding import bound_rows, by_frequency
from .index_requirements import PLACES


@composite("EmbeddingBackward0")
def embedding(
    input: Any,
    weight: Any,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of `weight` at the positions `input`; the row `padding_idx` gets no gradient.

    With `max_norm` rows that are looked up are first shrunk, in place, to that `norm_type`-norm where theirs is larger.
    `scale_grad_by_freq` divides a row's gradient by how often the row is looked up. Gradients are dense:
    NotImplementedError for `sparse`. IndexError for a position that `weight` does not have, AssertionError for such a
    `padding_idx`, RuntimeError unless positions are int64 or int32.
    """
    if sparse:
        raise NotImplementedError("embedding(sparse=True): gradients are dense here; leave `sparse` out")
    if input.dtype not in (int64, int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{input.dtype!r} instead. Positions are integers, e.g. x.long()"
        )
    if weight.ndarray.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, got shape {list(weight.shape)}; its rows are what is looked up")
    extent = weight.ndarray.shape[0]
    if padding_idx is not None and not -extent <= padding_idx < extent:
        raise AssertionError(f"Padding_idx must be within num_embeddings: {padding_idx} is not one of {extent}")
    places = input if input.dtype is int64 else cast(input, int64)
    require(places, PLACES, extent)
    if max_norm is not None:
        bound_rows(weight, places, max_norm, norm_type)
    rows = indexing.take(weight, places)
    rows = by_frequency(rows, places, extent) if scale_grad_by_freq else rows
    if padding_idx is None:
        return rows
    padding = movement.reshape(eq(input, padding_idx % extent), (*input.ndarray.shape, 1))
    return where(padding, rows.detach(), rows)


NOT_NEGATIVE = Requirement(lambda classes: (classes >= 0,), RuntimeError, "Class values must be non-negative.")
BELOW = Requirement(
    lambda classes, count: (classes < count,),
    RuntimeError,
    "Class values must be smaller than num_classes. A class is {value}, num_classes is {0}.",
)


def one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """A new last axis with 1 at the position given and 0 elsewhere; without `num_classes`, the largest decides.

    RuntimeError for a class that is negative or not below `num_classes`, and for another type than int64.
    """
    if tensor.dtype is not int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor. Got {tensor.dtype!r}; convert it with "
            ".long()"
        )
    if not tensor.ndarray.size and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor. Pass num_classes.")
    require(tensor, NOT_NEGATIVE)
    if num_classes == -1:
        num_classes = int(tensor.max().item()) + 1
    else:
        require(tensor, BELOW, num_classes)
    shape = (*tensor.ndarray.shape, num_classes)
    return cast(eq(movement.reshape(tensor, (*shape[:-1], 1)), iota(shape, len(shape) - 1, int64)), int64)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Elements set to 0 with probability `p`, the others scaled by ``1 / (1 - p)``; `input` itself if not training."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    return _dropped(input, p, input.ndarray.shape, inplace)


def _dropped(input: Any, p: float, mask_shape: tuple[int, ...], inplace: bool) -> Any:
    if p == 1:  # nothing is drawn, and infinities become NaN
        return finished(input, input * 0, inplace)
    if not input.dtype.is_floating_point:
        name = SCALAR_NAMES[input.dtype.name]
        raise RuntimeError(f"result type Float can't be cast to the desired output type {name}; call .float()")
    scale = 1 / (1 - p)
    strides = strides_like(input.ndarray, input.dtype) if mask_shape == input.ndarray.shape else None
    mask = bernoulli_with(1 - p, mask_shape, input.dtype, strides=strides)
    return finished(input, input * (mask * scale), inplace)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """As `dropout`, for whole channels: axes 0 and 1 decide."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    return _dropped(input, p, input.ndarray.shape[:2] + (1,) * (input.ndarray.ndim - 2), inplace)


# --------------------------------------------------------------------------------------------------- normalisation


def _mean(x: Any, axes: tuple[int, ...]) -> Any:
    shape = tuple(1 if a in axes else n for a, n in enumerate(x.ndarray.shape))
    count = 1
    for axis in axes:
        count *= x.ndarray.shape[axis]
    return movement.reshape(folds.sum(x, axes), shape) / count


def _normalized(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    centred = x - _mean(x, axes)
    return centred * elementary.rsqrt(_mean(centred * centred, axes) + eps)


#: The input and the weight are kept, whatever is differentiated.
_READ = {0: (0, 1, 2), 1: (0, 1, 2)}


@fused("NativeLayerNormBackward0", array_forms.layer_norm, array_forms.layer_norm_gradient, 3, {1: (0,)}, watched=_READ)
def _layer_norm(input: Any, weight: Any, bias: Any, axes: tuple[int, ...], eps: float) -> Any:
    out = _normalized(input, axes, eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


@whole
def layer_norm(
    input: Any, normalized_shape: Sequence[int], weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> Any:
    """`input` with mean 0 and variance 1 over its last axes, which are `normalized_shape`; scaled and shifted."""
    if not isinstance(normalized_shape, (tuple, list)):
        raise TypeError(
            "layer_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
            f"{type(normalized_shape).__name__}"
        )
    shape, last = input.ndarray.shape, tuple(normalized_shape)
    check_normalized(input, last, weight, bias)
    check_one_type(input, weight, bias)
    require_floating("LayerNormKernelImpl", input)
    return _layer_norm(input, weight, bias, tuple(range(len(shape) - len(last), len(shape))), eps)


@whole
def rms_norm(input: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None) -> Any:
    """`input` divided by the root of its mean square over its last axes, which are `normalized_shape`."""
    ndim, last = input.ndarray.ndim, tuple(normalized_shape)
    if not ndim:
        raise ValueError(f"Input tensor must have at least {len(last)} dimensions, but got 0")
    require_floating("rms_norm", input)
    if input.ndarray.shape[ndim - len(last) :] != last:
        raise RuntimeError(
            f"Given normalized_shape={list(last)}, expected input with shape [*{', '.join(map(str, last))}], but got "
            f"input of size{list(input.shape)}"
        )
    eps = 2.0**-23 if eps is None else eps
    out = input * elementary.rsqrt(_mean(input * input, tuple(range(ndim - len(last), ndim))) + eps)
    return out if weight is None else out * weight


@part
@composite("DivBackward0")
def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """`input` divided by its p-norm along `dim` (but by no less than `eps`)."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps)


@whole
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along `dim` of what the operands are broadcast to.

    Lengths count as no less than `eps`. RuntimeError for integers.
    """
    common = common_dtype([x1, x2])
    if not common.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {common!r}; call .float()")
    shape = broadcast_shapes(x1.ndarray.shape, x2.ndarray.shape)
    x1, x2 = (movement.broadcast(converted(x, common), shape) for x in (x1, x2))
    first, second = (x / raised_to(x.norm(2, dim, keepdim=True), eps) for x in (x1, x2))
    return (first * second).sum(dim)


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of the differences along the last axis."""
    return (x1 - x2 + eps).norm(p, -1, keepdim)
