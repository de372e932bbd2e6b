"""Pooling layers, and what takes images apart into blocks and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..functional.spatial.sliding import Numbers
from ..tensors.tensor import Tensor
from . import functional as F
from .module import Module
from .option import Option


class _MaxPool(Module):
    """The maximum of each window; the default stride is the kernel's size."""

    function: Callable[..., Any]
    kernel_size, stride, padding, dilation = Option(), Option(), Option(), Option()
    return_indices, ceil_mode = Option(), Option()

    def __init__(
        self,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        return type(self).function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class _MaxUnpool(Module):
    """Maxima back at the places that a pooling layer with `return_indices` took them from."""

    axes = 0
    function: Callable[..., Any]
    kernel_size, stride, padding = Option(), Option(), Option()

    def __init__(self, kernel_size: Numbers, stride: Numbers | None = None, padding: Numbers = 0) -> None:
        super().__init__()
        step = kernel_size if stride is None else stride
        self.kernel_size, self.stride, self.padding = (
            (n,) * self.axes if isinstance(n, int) else tuple(n) for n in (kernel_size, step, padding)
        )

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        return type(self).function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _AvgPool(Module):
    """The mean of each window; the default stride is the kernel's size."""

    function: Callable[..., Any]
    kernel_size, stride, padding, ceil_mode, count_include_pad = Option(), Option(), Option(), Option(), Option()
    divisor_override = Option()

    def __init__(
        self,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        return type(self).function(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, *self._divisor()
        )

    def _divisor(self) -> tuple[int | None, ...]:
        return () if self.divisor_override is None else (self.divisor_override,)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """The means of windows of [batch, channels, length]; see ``nn.functional.avg_pool1d``."""

    function = F.avg_pool1d

    def __init__(
        self,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        sizes = (kernel_size, kernel_size if stride is None else stride, padding)
        of_kernel, step, low = ((n,) if isinstance(n, int) else tuple(n) for n in sizes)
        super().__init__(of_kernel, step, low, ceil_mode, count_include_pad)


class _LPPool(Module):
    """The `norm_type`-norm of each window; the default stride is the kernel's size."""

    function: Callable[..., Any]
    norm_type, kernel_size, stride, ceil_mode = Option(), Option(), Option(), Option()

    def __init__(
        self, norm_type: float, kernel_size: Numbers, stride: Numbers | None = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size, self.stride, self.ceil_mode = norm_type, kernel_size, stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        return type(self).function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class _AdaptivePool(Module):
    """Windows that cover the input about evenly, `output_size` of them along each axis (None keeps the axis)."""

    function: Callable[..., Any]
    output_size = Option()

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Any:
        return type(self).function(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class _AdaptiveMaxPool(_AdaptivePool):
    return_indices = Option()

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        return type(self).function(input, self.output_size, self.return_indices)


class Unfold(Module):
    """The sliding blocks of images as columns; see ``nn.functional.unfold``."""

    kernel_size, dilation, padding, stride = Option(), Option(), Option(), Option()

    def __init__(self, kernel_size: Numbers, dilation: Numbers = 1, padding: Numbers = 0, stride: Numbers = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Fold(Unfold):
    """Columns added up to images of `output_size`; see ``nn.functional.fold``."""

    output_size = Option()

    def __init__(
        self,
        output_size: Numbers,
        kernel_size: Numbers,
        dilation: Numbers = 1,
        padding: Numbers = 0,
        stride: Numbers = 1,
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, {super().extra_repr()}"


class MaxPool1d(_MaxPool):
    """The maxima of windows of [batch, channels, length]; see ``nn.functional.max_pool1d``."""

    function = F.max_pool1d


class MaxPool2d(_MaxPool):
    """The maxima of windows of [batch, channels, height, width]; see ``nn.functional.max_pool2d``."""

    function = F.max_pool2d


class MaxPool3d(_MaxPool):
    """The maxima of windows of [batch, channels, depth, height, width]; see ``nn.functional.max_pool3d``."""

    function = F.max_pool3d


class MaxUnpool1d(_MaxUnpool):
    """Maxima back in their places in [batch, channels, length]."""

    axes, function = 1, F.max_unpool1d


class MaxUnpool2d(_MaxUnpool):
    """Maxima back in their places in [batch, channels, height, width]."""

    axes, function = 2, F.max_unpool2d


class MaxUnpool3d(_MaxUnpool):
    """Maxima back in their places in [batch, channels, depth, height, width]."""

    axes, function = 3, F.max_unpool3d


class AvgPool2d(_AvgPool):
    """The means of windows of [batch, channels, height, width]; see ``nn.functional.avg_pool2d``."""

    function = F.avg_pool2d


class AvgPool3d(_AvgPool):
    """The means of windows of [batch, channels, depth, height, width]; see ``nn.functional.avg_pool3d``."""

    function = F.avg_pool3d


class LPPool1d(_LPPool):
    """The norms of windows of [batch, channels, length]."""

    function = F.lp_pool1d


class LPPool2d(_LPPool):
    """The norms of windows of [batch, channels, height, width]."""

    function = F.lp_pool2d


class LPPool3d(_LPPool):
    """The norms of windows of [batch, channels, depth, height, width]."""

    function = F.lp_pool3d


class AdaptiveAvgPool1d(_AdaptivePool):
    """The means of windows that cover [batch, channels, length]."""

    function = F.adaptive_avg_pool1d


class AdaptiveAvgPool2d(_AdaptivePool):
    """The means of windows that cover [batch, channels, height, width]."""

    function = F.adaptive_avg_pool2d


class AdaptiveAvgPool3d(_AdaptivePool):
    """The means of windows that cover [batch, channels, depth, height, width]."""

    function = F.adaptive_avg_pool3d


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The maxima of windows that cover [batch, channels, length]."""

    function = F.adaptive_max_pool1d


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The maxima of windows that cover [batch, channels, height, width]."""

    function = F.adaptive_max_pool2d


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The maxima of windows that cover [batch, channels, depth, height, width]."""

    function = F.adaptive_max_pool3d
