"""One layer of a transformer's encoder or decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..functional.multihead_attention import additive_mask
from ..tape.grad_mode import is_recording
from ..tensors.tensor import Tensor
from . import functional as F
from .activation import GELU, ReLU
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .multihead_attention import MultiheadAttention
from .normalization import LayerNorm

if TYPE_CHECKING:
    from ..ops.types import DType
    from ..tensors.calling.annotations import DeviceLike

Function = Callable[[Tensor], Tensor]


def _activation(activation: str | Function) -> Function:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


def additive_masks(src: Tensor, mask: Any, name: str, padding: Any, padding_name: str) -> tuple[Any, Any]:
    """Both masks as numbers to be added, of the type of `src`."""
    padding = additive_mask(padding, padding_name, src.dtype, mask, name)
    return additive_mask(mask, name, src.dtype), padding


class _Layer(Module):
    """What layers of encoders and decoders share: submodules, made in PyTorch's order, and blocks of them."""

    attentions: tuple[str, ...]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Function = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        of: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        for name in self.attentions:
            self.add_module(name, MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, **of))
        self.linear1 = Linear(d_model, dim_feedforward, **of)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **of)
        self.norm_first = norm_first
        numbers = range(1, len(self.attentions) + 2)
        for number in numbers:
            self.add_module(f"norm{number}", LayerNorm(d_model, eps=layer_norm_eps, **of))
        for number in numbers:
            self.add_module(f"dropout{number}", Dropout(dropout))
        self.activation = self._set_activation(_activation(activation))

    def _set_activation(self, activation: Function) -> Function:
        return activation

    def _residual(self, x: Tensor, norm: Module, block: Function) -> Tensor:
        """`x` with what `block` makes of it; normalised before or after."""
        return x + block(norm(x)) if self.norm_first else norm(x + block(x))

    def _sa_block(self, x: Tensor, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Tensor:
        out, _ = self.self_attn(
            x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False, is_causal=is_causal
        )
        return self.dropout1(out)

    def _fed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Attention of a sequence to itself, then a feed-forward network, each with a residual and a normalisation.

    Inputs and results are [length, batch, d_model], with `batch_first` [batch, length, d_model], or without batch.
    `activation` is "relu", "gelu" or a function; `norm_first` normalises before each block instead of after it.

    >>> import tracegrad as tg
    >>> layer = tg.nn.TransformerEncoderLayer(8, 2, 16)
    >>> layer(tg.zeros(5, 3, 8)).shape
    tracegrad.Size([5, 3, 8])
    """

    attentions = ("self_attn",)

    def _set_activation(self, activation: Function) -> Function:
        relu, gelu = (activation is F.relu, ReLU), (activation is F.gelu, GELU)
        kinds = [same or isinstance(activation, module) for same, module in (relu, gelu)]
        self.activation_relu_or_gelu = 1 if kinds[0] else 2 if kinds[1] else 0
        return activation

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        mask, padding = additive_masks(src, src_mask, "src_mask", src_key_padding_mask, "src_key_padding_mask")
        if is_causal and has_fast_path(self, src):
            is_causal = False  # PyTorch's inference kernel knows no hint: the mask itself counts
        x = self._residual(src, self.norm1, lambda x: self._sa_block(x, mask, padding, is_causal))
        return self._residual(x, self.norm2, self._ff_block)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._fed_forward(x))


def has_fast_path(layer: TransformerEncoderLayer, src: Tensor) -> bool:
    """Whether PyTorch would run its inference kernel: an evaluation without gradients, of what that kernel knows."""
    attention = layer.self_attn
    known = (
        src.ndim == 3
        and not layer.training
        and attention.batch_first
        and attention.in_proj_bias is not None
        and attention._qkv_same_embed_dim
        and layer.activation_relu_or_gelu
        and layer.norm1.eps == layer.norm2.eps
        and attention.num_heads % 2 == 0
    )
    if not known:
        return False
    return not (is_recording() and any(x.requires_grad for x in (src, *layer.parameters())))


class TransformerDecoderLayer(_Layer):
    """Attention of a sequence to itself, then to an encoder's `memory`, then a feed-forward network.

    Shapes and options are those of ``TransformerEncoderLayer``.

    >>> import tracegrad as tg
    >>> layer = tg.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    >>> layer(tg.zeros(3, 5, 8), tg.zeros(3, 4, 8)).shape
    tracegrad.Size([3, 5, 8])
    """

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        def to_itself(x: Tensor) -> Tensor:
            return self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)

        def to_memory(x: Tensor) -> Tensor:
            return self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal)

        x = self._residual(tgt, self.norm1, to_itself)
        x = self._residual(x, self.norm2, to_memory)
        return self._residual(x, self.norm3, self._ff_block)

    def _mha_block(
        self, x: Tensor, mem: Tensor, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False
    ) -> Tensor:
        out, _ = self.multihead_attn(
            x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False, is_causal=is_causal
        )
        return self.dropout2(out)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._fed_forward(x))
