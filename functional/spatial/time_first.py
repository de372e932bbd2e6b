"""Convolution of sequences whose first axis is time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...tensors.composite import composite
from .convolution import conv1d

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


@composite("ConvTbcBackward0")
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """`conv1d` of time, batch, channels: `input` [T, batch, in], `weight` [kernel, in, out], `bias` [out].

    The result is [T + 2 * pad - kernel + 1, batch, out], in one type, which all three must have. RuntimeError for other
    numbers of axes and for channels that do not fit.

    >>> import tracegrad as tg
    >>> tg.conv_tbc(tg.ones(4, 1, 2), tg.ones(3, 2, 1), tg.zeros(1)).flatten()
    tensor([6., 6.])
    """
    if input.dim() != 3:
        raise RuntimeError("Input must have 3 dims: time, batch, in_channel")
    if weight.dim() != 3:
        raise RuntimeError("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
    if bias.dim() != 1:
        raise RuntimeError("Bias must be 1-D")
    if input.shape[2] != weight.shape[1]:
        raise RuntimeError("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
    if weight.shape[2] != bias.shape[0]:
        raise RuntimeError("Bias size must equal dim 2 in the weight tensor (output channels).")
    out = conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad)
    return out.permute(2, 0, 1).contiguous()
