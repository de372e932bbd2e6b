"""What layers compute besides products: embedding, dropout, normalisation, similarity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops import elementary, indexing, movement
from ..ops import reductions as folds
from ..ops.comparison import eq, where
from ..ops.core import switch
from ..ops.pointwise import cast, common_dtype, converted
from ..ops.requirements import Requirement, require
from ..ops.sources import iota
from ..ops.types import broadcast_shapes, float32, int32, int64, promote_types, real_of
from ..tape.tangents import alias_of
from ..tensors.calling.kernels import require_floating
from ..tensors.composite import composite, part, relabel, whole
from ..tensors.fusion import fused
from ..tensors.limits import finfo
from ..tensors.operands import PLAIN_TENSORS
from ..tensors.random import bernoulli_with, strides_like
from ..tensors.short_floats import rounded_once
from ..tensors.tensor import make
from .activations import finished
from .checks.mixed_types import mixed_types
from .checks.shapes import check_normalized, check_one_type
from .elementwise.bounds import raised_to
from .embedding import bound_rows, by_frequency
from .forms import norms as forms
from .index_requirements import PLACES
from .lookup.sparse_gradients import sparse_rows
from .shapes import contiguous

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


@composite("EmbeddingBackward0")
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` [rows, features] at the positions `input` (integers [...]), as [..., features]; the row
    `padding_idx` gets no gradient.

    With `max_norm` rows that are looked up are first shrunk, in place, to that `norm_type`-norm where theirs is larger.
    `scale_grad_by_freq` divides a row's gradient by how often the row is looked up. With `sparse` the gradient of
    `weight`, if that is a leaf, is a sparse tensor of the rows that were looked up; compiled functions re-record such
    calls. IndexError for a position that `weight` does not have, AssertionError for such a `padding_idx`, RuntimeError
    unless positions are int64 or int32, and in the backward pass for `sparse` together with `scale_grad_by_freq`.

    >>> import tracegrad as tg
    >>> weight = tg.ones(4, 2, requires_grad=True)
    >>> tg.nn.functional.embedding(tg.tensor([1, 3]), weight, sparse=True).sum().backward()
    >>> weight.grad.coalesce().indices().tolist()
    [[1, 3]]
    """
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
    if sparse:
        return sparse_rows(weight, places, None if padding_idx is None else padding_idx % extent, scale_grad_by_freq)
    rows = indexing.take(weight, places)
    rows = by_frequency(rows, places, extent) if scale_grad_by_freq else rows
    if padding_idx is None:
        return rows
    padding = movement.reshape(eq(input, padding_idx % extent), (*input.ndarray.shape, 1))
    return where(padding, alias_of(rows), rows)


