"""Memory formats of convolutions' weights, which are all stored in order here."""

from __future__ import annotations

from typing import TypeVar

from ..module import Module

M = TypeVar("M", bound=Module)


def convert_conv2d_weight_memory_format(module: M, memory_format: object) -> M:
    """The module, as it is: the order of axes in memory is the library's own business, and no number depends on it.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Conv2d(1, 1, 3)
    >>> tg.nn.utils.convert_conv2d_weight_memory_format(layer, tg.channels_last) is layer
    True
    """
    return module


def convert_conv3d_weight_memory_format(module: M, memory_format: object) -> M:
    """The module, as it is: the order of axes in memory is the library's own business, and no number depends on it.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Conv3d(1, 1, 3)
    >>> tg.nn.utils.convert_conv3d_weight_memory_format(layer, tg.channels_last_3d) is layer
    True
    """
    return module
