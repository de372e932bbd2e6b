"""The lazy forms of linear maps and convolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...functional.spatial.sliding import Numbers
from ...tape.grad_mode import no_grad
from ...tensors.tensor import Tensor
from ..convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from ..linear import Linear
from ..parameter import UninitializedParameter
from .mixin import LazyModuleMixin

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.calling.annotations import DeviceLike


class LazyLinear(LazyModuleMixin, Linear):
    """`Linear` whose `in_features` is the length of the last axis of the first input.

    Until then `weight` and `bias` have no shape; the first call gives them their shapes, draws them as `Linear` does,
    and makes the layer a `Linear`.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyLinear(2)
    >>> layer(tg.ones(5, 3)).shape, layer.weight.shape
    (tracegrad.Size([5, 2]), tracegrad.Size([2, 3]))
    """

    cls_to_become = Linear
    weight: Any
    bias: Any

    def __init__(
        self, out_features: int, bias: bool = True, device: DeviceLike | None = None, dtype: DType | None = None
    ) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the weight, then the bias; nothing before the first call."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take `in_features` from the input."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from "
                    f"self.weight: {self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]


# ----------------------------------------------------------------------------------------------------- convolution


class _LazyConvolution(LazyModuleMixin):
    """A convolution whose `in_channels` is the axis of channels of the first input."""

    axes: int
    groups: Any
    in_channels: int
    out_channels: int
    kernel_size: Any
    weight: Any
    bias: Any

    def _leave_open(self, out_channels: int, bias: bool, device: DeviceLike | None, dtype: DType | None) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the weight, then the bias; nothing before the first call."""
        if not self.has_uninitialized_params() and self.in_channels:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take `in_channels` from the input. RuntimeError for other axes, ValueError where groups do not divide it."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._channels_of(input)
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        with no_grad():
            self.weight.materialize((*self._weight_channels(), *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()

    def _weight_channels(self) -> tuple[int, int]:
        return self.out_channels, self.in_channels // self.groups

    def _channels_of(self, input: Tensor) -> int:
        if input.ndim not in (self.axes + 1, self.axes + 2):
            raise RuntimeError(
                f"Expected {self.axes + 1}D (unbatched) or {self.axes + 2}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {input.shape}"
            )
        channels: int = input.shape[-self.axes - 1]
        return channels


class _LazyConv(_LazyConvolution):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Numbers,
        stride: Numbers = 1,
        padding: str | Numbers = 0,
        dilation: Numbers = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._leave_open(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvolution):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Numbers,
        stride: Numbers = 1,
        padding: Numbers = 0,
        output_padding: Numbers = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Numbers = 1,
        padding_mode: str = "zeros",
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._leave_open(out_channels, bias, device, dtype)

    def _weight_channels(self) -> tuple[int, int]:
        return self.in_channels, self.out_channels // self.groups


class LazyConv1d(_LazyConv, Conv1d):
    """`Conv1d` whose `in_channels` is that of the first input, [batch, in_channels, length] or without batch.

    The other arguments are those of `Conv1d`. The first call gives `weight` and `bias` their shapes, draws them, and
    makes the layer a `Conv1d`. RuntimeError for an input of other axes, ValueError for groups that do not divide its
    channels.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyConv1d(4, kernel_size=3)
    >>> layer(tg.zeros(2, 3, 8)).shape, layer.in_channels
    (tracegrad.Size([2, 4, 6]), 3)
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """`Conv2d` whose `in_channels` is that of the first input, [batch, in_channels, height, width] or without batch.

    The other arguments are those of `Conv2d`. The first call gives `weight` and `bias` their shapes, draws them, and
    makes the layer a `Conv2d`. RuntimeError for an input of other axes, ValueError for groups that do not divide its
    channels.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyConv2d(4, kernel_size=3)
    >>> layer(tg.zeros(2, 3, 8, 8)).shape, layer.in_channels
    (tracegrad.Size([2, 4, 6, 6]), 3)
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """`Conv3d` whose `in_channels` is that of the first input, [batch, in_channels, depth, height, width] or without
    batch.

    The other arguments are those of `Conv3d`. The first call gives `weight` and `bias` their shapes, draws them, and
    makes the layer a `Conv3d`. RuntimeError for an input of other axes, ValueError for groups that do not divide its
    channels.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyConv3d(4, kernel_size=2)
    >>> layer(tg.zeros(1, 3, 4, 4, 4)).shape, layer.in_channels
    (tracegrad.Size([1, 4, 3, 3, 3]), 3)
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """`ConvTranspose1d` whose `in_channels` is that of the first input, [batch, in_channels, length] or without batch.

    The other arguments are those of `ConvTranspose1d`. The first call gives `weight` and `bias` their shapes, draws
    them, and makes the layer a `ConvTranspose1d`. RuntimeError for an input of other axes, ValueError for groups that
    do not divide its channels.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyConvTranspose1d(4, kernel_size=3)
    >>> layer(tg.zeros(2, 3, 8)).shape, layer.in_channels
    (tracegrad.Size([2, 4, 10]), 3)
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """`ConvTranspose2d` whose `in_channels` is that of the first input, [batch, in_channels, height, width] or without
    batch.

    The other arguments are those of `ConvTranspose2d`. The first call gives `weight` and `bias` their shapes, draws
    them, and makes the layer a `ConvTranspose2d`. RuntimeError for an input of other axes, ValueError for groups that
    do not divide its channels.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyConvTranspose2d(4, kernel_size=3)
    >>> layer(tg.zeros(2, 3, 8, 8)).shape, layer.in_channels
    (tracegrad.Size([2, 4, 10, 10]), 3)
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """`ConvTranspose3d` whose `in_channels` is that of the first input, [batch, in_channels, depth, height, width] or
    without batch.

    The other arguments are those of `ConvTranspose3d`. The first call gives `weight` and `bias` their shapes, draws
    them, and makes the layer a `ConvTranspose3d`. RuntimeError for an input of other axes, ValueError for groups that
    do not divide its channels.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyConvTranspose3d(4, kernel_size=2)
    >>> layer(tg.zeros(1, 3, 4, 4, 4)).shape, layer.in_channels
    (tracegrad.Size([1, 4, 5, 5, 5]), 3)
    """

    cls_to_become = ConvTranspose3d
