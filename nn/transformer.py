"""Transformers: layers of attention and feed-forward networks, stacks of them, and the two stacks together."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..functional.shaping.diagonals import triu
from ..tensors.creation import full
from ..tensors.tensor import Tensor
from ..tracing.user_warning import warn_user
from . import functional as F
from . import init
from .containers import ModuleList
from .module import Module
from .normalization import LayerNorm
from .transformer_layers import (
    TransformerDecoderLayer,
    TransformerEncoderLayer,
    additive_masks,
    has_fast_path,
)

if TYPE_CHECKING:
    from ..ops.types import DType
    from ..tensors.calling.annotations import DeviceLike


def _copies(module: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


class TransformerEncoder(Module):
    """`num_layers` copies of an encoder layer, one after the other, then `norm`. All copies start equal.

    Input and output [length, batch, d_model], with the layer's `batch_first` [batch, length, d_model], or without
    batch. `mask` [length, length] (or one for each head of each sample) and `src_key_padding_mask` [batch, length] are
    True (or -inf) where a position may not look. In evaluation, where no gradient is asked for, positions behind the
    end of a sequence come out as zeros before `norm`, as they do in PyTorch, if `enable_nested_tensor` (default True,
    with a warning where the layer does not allow it); `mask_check` is kept for programs that set it (whether padding
    stands at the end is always looked at).

    >>> import tracegrad as tg
    >>> layer = tg.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> encoder = tg.nn.TransformerEncoder(layer, num_layers=2)
    >>> encoder(tg.zeros(3, 5, 8), mask=tg.nn.Transformer.generate_square_subsequent_mask(5)).shape
    tracegrad.Size([3, 5, 8])
    """

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = self.use_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        reason = _why_not_nested(encoder_layer)
        if enable_nested_tensor and reason:
            warn_user(f"enable_nested_tensor is True, but self.use_nested_tensor is False because {reason}")
            self.use_nested_tensor = False

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        mask, padding = additive_masks(src, mask, "mask", src_key_padding_mask, "src_key_padding_mask")
        output = src
        for layer in self.layers:
            # Whether a mask is the causal one makes no difference to the numbers, so that it is not looked at.
            output = layer(output, src_mask=mask, is_causal=is_causal is True, src_key_padding_mask=padding)
        if padding is not None and mask is None and self.use_nested_tensor and has_fast_path(self.layers[0], src):
            output = _without_padding(output, padding != 0)
        return output if self.norm is None else self.norm(output)


def _why_not_nested(layer: Any) -> str:
    """Why PyTorch would not drop padding in evaluation."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        ".norm_first was True": layer.norm_first,
        ".self_attn.batch_first was not True(use batch_first for better inference performance)": (
            not attention.batch_first
        ),
        ".self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        ".self_attn was passed bias=False": attention.in_proj_bias is None,
        ".activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        ".norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        ".self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((f"encoder_layer{text}" for text, holds in reasons.items() if holds), "")


def _without_padding(x: Tensor, padded: Tensor) -> Tensor:
    """`x` [batch, length, width] with zeros where `padded`, if padding is behind all sequences."""
    mask: Any = padded
    behind = (mask[:, 1:] | ~mask[:, :-1]).all()
    return x.masked_fill((mask & behind).unsqueeze(-1), 0.0)


class TransformerDecoder(Module):
    """`num_layers` copies of a decoder layer, one after the other, then `norm`. All copies start equal.

    Called with `tgt` [length, batch, d_model] and an encoder's `memory` [source length, batch, d_model], with the
    layer's `batch_first` [batch, length, d_model], or without batch; output as `tgt`. Masks are True (or -inf) where a
    position may not look: `tgt_mask` [length, length], `memory_mask` [length, source length], those of padding [batch,
    length]. The hints `tgt_is_causal` and `memory_is_causal` change no numbers where the masks are given.

    >>> import tracegrad as tg
    >>> layer = tg.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    >>> decoder = tg.nn.TransformerDecoder(layer, num_layers=2)
    >>> decoder(tg.zeros(3, 5, 8), tg.zeros(3, 4, 8)).shape
    tracegrad.Size([3, 5, 8])
    """

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal is True,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder of `src` and a decoder of `tgt` that looks at what the encoder made: [length, batch, d_model] each.

    With `batch_first` the batch is the first axis; without batch inputs are [length, d_model]. `custom_encoder` and
    `custom_decoder` take the places of the stacks. Masks are True (or -inf) where a position may not look:
    `src_mask` [S, S], `tgt_mask` [T, T], `memory_mask` [T, S], those of padding [batch, length].

    RuntimeError where batches differ or the width is not `d_model`.

    >>> import tracegrad as tg
    >>> model = tg.nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    >>> model(tg.zeros(3, 5, 8), tg.zeros(3, 4, 8)).shape
    tracegrad.Size([3, 4, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        of: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first)
        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(*layer, **of)
            norm = LayerNorm(d_model, eps=layer_norm_eps, **of)
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*layer, **of)
            norm = LayerNorm(d_model, eps=layer_norm_eps, **of)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        batch_axis = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch_axis] != tgt.shape[batch_axis]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: DeviceLike | None = None, dtype: DType | None = None
    ) -> Tensor:
        """[sz, sz] with -inf above the diagonal and 0 elsewhere: each position may look at those up to itself.

        >>> import tracegrad as tg
        >>> tg.nn.Transformer.generate_square_subsequent_mask(3)
        tensor([[0., -inf, -inf],
                [0., 0., -inf],
                [0., 0., 0.]])
        """
        return triu(full((sz, sz), -math.inf, dtype=dtype, device=device), 1)
