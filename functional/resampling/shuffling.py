"""Elements moved between channels and space, and channels among each other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...ops import movement
from ...tensors.composite import composite
from ...tensors.layouts.kept_formats import KEEPS
from ..shapes import ordered_copy

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _require_image(name: str, input: Tensor) -> None:
    if input.ndarray.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {input.ndarray.ndim} dimension(s)"
        )


def _require_positive(name: str, what: str, number: int) -> None:
    if number <= 0:
        raise RuntimeError(f"{name} expects a positive {what}, but got {number}")


@composite("PixelShuffleBackward0", keeps=KEEPS["pixel_shuffle"])
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """``[*, channels * r * r, height, width]`` as ``[*, channels, height * r, width * r]``, r the `upscale_factor`.

    RuntimeError for fewer than three axes, and for channels that r * r does not divide.

    >>> import tracegrad as tg
    >>> tg.nn.functional.pixel_shuffle(tg.arange(4).reshape(4, 1, 1), 2)
    tensor([[[0, 1],
             [2, 3]]])
    """
    _require_image("pixel_shuffle", input)
    _require_positive("pixel_shuffle", "upscale_factor", upscale_factor)
    *batch, channels, height, width = input.ndarray.shape
    r, n = upscale_factor, len(batch)
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {r * r}"
        )
    apart = movement.reshape(input, (*batch, channels // (r * r), r, r, height, width))
    turned = movement.transpose(apart, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return movement.reshape(ordered_copy(turned), (*batch, channels // (r * r), height * r, width * r))


@composite("PixelUnshuffleBackward0", keeps=KEEPS["pixel_unshuffle"])
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """The way back from `pixel_shuffle`: ``[*, c, h * r, w * r]`` as ``[*, c * r * r, h, w]``, r = `downscale_factor`.

    RuntimeError for fewer than three axes, and for a height or width that r does not divide.

    >>> import tracegrad as tg
    >>> tg.nn.functional.pixel_unshuffle(tg.arange(4).reshape(1, 2, 2), 2).flatten(1)
    tensor([[0],
            [1],
            [2],
            [3]])
    """
    _require_image("pixel_unshuffle", input)
    _require_positive("pixel_unshuffle", "downscale_factor", downscale_factor)
    *batch, channels, height, width = input.ndarray.shape
    r, n = downscale_factor, len(batch)
    for place, what, extent in ((-2, "height", height), (-1, "width", width)):
        if extent % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {what} to be divisible by downscale_factor, but input.size({place})={extent} "
                f"is not divisible by {r}"
            )
    apart = movement.reshape(input, (*batch, channels, height // r, r, width // r, r))
    turned = movement.transpose(apart, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return movement.reshape(ordered_copy(turned), (*batch, channels * r * r, height // r, width // r))


@composite("ChannelShuffleBackward0", keeps=KEEPS["channel_shuffle"])
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """``[batch, channels, *space]`` with channels taken from each of `groups` groups in turn, of the same shape.

    RuntimeError for fewer than three axes, and for channels that the groups do not divide.

    >>> import tracegrad as tg
    >>> tg.nn.functional.channel_shuffle(tg.arange(4).reshape(1, 4, 1), 2).flatten()
    tensor([0, 2, 1, 3])
    """
    shape = input.ndarray.shape
    if len(shape) <= 2:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes{list(shape)}")
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} groups."
        )
    apart = movement.reshape(input, (shape[0], groups, shape[1] // groups, math.prod(shape[2:])))
    return movement.reshape(ordered_copy(movement.transpose(apart, (0, 2, 1, 3))), shape)
