"""Layers of the maxima of windows, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...functional.spatial.sliding import Numbers
from ...tensors.tensor import Tensor
from .. import functional as F
from ..module import Module
from ..option import Option


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

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
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


class MaxPool1d(_MaxPool):
    """The maxima of windows that slide over [batch, channels, length], or without batch.

    Output [batch, channels, L'] with ``L' = (length + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1``;
    `ceil_mode` rounds up instead, and adds windows that reach over the end. `kernel_size`, `stride` (default: the
    kernel's size), `padding` (0, at most half the kernel; filled with -inf) and `dilation` (1) are a number. With
    `return_indices` a call returns ``(output, indices)``: int64 places in the flat length of the input, for
    `MaxUnpool1d`. Input and output have one floating type (NotImplementedError for others). RuntimeError for sizes that
    do not fit.

    >>> import tracegrad as tg
    >>> tg.nn.MaxPool1d(3, stride=2)(tg.zeros(2, 3, 8)).shape
    tracegrad.Size([2, 3, 3])
    >>> tg.nn.MaxPool1d(2, return_indices=True)(tg.tensor([[1.0, 5.0, 3.0, 2.0]]))
    (tensor([[5., 3.]]), tensor([[1, 2]]))
    """

    function = F.max_pool1d


class MaxPool2d(_MaxPool):
    """The maxima of windows that slide over [batch, channels, height, width], or without batch.

    Output [batch, channels, H', W'] with ``H' = (height + 2 * padding - dilation * (kernel_size - 1) - 1) // stride +
    1``, and so for W'; `ceil_mode` rounds up instead, and adds windows that reach over the end. `kernel_size`, `stride`
    (default: the kernel's size), `padding` (0, at most half the kernel; filled with -inf) and `dilation` (1) are one
    number for both axes or two. With `return_indices` a call returns ``(output, indices)``: int64 places in the flat
    height x width of the input, for `MaxUnpool2d`. Input and output have one type, all but bool and complex.
    RuntimeError for sizes that do not fit.

    >>> import tracegrad as tg
    >>> tg.nn.MaxPool2d(2)(tg.zeros(2, 3, 8, 6)).shape
    tracegrad.Size([2, 3, 4, 3])
    >>> tg.nn.MaxPool2d(2)(tg.arange(8.0).reshape(1, 2, 4))
    tensor([[[5., 7.]]])
    """

    function = F.max_pool2d


class MaxPool3d(_MaxPool):
    """The maxima of windows that slide over [batch, channels, depth, height, width], or without batch.

    Output [batch, channels, D', H', W'] with ``D' = (depth + 2 * padding - dilation * (kernel_size - 1) - 1) // stride
    + 1``, and so for H' and W'; `ceil_mode` rounds up instead, and adds windows that reach over the end. `kernel_size`,
    `stride` (default: the kernel's size), `padding` (0, at most half the kernel; filled with -inf) and `dilation` (1)
    are one number for all axes or three. With `return_indices` a call returns ``(output, indices)``: int64 places in
    the flat depth x height x width of the input, for `MaxUnpool3d`. Input and output have one type, all but bool and
    complex. RuntimeError for sizes that do not fit.

    >>> import tracegrad as tg
    >>> tg.nn.MaxPool3d((2, 2, 3))(tg.zeros(1, 2, 4, 4, 6)).shape
    tracegrad.Size([1, 2, 2, 2, 2])
    """

    function = F.max_pool3d


class MaxUnpool1d(_MaxUnpool):
    """Maxima back at the places that a `MaxPool1d` with `return_indices` took them from; all else is 0.

    Called with the maxima and their indices (int64), both [batch, channels, n] or without batch; output [batch,
    channels, L'] with ``L' = (n - 1) * stride - 2 * padding + kernel_size``. Where several inputs lead to one size of
    maxima, `output_size` says which it was (ValueError for a size that is none of them). `kernel_size`, `stride`
    (default: the kernel's size) and `padding` (0) are those of the pooling layer. RuntimeError for indices outside of
    the output.

    >>> import tracegrad as tg
    >>> values, indices = tg.nn.MaxPool1d(2, return_indices=True)(tg.arange(4.0).reshape(1, 4))
    >>> tg.nn.MaxUnpool1d(2)(values, indices)
    tensor([[0., 1., 0., 3.]])
    """

    axes, function = 1, F.max_unpool1d


class MaxUnpool2d(_MaxUnpool):
    """Maxima back at the places that a `MaxPool2d` with `return_indices` took them from; all else is 0.

    Called with the maxima and their indices (int64), both [batch, channels, n, m] or without batch; output [batch,
    channels, H', W'] with ``H' = (n - 1) * stride - 2 * padding + kernel_size``, and so for W'. Where several inputs
    lead to one size of maxima, `output_size` says which it was (ValueError for a size that is none of them).
    `kernel_size`, `stride` (default: the kernel's size) and `padding` (0) are those of the pooling layer. RuntimeError
    for indices outside of the output.

    >>> import tracegrad as tg
    >>> values, indices = tg.nn.MaxPool2d(2, return_indices=True)(tg.arange(8.0).reshape(1, 2, 4))
    >>> tg.nn.MaxUnpool2d(2)(values, indices)
    tensor([[[0., 0., 0., 0.],
             [0., 5., 0., 7.]]])
    """

    axes, function = 2, F.max_unpool2d


class MaxUnpool3d(_MaxUnpool):
    """Maxima back at the places that a `MaxPool3d` with `return_indices` took them from; all else is 0.

    Called with the maxima and their indices (int64), both [batch, channels, n, m, k] or without batch; output [batch,
    channels, D', H', W'] with ``D' = (n - 1) * stride - 2 * padding + kernel_size``, and so for H' and W'. Where
    several inputs lead to one size of maxima, `output_size` says which it was (ValueError for a size that is none of
    them). `kernel_size`, `stride` (default: the kernel's size) and `padding` (0) are those of the pooling layer.
    RuntimeError for indices outside of the output.

    >>> import tracegrad as tg
    >>> values, indices = tg.nn.MaxPool3d(2, return_indices=True)(tg.arange(16.0).reshape(1, 2, 2, 4))
    >>> tg.nn.MaxUnpool3d(2)(values, indices).shape
    tracegrad.Size([1, 2, 2, 4])
    """

    axes, function = 3, F.max_unpool3d
