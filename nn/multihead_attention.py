"""Attention of several heads as a layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..functional.multihead_attention import Masks, Weights, attend
from ..tensors.creation import empty
from ..tensors.tensor import Tensor
from . import init
from .linear import Linear
from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from ..ops.types import DType
    from ..tensors.calling.annotations import DeviceLike


class NonDynamicallyQuantizableLinear(Linear):
    """A ``Linear`` under the name that PyTorch shows for it inside ``MultiheadAttention``."""


class MultiheadAttention(Module):
    """Queries look at keys and get a mixture of values, in several heads side by side.

    Inputs are [length, batch, width], with `batch_first` [batch, length, width], or without batch; widths are
    `embed_dim`, `kdim` and `vdim`. A call returns the result, of `embed_dim`, and the weights: [batch, queries, keys],
    the average over the heads, or all of them, or None, as it is asked for. `dropout` drops weights in training.
    `add_bias_kv` learns a further key and value, `add_zero_attn` adds one of zeros.

    Masks are True (or -inf) where a query may *not* look: `key_padding_mask` [batch, keys], `attn_mask` [queries, keys]
    or [batch * heads, queries, keys]; numbers are added to the scores. A query that may look at nothing gets NaN with
    ``need_weights=True``, else 0 (where PyTorch's inference kernel gives NaN). `is_causal` says that `attn_mask` is the
    causal mask.

    ValueError and AssertionError for sizes that do not fit together.

    >>> import tracegrad as tg
    >>> attention = tg.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = tg.zeros(3, 5, 8)
    >>> out, weights = attention(x, x, x)
    >>> out.shape, weights.shape
    (tracegrad.Size([3, 5, 8]), tracegrad.Size([3, 5, 5]))
    """

    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        self.add_zero_attn = add_zero_attn
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self._make(bias, add_bias_kv, {"device": device, "dtype": dtype})
        self._reset_parameters()

    def _make(self, bias: bool, add_bias_kv: bool, of: dict[str, Any]) -> None:
        width, same = self.embed_dim, self._qkv_same_embed_dim
        separate = {"q_proj_weight": width, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        if same:
            self.in_proj_weight = Parameter(empty(3 * width, width, **of))
        for name, inputs in separate.items():
            self.register_parameter(name, None if same else Parameter(empty(width, inputs, **of)))
        if not same:
            self.register_parameter("in_proj_weight", None)
        self.register_parameter("in_proj_bias", Parameter(empty(3 * width, **of)) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(width, width, bias=bias, **of)
        for name in ("bias_k", "bias_v"):
            setattr(self, name, Parameter(empty(1, 1, width, **of)) if add_bias_kv else None)

    def _reset_parameters(self) -> None:
        """Draw the projections, then what is added to keys and values; biases are 0."""
        drawn = (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        for weight in drawn:
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for row in (self.bias_k, self.bias_v):
            if row is not None:
                init.xavier_normal_(row)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        separate = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        return attend(
            (query, key, value),
            Weights(
                self.in_proj_weight,
                None if self._qkv_same_embed_dim else separate,
                self.in_proj_bias,
                self.bias_k,
                self.bias_v,
                self.out_proj.weight,
                self.out_proj.bias,
            ),
            Masks(key_padding_mask, attn_mask, is_causal),
            self.embed_dim,
            self.num_heads,
            dropout_p=self.dropout if self.training else 0.0,
            need_weights=need_weights,
            average=average_attn_weights,
            zero=self.add_zero_attn,
            batch_first=self.batch_first,
        )

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one for [batch, heads, length, length], and of which kind it is.

        0 would be a mask of pairs alone; PyTorch never returns it. 1 is the padding as it was given, 2 the merged mask.
        """
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length = query.shape[:2]
        if attn_mask.ndim == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is None:
            return merged, 2
        return merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1), 2
