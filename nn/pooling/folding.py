"""Layers that take images apart into blocks, and add blocks up to images."""

from __future__ import annotations

from ...functional.spatial.sliding import Numbers
from ...tensors.tensor import Tensor
from .. import functional as F
from ..module import Module
from ..option import Option


class Unfold(Module):
    """The sliding blocks of images as columns.

    Input [batch, channels, height, width], or without batch; output [batch, channels * kernel height * kernel width,
    blocks], where blocks is the product over both axes of ``(length + 2 * padding - dilation * (kernel_size - 1) - 1)
    // stride + 1``, in row-major order. `kernel_size`, `dilation` (default 1), `padding` (0, with zeros) and `stride`
    (1) are one number for both axes or two. A matrix product with the columns is a convolution. RuntimeError for sizes
    that do not fit.

    >>> import tracegrad as tg
    >>> tg.nn.Unfold(2)(tg.arange(6.0).reshape(1, 2, 3))
    tensor([[0., 1.],
            [1., 2.],
            [3., 4.],
            [4., 5.]])
    """

    kernel_size, dilation, padding, stride = Option(), Option(), Option(), Option()

    def __init__(self, kernel_size: Numbers, dilation: Numbers = 1, padding: Numbers = 0, stride: Numbers = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Fold(Unfold):
    """Columns added up to images: the sum of what `Unfold` takes apart.

    Input [batch, channels * kernel height * kernel width, blocks], or without batch; output [batch, channels,
    *output_size]. Where blocks overlap their elements are added. `output_size` and the other sizes, which are those of
    `Unfold`, are one number for both axes or two. RuntimeError where the number of blocks does not fit.

    >>> import tracegrad as tg
    >>> columns = tg.nn.Unfold(2)(tg.ones(1, 2, 3))
    >>> tg.nn.Fold((2, 3), 2)(columns)
    tensor([[[1., 2., 1.],
             [1., 2., 1.]]])
    """

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
