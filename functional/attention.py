"""Scaled dot-product attention: two products with a softmax over the keys between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..ops import elementary, movement
from ..ops import reductions as folds
from ..ops.array import Array
from ..ops.comparison import eq, ge, where
from ..ops.layouts.formats import gradient_in_order, in_order
from ..ops.layouts.orders import kept_order
from ..ops.pointwise import cast
from ..ops.products import dot
from ..ops.sources import iota
from ..ops.types import bool_, broadcast_shapes, float32, int64
from ..tape.grad_mode import no_grad
from ..tensors.autocasting import lower_precision
from ..tensors.operands import overridable
from ..tensors.short_floats import rounded_once
from .layers import dropout
from .shaping.repetition import repeat_interleave

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


def _word(x: Any) -> str:
    return str(x.dtype.c_name)


def _require_tensors(name: str, operands: dict[str, Any]) -> None:
    for position, (argument, x) in enumerate(operands.items(), 1):
        if not isinstance(x, Array) and not (argument == "attn_mask" and x is None):
            place = "" if argument == "attn_mask" else f" (position {position})"
            raise TypeError(f"{name}(): argument '{argument}'{place} must be Tensor, not {type(x).__name__}")


def _require_types(query: Any, key: Any, value: Any, mask: Any) -> None:
    if query.dtype is not key.dtype or query.dtype is not value.dtype:
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {_word(query)} key.dtype: "
            f"{_word(key)} and value.dtype: {_word(value)} instead. Convert them with .to()"
        )
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {query.ndim} "
            f"key.dim: {key.ndim} and value.dim: {value.ndim} instead."
        )
    if not query.dtype.is_floating_point:
        raise RuntimeError(f"expected scalar type Float but found {query.dtype.title}; call .float()")
    if mask is None:
        return
    if mask.dtype not in (bool_, float32, query.dtype):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{_word(mask)} and  query.dtype: {_word(query)} instead."
        )
    if mask.ndim < 2:
        low, high = -max(mask.ndim, 1), max(mask.ndim - 1, 0)
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{low}, {high}], but got -2): attn_mask needs 2 axes "
            "or more, [..., queries, keys]"
        )


def _grouped(query: Any, key: Any, value: Any) -> tuple[Any, Any]:
    """Keys and values with as many heads (axis -3) as the queries: each serves several of them."""
    if query.ndim < 3:
        low, high = -query.ndim, query.ndim - 1
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got -3)")
    heads = query.ndarray.shape[-3]
    if any(not x.ndarray.shape[-3] or heads % x.ndarray.shape[-3] for x in (key, value)):
        raise RuntimeError(
            "Number of heads in key and value must divide the number of heads in query, got "
            f"{key.ndarray.shape[-3]} and {value.ndarray.shape[-3]} for {heads}"
        )
    key, value = (
        x if x.ndarray.shape[-3] == heads else repeat_interleave(x, heads // x.ndarray.shape[-3], -3)
        for x in (key, value)
    )
    return key, value


def _spread(x: Any, batch: tuple[int, ...]) -> Any:
    shape = x.ndarray.shape
    return x if shape[:-2] == batch else movement.broadcast(x, (*batch, *shape[-2:]))


def _require_sizes(batch: tuple[int, ...], query: Any, key: Any, value: Any) -> None:
    count, (keys, width) = math.prod(batch), key.ndarray.shape[-2:]
    for expected, got in ((query.ndarray.shape[-1], (width, keys)), (keys, value.ndarray.shape[-2:])):
        if got[0] != expected:
            raise RuntimeError(
                f"Expected size for first two dimensions of batch2 tensor to be: [{count}, {expected}] but got: "
                f"[{count}, {got[0]}]. Queries and keys have one width, keys and values one length."
            )


_BY_POSITIONS = (0, 2, 1, 3)  # [batch, positions, heads, width] in memory


def _is_one_kernel(query: Any, key: Any, value: Any, mask: Any, grouped: bool) -> bool:
    """Whether PyTorch's one kernel takes the call: its result lies as the queries do, and gradients by positions.

    What it does not take (weights that are dropped, too) is two products, with results by rows.
    """
    if query.ndarray.ndim != 4 or key.ndarray.ndim != 4:
        return False
    (batch, heads, _, width), shape = query.ndarray.shape, key.ndarray.shape
    if shape[0] != batch or shape[3] != width or shape != value.ndarray.shape or not query.ndarray.size * shape[2]:
        return False
    if shape[1] != heads and not grouped:
        return False
    if mask is not None and (mask.requires_grad or mask.ndarray.ndim not in (2, 4)):
        return False
    return all(x.ndarray.strides[3] == x.ndarray.itemsize for x in (query, key, value))


def causal(queries: int, keys: int) -> Any:
    """bool [queries, keys]: True where the key is not behind the query; both count from 0."""
    shape = (queries, keys)
    return ge(iota(shape, 0, int64), iota(shape, 1, int64))


def _masked(scores: Any, mask: Any) -> Any:
    if mask.dtype is bool_:
        shape = broadcast_shapes(scores.ndarray.shape, mask.ndarray.shape)
        out = where(mask, scores, -math.inf)
    else:
        shape = broadcast_shapes(scores.ndarray.shape, mask.ndarray.shape)
        out = scores + (mask if mask.dtype is scores.dtype else cast(mask, scores.dtype))
    if shape != scores.ndarray.shape:
        raise RuntimeError(
            f"output with shape {list(scores.shape)} doesn't match the broadcast shape {list(shape)}: a mask may be "
            "broadcast to the scores, not the scores to the mask"
        )
    return out


def _weights(scores: Any, may_be_empty: bool) -> Any:
    """The softmax along the last axis; 0 in rows that are -inf throughout, if such rows can be."""
    shape = (*scores.ndarray.shape[:-1], 1)
    if not scores.ndarray.size:
        return scores
    axis = (len(shape) - 1,)
    with no_grad():
        top = movement.reshape(folds.amax(scores, axis), shape)
        top = where(eq(top, -math.inf), 0.0, top) if may_be_empty else top
    raised = elementary.exp(scores - top)
    total = movement.reshape(folds.sum(raised, axis), shape)
    return raised * (1.0 / (where(eq(total, 0.0), 1.0, total) if may_be_empty else total))


@lower_precision
@rounded_once
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``softmax(query @ key.T * scale + mask) @ value``, for each matrix of a batch.

    `query` is [..., L, E], `key` [..., S, E] and `value` [..., S, V], of one floating-point type; leading axes are
    broadcast; the result is [..., L, V]. `attn_mask`, which is broadcast to [..., L, S], is True where a query may look
    at a key, or is added to the scores; `is_causal` lets query i look at the keys 0 ... i. A query that may look at
    nothing gets 0. Weights are dropped with probability `dropout_p`, in evaluation too. `scale` is 1 / sqrt(E) by
    default. With `enable_gqa` each head (axis -3) of keys and values serves as many heads of queries as it takes.

    Where PyTorch has one kernel for it (4 axes, batches, heads and widths alike, nothing dropped, no gradient of the
    mask), the result lies in memory as `query` does. RuntimeError where sizes or types do not fit together, and for a
    mask beside `is_causal` where there is none.

    >>> import tracegrad as tg
    >>> x = tg.eye(2)
    >>> tg.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True, scale=0.0)
    tensor([[1.0000, 0.0000],
            [0.5000, 0.5000]])
    """
    _require_tensors("scaled_dot_product_attention", dict(query=query, key=key, value=value, attn_mask=attn_mask))
    _require_types(query, key, value, attn_mask)
    in_one = not dropout_p and _is_one_kernel(query, key, value, attn_mask, enable_gqa)
    if is_causal and attn_mask is not None and not in_one:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if dropout_p > 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")
    order = kept_order(query.ndarray) if in_one else None
    if in_one:
        query, key, value = (gradient_in_order(x, _BY_POSITIONS) if x.requires_grad else x for x in (query, key, value))
    if enable_gqa:
        key, value = _grouped(query, key, value)
    batch = broadcast_shapes(*(x.ndarray.shape[:-2] for x in (query, key, value)))
    _require_sizes(batch, query, key, value)
    query, key, value = (_spread(x, batch) for x in (query, key, value))
    (queries, width), keys = query.ndarray.shape[-2:], key.ndarray.shape[-2]
    if scale is None:
        scale = 1 / math.sqrt(width) if width else 1.0
    axes = tuple(range(len(batch)))
    scores = dot(query, movement.transpose(key, (*axes, len(axes) + 1, len(axes)))) * scale
    if is_causal:
        scores = where(causal(queries, keys), scores, -math.inf)
    if attn_mask is not None:
        scores = _masked(scores, attn_mask)
    weights = _weights(scores, may_be_empty=attn_mask is not None)
    out = dot(dropout(weights, dropout_p) if dropout_p > 0 else weights, value)
    return out if order is None else in_order(out, order)


scaled_dot_product_attention = overridable(
    scaled_dot_product_attention, "tracegrad.nn.functional.scaled_dot_product_attention"
)
