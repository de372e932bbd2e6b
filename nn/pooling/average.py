"""Layers of the means and the norms of windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...functional.spatial.sliding import Numbers
from ...tensors.tensor import Tensor
from .. import functional as F
from ..module import Module
from ..option import Option


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


class AvgPool1d(_AvgPool):
    """The means of windows that slide over [batch, channels, length], or without batch.

    Output [batch, channels, L'] with ``L' = (length + 2 * padding - kernel_size) // stride + 1``; `ceil_mode` rounds up
    instead. `kernel_size`, `stride` (default: the kernel's size) and `padding` (0, at most half the kernel) are a
    number. The zeros of the padding count in the means unless ``count_include_pad=False``. Input and output have one
    floating type, or int64. RuntimeError for sizes that do not fit.

    >>> import tracegrad as tg
    >>> tg.nn.AvgPool1d(2)(tg.tensor([[1.0, 3.0, 5.0, 9.0]]))
    tensor([[2., 7.]])
    """

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


class AvgPool2d(_AvgPool):
    """The means of windows that slide over [batch, channels, height, width], or without batch.

    Output [batch, channels, H', W'] with ``H' = (height + 2 * padding - kernel_size) // stride + 1``, and so for W';
    `ceil_mode` rounds up instead. `kernel_size`, `stride` (default: the kernel's size) and `padding` (0, at most half
    the kernel) are one number for both axes or two. The zeros of the padding count in the means unless
    ``count_include_pad=False``. `divisor_override` divides the sums by another number than the window's size. Input and
    output have one floating type, or int64. RuntimeError for sizes that do not fit.

    >>> import tracegrad as tg
    >>> tg.nn.AvgPool2d((2, 3), stride=1)(tg.zeros(2, 3, 8, 6)).shape
    tracegrad.Size([2, 3, 7, 4])
    """

    function = F.avg_pool2d


class AvgPool3d(_AvgPool):
    """The means of windows that slide over [batch, channels, depth, height, width], or without batch.

    Output [batch, channels, D', H', W'] with ``D' = (depth + 2 * padding - kernel_size) // stride + 1``, and so for H'
    and W'; `ceil_mode` rounds up instead. `kernel_size`, `stride` (default: the kernel's size) and `padding` (0, at
    most half the kernel) are one number for all axes or three. The zeros of the padding count in the means unless
    ``count_include_pad=False``. `divisor_override` divides the sums by another number than the window's size. Input and
    output have one floating type, or int64. RuntimeError for sizes that do not fit.

    >>> import tracegrad as tg
    >>> tg.nn.AvgPool3d(2)(tg.zeros(1, 2, 4, 4, 6)).shape
    tracegrad.Size([1, 2, 2, 2, 3])
    """

    function = F.avg_pool3d


class LPPool1d(_LPPool):
    """``(sum of x ** norm_type) ** (1 / norm_type)`` over windows that slide over [batch, channels, length], or without
    batch.

    Output [batch, channels, L'] with ``L' = (length - kernel_size) // stride + 1``; `ceil_mode` rounds up instead.
    `norm_type` 1 gives sums, 2 the Euclidean norm; x is taken with its sign, so that a negative sum gives NaN where
    `norm_type` is not 1. `kernel_size` and `stride` (default: the kernel's size) are a number. Input and output have
    one floating type. The gradient of a window of zeros is 0.

    >>> import tracegrad as tg
    >>> tg.nn.LPPool1d(2, 2)(tg.tensor([[3.0, 4.0, 6.0, 8.0]]))
    tensor([[ 5., 10.]])
    """

    function = F.lp_pool1d


class LPPool2d(_LPPool):
    """``(sum of x ** norm_type) ** (1 / norm_type)`` over windows that slide over [batch, channels, height, width], or
    without batch.

    Output [batch, channels, H', W'] with ``H' = (height - kernel_size) // stride + 1``, and so for W'; `ceil_mode`
    rounds up instead. `norm_type` 1 gives sums, 2 the Euclidean norm; x is taken with its sign, so that a negative sum
    gives NaN where `norm_type` is not 1. `kernel_size` and `stride` (default: the kernel's size) are one number for
    both axes or two. Input and output have one floating type. The gradient of a window of zeros is 0.

    >>> import tracegrad as tg
    >>> tg.nn.LPPool2d(2, 2)(tg.tensor([[[1.0, 2.0, 5.0, 1.0], [2.0, 4.0, 1.0, 3.0]]]))
    tensor([[[5., 6.]]])
    """

    function = F.lp_pool2d


class LPPool3d(_LPPool):
    """``(sum of x ** norm_type) ** (1 / norm_type)`` over windows that slide over [batch, channels, depth, height,
    width], or without batch.

    Output [batch, channels, D', H', W'] with ``D' = (depth - kernel_size) // stride + 1``, and so for H' and W';
    `ceil_mode` rounds up instead. `norm_type` 1 gives sums, 2 the Euclidean norm; x is taken with its sign, so that a
    negative sum gives NaN where `norm_type` is not 1. `kernel_size` and `stride` (default: the kernel's size) are one
    number for all axes or three. Input and output have one floating type. The gradient of a window of zeros is 0.

    >>> import tracegrad as tg
    >>> tg.nn.LPPool3d(2, 2)(tg.ones(1, 2, 2, 4))
    tensor([[[[2.8284, 2.8284]]]])
    """

    function = F.lp_pool3d