NOT_NEGATIVE = Requirement(lambda classes: (classes >= 0,), RuntimeError, "Class values must be non-negative.")
BELOW = Requirement(
    lambda classes, count: (classes < count,),
    RuntimeError,
    "Class values must be smaller than num_classes. A class is {value}, num_classes is {0}.",
)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """int64 with a new last axis of `num_classes`: 1 at the position that `tensor` gives, 0 elsewhere.

    Without `num_classes` it is the largest position plus 1. RuntimeError for a position that is negative or not below
    `num_classes`, and for another type than int64.

    >>> import tracegrad as tg
    >>> tg.nn.functional.one_hot(tg.tensor([0, 2]), 3)
    tensor([[1, 0, 0],
            [0, 0, 1]])
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
    if not switch.stack and type(tensor) in PLAIN_TENSORS:
        return make(np.equal(tensor.ndarray[..., None], np.arange(num_classes)).astype(np.int64, "C"))
    shape = (*tensor.ndarray.shape, num_classes)
    marked = cast(eq(movement.reshape(tensor, (*shape[:-1], 1)), iota(shape, len(shape) - 1, int64)), int64)
    return marked.contiguous()  # in rows, however `tensor` lies


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element set to 0 with probability `p`, the others scaled by ``1 / (1 - p)``; `input` if not `training`.

    Shape and type are those of `input`. With `inplace`, the result is stored in it. ValueError for a `p` outside
    [0, 1], RuntimeError for integers. The draws are PyTorch's.

    >>> import tracegrad as tg
    >>> tg.nn.functional.dropout(tg.ones(4), p=0.0)
    tensor([1., 1., 1., 1.])
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or not input.ndarray.size:
        return input
    return dropped(input, p, input.ndarray.shape, inplace)


def dropped(input: Any, p: float, mask_shape: tuple[int, ...], inplace: bool) -> Any:
    """`input` times a random mask, which is broadcast; what is left is scaled by ``1 / (1 - p)``."""
    if p == 1:  # nothing is drawn, and infinities become NaN
        return finished(input, input * 0, inplace)
    return finished(input, input * (drop_mask(input, p, mask_shape) * (1 / (1 - p))), inplace)


def drop_mask(input: Any, p: float, shape: tuple[int, ...]) -> Any:
    """0 with probability `p`, else 1, in the type of `input`; RuntimeError for integers."""
    if not input.dtype.is_floating_point:
        name = input.dtype.title
        raise RuntimeError(f"result type Float can't be cast to the desired output type {name}; call .float()")
    strides = strides_like(input.ndarray, input.dtype) if shape == input.ndarray.shape else None
    return bernoulli_with(1 - p, shape, input.dtype, strides=strides)


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
_READ = dict.fromkeys((0, 1, 2), (0, 1, 2))


@fused("NativeLayerNormBackward0", forms.layer_norm, forms.layer_norm_gradient, 3, {1: (0,)}, watched=_READ)
def _layer_norm(input: Any, weight: Any, bias: Any, axes: tuple[int, ...], eps: float) -> Any:
    out = _normalized(input, axes, eps)
    out = out if weight is None else out * weight
    return out if bias is None else out + bias


@mixed_types
@whole
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """``(input - mean) / sqrt(variance + eps) * weight + bias`` over the last axes, `normalized_shape`.

    The variance is divided by the number of elements. `weight` and `bias` have the shape `normalized_shape`. Shape and
    type are those of `input`. RuntimeError for shapes or types that do not fit.

    >>> import tracegrad as tg
    >>> tg.layer_norm(tg.tensor([[1., 3.], [2., 2.]]), (2,))
    tensor([[-1.0000,  1.0000],
            [ 0.0000,  0.0000]])
    """
    if not isinstance(normalized_shape, (tuple, list)):
        raise TypeError(
            "layer_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, not "
            f"{type(normalized_shape).__name__}"
        )
    shape, last = input.ndarray.shape, tuple(normalized_shape)
    check_normalized(input, last, weight, bias)
    check_one_type(input, weight, bias)
    require_floating("LayerNormKernelImpl", input)
    x = input if input.ndarray.flags.c_contiguous else contiguous(input)
    out = _layer_norm(x, weight, bias, tuple(range(len(shape) - len(last), len(shape))), eps)
    if x is not input:
        relabel(out, "NativeLayerNormBackward0", (input, weight, bias))
    return out


@mixed_types
@rounded_once
@whole
def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """``input / sqrt(mean(input**2) + eps) * weight`` over the last axes, whose extents `normalized_shape` is.

    `eps` None is the machine epsilon of float64 for float64, else that of float32. Shape and type are those of `input`.
    RuntimeError for shapes or types that do not fit.

    >>> import tracegrad as tg
    >>> tg.rms_norm(tg.tensor([[3., 4.]]), (2,))
    tensor([[0.8485, 1.1314]])
    """
    ndim, last = input.ndarray.ndim, tuple(normalized_shape)
    if not ndim:
        raise ValueError(f"Input tensor must have at least {len(last)} dimensions, but got 0")
    if not input.dtype.is_complex:  # of which squares are meant, not sizes
        require_floating("rms_norm", input)
    if last and input.ndarray.shape[max(ndim - len(last), 0) :] != last:
        raise RuntimeError(
            f"Given normalized_shape={list(last)}, expected input with shape [*{', '.join(map(str, last))}], but got "
            f"input of size{list(input.shape)}"
        )
    check_normalized(input, last, weight, None)
    eps = finfo(promote_types(real_of(input.dtype), float32)).eps if eps is None else eps
    out = input * elementary.rsqrt(_mean(input * input, tuple(range(ndim - len(last), ndim))) + eps)
    return out if weight is None else converted(out * weight, input.dtype)


@rounded_once
@part
@composite("DivBackward0")
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """``input / max(norm, eps)``, where norm is the `p`-norm along `dim`.

    Shape and type are those of `input`; RuntimeError for integers.

    >>> import tracegrad as tg
    >>> tg.nn.functional.normalize(tg.tensor([[3., 4.]]))
    tensor([[0.6000, 0.8000]])
    """
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps)


@rounded_once
@whole
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """``sum(x1 * x2) / (max(|x1|, eps) * max(|x2|, eps))`` along `dim`: the cosine of the angle between vectors.

    Shapes are broadcast, types promoted to one; the result lacks the axis `dim`. RuntimeError for integers.

    >>> import tracegrad as tg
    >>> tg.cosine_similarity(tg.tensor([[1., 0.]]), tg.tensor([[1., 1.]]))
    tensor([0.7071])
    """
    common = common_dtype([x1, x2])
    if not common.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {common!r}; call .float()")
    shape = broadcast_shapes(x1.ndarray.shape, x2.ndarray.shape)
    x1, x2 = (movement.broadcast(converted(x, common), shape) for x in (x1, x2))
    first, second = (x / raised_to(x.norm(2, dim, keepdim=True), eps) for x in (x1, x2))
    return (first * second).sum(dim)


@rounded_once
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The `p`-norm of ``x1 - x2 + eps`` along the last axis, which stays, with an extent of 1, with `keepdim`.

    Shapes are broadcast, types promoted to one; RuntimeError for integers.

    >>> import tracegrad as tg
    >>> tg.pairwise_distance(tg.tensor([[0., 0.]]), tg.tensor([[3., 4.]]))
    tensor([5.0000])
    """
    return (x1 - x2 + eps).norm(p, -1, keepdim)
