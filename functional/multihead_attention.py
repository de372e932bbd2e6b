"""Attention of several heads with its projections, as ``nn.MultiheadAttention`` computes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ..ops import movement
from ..ops.comparison import where
from ..ops.core import current
from ..ops.types import bool_
from ..tensors.creation import zeros
from ..tensors.operands import overridable
from ..tracing.user_warning import warn_user
from .attention import scaled_dot_product_attention
from .joining import cat
from .layers import dropout
from .linear_algebra import linear, matmul
from .normalizing.softmax import softmax
from .spatial.padding import pad

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

# ------------------------------------------------------------------------------------------------------ arguments


def _require_ndim(query: Any, key: Any, value: Any, padding_mask: Any, attn_mask: Any, heads: int) -> bool:
    """Whether the input has a batch axis; AssertionError where the numbers of axes do not fit together."""
    if query.ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor"
        )
    batched = query.ndim == 3
    given = f"For {'batched (3-D)' if batched else 'unbatched (2-D)'} `query`, expected"
    if key.ndim != query.ndim or value.ndim != query.ndim:
        raise AssertionError(
            f"{given} `key` and `value` to be {query.ndim}-D but found {key.ndim}-D and {value.ndim}-D tensors "
            "respectively"
        )
    if padding_mask is not None and padding_mask.ndim != query.ndim - 1:
        raise AssertionError(
            f"{given} `key_padding_mask` to be `None` or {query.ndim - 1}-D but found {padding_mask.ndim}-D tensor "
            "instead"
        )
    if attn_mask is not None and attn_mask.ndim not in (2, 3):
        raise AssertionError(
            f"{given} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.ndim}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.ndim == 3 and not batched:
        expected = (heads, query.shape[0], key.shape[0])
        if tuple(attn_mask.shape) != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return batched


def additive_mask(mask: Any, name: str, dtype: Any, other: Any = None, other_name: str = "") -> Any:
    """`mask` as numbers to be added: -inf where a bool mask is True. None stays None.

    AssertionError for integers; a warning where the type of the mask `other` is another one.
    """
    if mask is None:
        return None
    if mask.dtype is not bool_ and not mask.dtype.is_floating_point:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and mask.dtype is not other.dtype:
        warn_user(f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.")
    if mask.dtype is not bool_:
        return mask
    constant = current().constant
    return where(mask, constant(-math.inf, dtype), constant(0.0, dtype))


def _require_sizes(query: Any, key: Any, value: Any, width: int, heads: int, separate: bool) -> None:
    found = query.shape[-1]
    if found != width:
        raise AssertionError(f"was expecting embedding dimension of {width}, but got {found}")
    if width // heads * heads != width:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")
    if separate and key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    if not separate and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _require_one_batch(batch: int, key: Any, batch_axis: int, heads: int, width: int) -> None:
    found, length = key.shape[batch_axis], key.shape[1 - batch_axis]
    if found != batch:
        raise RuntimeError(
            f"shape '[{length}, {batch * heads}, {width // heads}]' is invalid for input of size "
            f"{length * found * width}: there are {batch} sequences of queries, {found} of keys"
        )


# ----------------------------------------------------------------------------------------------------- projections


def _packed(query: Any, key: Any, value: Any, weight: Any, bias: Any) -> list[Any]:
    """Queries, keys and values by one weight [3 width, width]; what is the same tensor is projected at once."""
    if weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    width = query.shape[-1]
    if query is key and key is value:
        return list(linear(query, weight, bias).split(width, -1))
    weights = weight.split(width)
    biases = (None, None, None) if bias is None else bias.split(width)
    if key is value:
        both = linear(key, weight[width:], None if bias is None else bias[width:])
        return [linear(query, weights[0], biases[0]), *both.split(width, -1)]
    return [linear(*given) for given in zip((query, key, value), weights, biases, strict=True)]


def _separate(operands: tuple[Any, ...], weights: tuple[Any, ...], bias: Any) -> list[Any]:
    """The same by a weight for each."""
    width = operands[0].shape[-1]
    for letter, name, x, weight in zip("qkv", ("query", "key", "value"), operands, weights, strict=True):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {letter}_proj_weight is None")
        expected = (width, x.shape[-1])
        if tuple(weight.shape) != expected:
            raise AssertionError(f"expecting {name} weights shape of {expected}, but got {weight.shape}")
    biases = (None, None, None) if bias is None else bias.split(width)
    return [linear(*given) for given in zip(operands, weights, biases, strict=True)]


def _in_heads(x: Any, heads: int, batch_first: bool) -> Any:
    """[length, batch, heads * width] (or batch first) as [batch, heads, length, width]."""
    first, second, width = x.shape
    split = movement.reshape(x, (first, second, heads, width // heads))
    return movement.transpose(split, (0, 2, 1, 3) if batch_first else (1, 2, 0, 3))


def _joined(x: Any) -> Any:
    """[batch, heads, length, width] as [length, batch, heads * width]."""
    batch, heads, length, width = x.shape
    return movement.reshape(movement.transpose(x, (2, 0, 1, 3)), (length, batch, heads * width))


def _static(name: str, x: Any, batch: int, heads: int, width: int) -> Any:
    """Keys or values [batch * heads, length, width] that were given instead of projected ones."""
    if x.shape[0] != batch * heads:
        raise AssertionError(f"expecting {name}.size(0) of {batch * heads}, but got {x.shape[0]}")
    if x.shape[2] != width:
        raise AssertionError(f"expecting {name}.size(2) of {width}, but got {x.shape[2]}")
    return movement.reshape(x, (batch, heads, *x.shape[1:]))


# ------------------------------------------------------------------------------------------------- further keys


def _with_bias_row(x: Any, row: Any, batch_first: bool) -> Any:
    """A further key or value, the same for the whole batch; `row` is [1, 1, width]."""
    shape = (x.shape[0], 1, x.shape[2]) if batch_first else (1, *x.shape[1:])
    return cat([x, row.expand(shape)], 1 if batch_first else 0)


def _with_zero_row(x: Any) -> Any:
    batch, heads, _, width = x.shape
    return cat([x, zeros(batch, heads, 1, width, dtype=x.dtype)], 2)


def _with_column(masks: Masks) -> Masks:
    """A further key, at which all may look."""
    padding, pairs = (None if mask is None else pad(mask, (0, 1)) for mask in masks[:2])
    return masks._replace(padding=padding, pairs=pairs)


# ------------------------------------------------------------------------------------------------------------- masks


def _shaped(mask: Any, batch: int, heads: int, queries: int, keys: int) -> Any:
    """`mask` [queries, keys] as it is, [batch * heads, queries, keys] with four axes."""
    if mask is None:
        return None
    expected: tuple[int, ...] = (queries, keys) if mask.ndim == 2 else (batch * heads, queries, keys)
    if tuple(mask.shape) != expected:
        raise RuntimeError(f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be {expected}.")
    return mask if mask.ndim == 2 else movement.reshape(mask, (batch, heads, queries, keys))


def _merged(mask: Any, padding: Any, batch: int, keys: int) -> Any:
    if padding is None:
        return mask
    for axis, expected in enumerate((batch, keys)):
        if padding.shape[axis] != expected:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{axis}] to be {expected}, but got {padding.shape[axis]}"
            )
    padding = movement.reshape(padding, (batch, 1, 1, keys))
    return padding if mask is None else mask + padding


# --------------------------------------------------------------------------------------------------------- attention


def _explained(query: Any, key: Any, value: Any, mask: Any, dropout_p: float) -> tuple[Any, Any]:
    """The result and the weights [batch, heads, queries, keys]; NaN where a query may look at nothing."""
    scores = matmul(query * math.sqrt(1.0 / query.shape[-1]), key.transpose(-2, -1))
    weights = softmax(scores if mask is None else scores + mask, -1)
    weights = dropout(weights, dropout_p) if dropout_p > 0 else weights
    return matmul(weights, value), weights


class Weights(NamedTuple):
    """The parameters: `packed` or three projections and their bias, a further key and value, the last projection."""

    packed: Any
    separate: tuple[Any, Any, Any] | None
    bias: Any
    bias_k: Any
    bias_v: Any
    out: Any
    out_bias: Any


class Masks(NamedTuple):
    """What queries may look at: `padding` [batch, keys], `pairs` [queries, keys] or [batch * heads, queries, keys].

    `causal` says that `pairs` is the causal mask.
    """

    padding: Any
    pairs: Any
    causal: bool = False


def _additive(masks: Masks, dtype: Any, need_weights: bool) -> Masks:
    """The masks as numbers; the causal one remains only where it is alone and weights are not asked for."""
    padding = additive_mask(masks.padding, "key_padding_mask", dtype, masks.pairs, "attn_mask")
    if masks.causal and masks.pairs is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    causal = masks.causal and padding is None and not need_weights
    return Masks(padding, None if causal else additive_mask(masks.pairs, "attn_mask", dtype), causal)


def _keys_and_values(
    k: Any, v: Any, weights: Weights, masks: Masks, heads: int, static: tuple[Any, Any], zero: bool, batch_first: bool
) -> tuple[Any, Any, Masks]:
    """Keys and values in heads, with the further ones, and masks that cover these."""
    batch, width = k.shape[0 if batch_first else 1], k.shape[2] // heads
    if (weights.bias_k is None) != (weights.bias_v is None):
        given, missing = ("bias_k", "bias_v") if weights.bias_v is None else ("bias_v", "bias_k")
        raise AssertionError(f"{given} is set but {missing} is None")
    if weights.bias_k is not None:
        for name, x in zip(("key", "value"), static, strict=True):
            if x is not None:
                raise AssertionError(f"bias cannot be added to static {name}.")
        k, v = _with_bias_row(k, weights.bias_k, batch_first), _with_bias_row(v, weights.bias_v, batch_first)
        masks = _with_column(masks)
    k, v = (
        _in_heads(projected, heads, batch_first) if given is None else _static(name, given, batch, heads, width)
        for name, given, projected in zip(("static_k", "static_v"), static, (k, v), strict=True)
    )
    if zero:
        k, v, masks = _with_zero_row(k), _with_zero_row(v), _with_column(masks)
    return k, v, masks


def attend(
    operands: tuple[Any, Any, Any],
    weights: Weights,
    masks: Masks,
    width: int,
    heads: int,
    *,
    dropout_p: float,
    need_weights: bool,
    average: bool,
    zero: bool = False,
    static: tuple[Any, Any] = (None, None),
    batch_first: bool = False,
) -> tuple[Any, Any]:
    """`multi_head_attention_forward`, with the batch or the length as first axis."""
    batched = _require_ndim(*operands, masks.padding, masks.pairs, heads)
    batch_axis = 0 if batch_first and batched else 1
    if not batched:
        operands, masks, batch_first = _with_batch(operands), _with_batch_mask(masks), False
    query, key, value = operands
    masks = _additive(masks, query.dtype, need_weights)
    _require_sizes(query, key, value, width, heads, weights.separate is not None)
    if weights.separate is None:
        q, k, v = _packed(query, key, value, weights.packed, weights.bias)
    else:
        q, k, v = _separate(operands, weights.separate, weights.bias)
    batch, length = query.shape[batch_axis], 1 - batch_axis
    _require_one_batch(batch, key, batch_axis, heads, width)
    masks = masks._replace(pairs=_shaped(masks.pairs, batch, heads, query.shape[length], key.shape[length]))
    q = _in_heads(q, heads, batch_first)
    k, v, masks = _keys_and_values(k, v, weights, masks, heads, static, zero, batch_first)
    mask = _merged(masks.pairs, masks.padding, batch, k.shape[2])
    if need_weights:
        out, shares = _explained(q, k, v, mask, dropout_p)
        shares = shares.mean(1) if average else shares
    else:
        out, shares = scaled_dot_product_attention(q, k, v, mask, dropout_p, masks.causal), None
    out = linear(_joined(out), weights.out, weights.out_bias)
    if batched:  # the length stays first in memory, whose order is that of later draws
        return movement.transpose(out, (1, 0, 2)) if batch_first else out, shares
    return out.squeeze(1), None if shares is None else shares.squeeze(0)


def _with_batch(operands: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """The operands with a batch axis behind the first; what was one tensor stays one."""
    query, key, value = operands
    made = {id(x): x.unsqueeze(1) for x in operands}
    return made[id(query)], made[id(key)], made[id(value)]


def _with_batch_mask(masks: Masks) -> Masks:
    return masks if masks.padding is None else masks._replace(padding=masks.padding.unsqueeze(0))


def _forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Project `query`, `key` and `value`, attend in `num_heads` heads, project the result.

    Inputs are [length, batch, width], or without batch; see ``nn.MultiheadAttention`` for the masks. Returns the result
    and, with `need_weights`, the weights (the heads' average, or all of them). AssertionError or RuntimeError where
    sizes and types do not fit together.

    >>> import tracegrad as tg
    >>> x, p = tg.ones(3, 1, 2), tg.eye(2)
    >>> F, weights = tg.nn.functional, tg.cat([p, p, p])
    >>> args = (2, 1, weights, None, None, None, False, 0.0, p, None)
    >>> F.multi_head_attention_forward(x, x, x, *args)[1][0]
    tensor([[0.3333, 0.3333, 0.3333],
            [0.3333, 0.3333, 0.3333],
            [0.3333, 0.3333, 0.3333]])
    """
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    return attend(
        (query, key, value),
        Weights(in_proj_weight, separate, in_proj_bias, bias_k, bias_v, out_proj_weight, out_proj_bias),
        Masks(key_padding_mask, attn_mask, is_causal),
        embed_dim_to_check,
        num_heads,
        dropout_p=dropout_p if training else 0.0,
        need_weights=need_weights,
        average=average_attn_weights,
        zero=add_zero_attn,
        static=(static_k, static_v),
    )


_forward.__name__ = _forward.__qualname__ = "multi_head_attention_forward"
multi_head_attention_forward = overridable(_forward, "tracegrad.nn.functional.multi_head_attention_forward")
