"""Memory formats of convolutions' weights."""

from __future__ import annotations

from typing import Any, TypeVar

from ..convolution import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d
from ..module import Module

M = TypeVar("M", bound=Module)


def _convert(module: M, memory_format: Any, kinds: tuple[type, ...]) -> M:
    for each in module.modules():
        if isinstance(each, kinds):
            weight: Any = each.weight
            weight.data = weight.detach().clone(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: M, memory_format: object) -> M:
    """The module, in which the weights of all `Conv2d` and `ConvTranspose2d` now lie as `memory_format` says.

    RuntimeError for a format of another number of axes than four.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.convert_conv2d_weight_memory_format(tg.nn.Conv2d(2, 1, 3), tg.channels_last)
    >>> layer.weight.stride()
    (18, 1, 6, 2)
    """
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: M, memory_format: object) -> M:
    """The module, in which the weights of all `Conv3d` and `ConvTranspose3d` now lie as `memory_format` says.

    RuntimeError for a format of another number of axes than five.

    >>> import tracegrad as tg
    >>> layer = tg.nn.utils.convert_conv3d_weight_memory_format(tg.nn.Conv3d(2, 1, 3), tg.channels_last_3d)
    >>> layer.weight.stride()
    (54, 1, 18, 6, 2)
    """
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
