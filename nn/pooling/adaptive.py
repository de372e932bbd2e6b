"""Pooling layers to a size that is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...tensors.tensor import Tensor
from .. import functional as F
from ..module import Module
from ..option import Option


class _AdaptivePool(Module):
    """Windows that cover the input about evenly, `output_size` of them along each axis (None keeps the axis)."""

    function: Callable[..., Any]
    output_size = Option()

    def __init__(self, output_size: int | None | Sequence[int | None]) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        return type(self).function(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveMaxPool(_AdaptivePool):
    return_indices = Option()

    def __init__(self, output_size: int | None | Sequence[int | None], return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        return type(self).function(input, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(_AdaptivePool):
    """The means of windows that cover [batch, channels, length], or without batch, about evenly.

    Output [batch, channels, *output_size], of the same floating type. `output_size` is a number. Window i of n over an
    axis reaches from ``floor(i * length / n)`` to ``ceil((i + 1) * length / n)``. RuntimeError for negative sizes.

    >>> import tracegrad as tg
    >>> tg.nn.AdaptiveAvgPool1d(2)(tg.tensor([[1.0, 3.0, 5.0, 9.0]]))
    tensor([[2., 7.]])
    """

    function = F.adaptive_avg_pool1d


class AdaptiveAvgPool2d(_AdaptivePool):
    """The means of windows that cover [batch, channels, height, width], or without batch, about evenly.

    Output [batch, channels, *output_size], of the same floating type. `output_size` is a number for both axes or two;
    None keeps an axis as it is. Window i of n over an axis reaches from ``floor(i * length / n)`` to ``ceil((i + 1) *
    length / n)``. RuntimeError for negative sizes.

    >>> import tracegrad as tg
    >>> tg.nn.AdaptiveAvgPool2d(1)(tg.arange(8.0).reshape(1, 2, 4))
    tensor([[[3.5000]]])
    """

    function = F.adaptive_avg_pool2d


class AdaptiveAvgPool3d(_AdaptivePool):
    """The means of windows that cover [batch, channels, depth, height, width], or without batch, about evenly.

    Output [batch, channels, *output_size], of the same floating type. `output_size` is a number for all axes or three;
    None keeps an axis as it is. Window i of n over an axis reaches from ``floor(i * length / n)`` to ``ceil((i + 1) *
    length / n)``. RuntimeError for negative sizes.

    >>> import tracegrad as tg
    >>> tg.nn.AdaptiveAvgPool3d((1, None, 2))(tg.zeros(1, 2, 4, 5, 6)).shape
    tracegrad.Size([1, 2, 1, 5, 2])
    """

    function = F.adaptive_avg_pool3d


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The maxima of windows that cover [batch, channels, length], or without batch, about evenly.

    Output [batch, channels, *output_size], of the same floating type. `output_size` is a number. Windows are those of
    `AdaptiveAvgPool1d`. With `return_indices` a call returns ``(output, indices)``: int64 places in the flat length of
    the input. RuntimeError for negative sizes.

    >>> import tracegrad as tg
    >>> tg.nn.AdaptiveMaxPool1d(2)(tg.tensor([[1.0, 3.0, 5.0, 9.0]]))
    tensor([[3., 9.]])
    """

    function = F.adaptive_max_pool1d


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The maxima of windows that cover [batch, channels, height, width], or without batch, about evenly.

    Output [batch, channels, *output_size], of the same floating type. `output_size` is a number for both axes or two;
    None keeps an axis as it is. Windows are those of `AdaptiveAvgPool2d`. With `return_indices` a call returns
    ``(output, indices)``: int64 places in the flat height x width of the input. RuntimeError for negative sizes.

    >>> import tracegrad as tg
    >>> tg.nn.AdaptiveMaxPool2d((1, 2))(tg.arange(8.0).reshape(1, 2, 4))
    tensor([[[5., 7.]]])
    """

    function = F.adaptive_max_pool2d


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The maxima of windows that cover [batch, channels, depth, height, width], or without batch, about evenly.

    Output [batch, channels, *output_size], of the same floating type. `output_size` is a number for all axes or three;
    None keeps an axis as it is. Windows are those of `AdaptiveAvgPool3d`. With `return_indices` a call returns
    ``(output, indices)``: int64 places in the flat depth x height x width of the input. RuntimeError for negative
    sizes.

    >>> import tracegrad as tg
    >>> tg.nn.AdaptiveMaxPool3d((1, None, 2))(tg.zeros(1, 2, 4, 5, 6)).shape
    tracegrad.Size([1, 2, 1, 5, 2])
    """

    function = F.adaptive_max_pool3d
