"""Convolution layers, over one to three axes and transposed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..functional.spatial.sliding import Numbers, Shape, per_axis
from ..tensors.creation import empty
from ..tensors.tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .option import Option
from .parameter import Parameter

if TYPE_CHECKING:
    from ..ops.types import DType
    from ..tensors.calling.annotations import DeviceLike

_MODES = ("zeros", "reflect", "replicate", "circular")


class _Convolution(Module):
    """What all of them are: a weight, a bias, and how the kernel slides.

    The weight is uniform in ±1 / sqrt(inputs of a result), as is the bias. ValueError for channels that the groups do
    not divide, and for an unknown padding.
    """

    axes = 0
    function: Callable[..., Any]
    stride, padding, dilation, groups = Option(), Option(), Option(), Option()
    output_padding, padding_mode = Option(), Option()
    weight: Tensor
    bias: Tensor | None

    transposed = property(lambda self: False, doc="Whether it is the transposed one.")
    _derived = ("transposed", "_reversed_padding_repeated_twice")

    @property
    def _reversed_padding_repeated_twice(self) -> Any:
        """The padding of each side, from the last axis on."""
        if self.padding == "same" or (self.padding == "valid"):
            sides = [
                d * (k - 1) * (self.padding == "same") for d, k in zip(self.dilation, self.kernel_size, strict=True)
            ]
            return [part for total in sides[::-1] for part in (total // 2, total - total // 2)]
        return tuple(part for part in self.padding[::-1] for _ in range(2))

    def _set(self, in_channels: int, out_channels: int, kernel_size: Numbers, stride: Numbers, padding: str | Numbers,
             dilation: Numbers, groups: int, padding_mode: str, output_padding: Numbers = 0) -> None:  # fmt: skip
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = per_axis(kernel_size, self.axes, "kernel_size")
        self.stride = per_axis(stride, self.axes, "stride")
        self.padding = padding if isinstance(padding, str) else per_axis(padding, self.axes, "padding")
        self.dilation = per_axis(dilation, self.axes, "dilation")
        self.output_padding = per_axis(output_padding, self.axes, "output_padding")
        self.groups, self.padding_mode = groups, padding_mode
        self._require_valid()

    def _require_valid(self) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name in ("in_channels", "out_channels"):
            if getattr(self, name) % self.groups:
                raise ValueError(f"{name} must be divisible by groups")
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {self.padding!r}, should be one of 'same', 'valid'")
            if self.padding == "same" and max(self.stride) > 1:
                raise ValueError("padding='same' is not supported for strided convolutions")
        if self.padding_mode not in _MODES:
            raise ValueError(f"padding_mode must be one of {_MODES}, but got padding_mode={self.padding_mode!r}")

    def _make(self, weight: Shape, bias: bool, device: DeviceLike | None, dtype: DType | None) -> None:
        self.weight = Parameter(empty(*weight, *self.kernel_size, device=device, dtype=dtype))
        made = Parameter(empty(self.out_channels, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weight, then the bias."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            inputs = math.prod(self.weight.shape[1:])
            if inputs:
                init.uniform_(self.bias, -1 / math.sqrt(inputs), 1 / math.sqrt(inputs))

    def extra_repr(self) -> str:
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        usual = {"padding": (0,) * self.axes, "dilation": (1,) * self.axes, "output_padding": (0,) * self.axes}
        parts += [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        parts += [f"groups={self.groups}"] if self.groups != 1 else []
        parts += ["bias=False"] if self.bias is None else []
        parts += [f"padding_mode={self.padding_mode}"] if self.padding_mode != "zeros" else []
        return ", ".join(parts)


class _Conv(_Convolution):
    def __init__(
        self,
        in_channels: int,
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
        super().__init__()
        self._set(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode)
        self._make((out_channels, in_channels // groups), bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._sides(), mode=self.padding_mode), 0
        function = type(self).function
        return function(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def _sides(self) -> list[int]:
        """The padding as ``F.pad`` takes it: before and behind, the last axis first."""
        sides: list[int] = []
        for axis in reversed(range(self.axes)):
            if isinstance(self.padding, str):
                total = (self.kernel_size[axis] - 1) * self.dilation[axis] if self.padding == "same" else 0
                sides += [total // 2, total - total // 2]
            else:
                sides += [self.padding[axis]] * 2
        return sides


class _ConvTranspose(_Convolution):
    transposed = property(lambda self: True, doc="Whether it is the transposed one.")

    def __init__(
        self,
        in_channels: int,
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
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__()
        self._set(in_channels, out_channels, kernel_size, stride, padding, dilation, groups, padding_mode,
                  output_padding)  # fmt: skip
        self._make((in_channels, out_channels // groups), bias, device, dtype)

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        function = type(self).function
        return function(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)

    def _extra(self, input: Tensor, output_size: Sequence[int]) -> Shape:
        """The output padding that gives `output_size`. ValueError for sizes out of reach."""
        if len(output_size) not in (self.axes, input.ndim):
            raise ValueError(
                f"ConvTranspose{self.axes}D: for {input.ndim}D input, output_size must have {self.axes} or "
                f"{input.ndim} elements (got {len(output_size)})"
            )
        wanted, space = tuple(output_size)[-self.axes :], input.shape[-self.axes :]
        along = zip(space, self.stride, self.padding, self.dilation, self.kernel_size, strict=True)
        least = [(n - 1) * step - 2 * low + gap * (k - 1) + 1 for n, step, low, gap, k in along]
        most = [n + step - 1 for n, step in zip(least, self.stride, strict=True)]
        if any(not a <= n <= b for a, n, b in zip(least, wanted, most, strict=True)):
            raise ValueError(
                f"requested an output size of {list(wanted)}, but valid sizes range from {least} to {most} (for an "
                f"input of {list(space)})"
            )
        return tuple(n - a for n, a in zip(wanted, least, strict=True))


class Conv1d(_Conv):
    """The cross-correlation of each sample with `out_channels` kernels: ``nn.functional.conv1d`` with a learned kernel.

    Input [batch, in_channels, length], or without batch; output [batch, out_channels, L'] with ``L' = (length + 2 *
    padding - dilation * (kernel_size - 1) - 1) // stride + 1``. `padding` is a number of places on both sides (default
    0), "valid" (none) or "same" (so that the length stays, with stride 1), filled as `padding_mode` says: "zeros",
    "reflect", "replicate" or "circular". Each of `groups` parts of the output sees one part of the input's channels.

    `weight` [out_channels, in_channels / groups, kernel_size], then `bias` [out_channels] (None with ``bias=False``),
    start uniform in ±1 / sqrt(in_channels / groups * kernel_size). ValueError for groups that do not divide the
    channels and for an unknown padding, RuntimeError for an input of other channels or another type.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Conv1d(3, 8, 5, padding="same")
    >>> layer(tg.zeros(2, 3, 10)).shape, layer.weight.shape
    (tracegrad.Size([2, 8, 10]), tracegrad.Size([8, 3, 5]))
    """

    axes, function = 1, F.conv1d


class Conv2d(_Conv):
    """The cross-correlation of each image with `out_channels` kernels: ``nn.functional.conv2d`` with a learned kernel.

    Input [batch, in_channels, height, width], or without batch; output [batch, out_channels, H', W'] with ``H' =
    (height + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1``, and so for W'. `kernel_size`, `stride`
    (default 1), `padding` (0) and `dilation` (1) are one number for both axes or two; `padding` may also be "valid"
    (none) or "same" (so that the size stays, with stride 1), filled as `padding_mode` says: "zeros", "reflect",
    "replicate" or "circular". Each of `groups` parts of the output sees one part of the input's channels.

    `weight` [out_channels, in_channels / groups, kernel height, kernel width], then `bias` [out_channels] (None with
    ``bias=False``), start uniform in ±1 / sqrt(in_channels / groups * kernel height * kernel width). ValueError for
    groups that do not divide the channels and for an unknown padding, RuntimeError for an input of other channels or
    another type.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Conv2d(3, 8, (3, 5), stride=2, padding=1)
    >>> layer(tg.zeros(2, 3, 9, 9)).shape, layer.weight.shape
    (tracegrad.Size([2, 8, 5, 4]), tracegrad.Size([8, 3, 3, 5]))
    """

    axes, function = 2, F.conv2d


class Conv3d(_Conv):
    """The cross-correlation of each volume with `out_channels` kernels: ``nn.functional.conv3d`` with a learned kernel.

    Input [batch, in_channels, depth, height, width], or without batch; output [batch, out_channels, D', H', W'] with
    ``D' = (depth + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1``, and so for H' and W'.
    `kernel_size`, `stride` (default 1), `padding` (0, or "valid" or "same") and `dilation` (1) are one number for all
    axes or three; `padding_mode` and `groups` are those of `Conv2d`.

    `weight` [out_channels, in_channels / groups, *kernel_size], then `bias` [out_channels] (None with ``bias=False``),
    start uniform in ±1 / sqrt(in_channels / groups * product of kernel_size). ValueError for groups that do not divide
    the channels and for an unknown padding, RuntimeError for an input of other channels or another type.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Conv3d(4, 8, 3, groups=2)
    >>> layer(tg.zeros(1, 4, 5, 6, 7)).shape, layer.weight.shape
    (tracegrad.Size([1, 8, 3, 4, 5]), tracegrad.Size([8, 2, 3, 3, 3]))
    """

    axes, function = 3, F.conv3d


class ConvTranspose1d(_ConvTranspose):
    """Each element spreads a kernel over the output: the derivative of a `Conv1d` with respect to its input, as a
    layer.

    Input [batch, in_channels, length], or without batch; output [batch, out_channels, L'] with ``L' = (length - 1) *
    stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1``. Several lengths lead to one under a
    convolution with a stride: `output_padding` (default 0, below stride or dilation) chooses among them, or ``layer(x,
    output_size=[L'])`` does, for which ValueError says what sizes are possible.

    `weight` [in_channels, out_channels / groups, kernel_size], then `bias` [out_channels] (None with ``bias=False``),
    start uniform in ±1 / sqrt(out_channels / groups * kernel_size). ValueError for groups that do not divide the
    channels and for a `padding_mode` other than "zeros".

    >>> import tracegrad as tg
    >>> layer = tg.nn.ConvTranspose1d(4, 2, 3, stride=2)
    >>> layer(tg.zeros(1, 4, 5)).shape, layer(tg.zeros(1, 4, 5), output_size=[12]).shape
    (tracegrad.Size([1, 2, 11]), tracegrad.Size([1, 2, 12]))
    """

    axes, function = 1, F.conv_transpose1d


class ConvTranspose2d(_ConvTranspose):
    """Each element spreads a kernel over the output: the derivative of a `Conv2d` with respect to its input, as a
    layer.

    Input [batch, in_channels, height, width], or without batch; output [batch, out_channels, H', W'] with ``H' =
    (height - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1``, and so for W'.
    `kernel_size`, `stride` (default 1), `padding` (0), `output_padding` (0, below stride or dilation) and `dilation`
    (1) are one number for both axes or two. In place of `output_padding`, ``layer(x, output_size=[H', W'])`` says the
    size; ValueError for one that is not possible.

    `weight` [in_channels, out_channels / groups, kernel height, kernel width], then `bias` [out_channels] (None with
    ``bias=False``), start uniform in ±1 / sqrt(out_channels / groups * kernel height * kernel width). ValueError for
    groups that do not divide the channels and for a `padding_mode` other than "zeros".

    >>> import tracegrad as tg
    >>> layer = tg.nn.ConvTranspose2d(4, 2, 3, stride=2, padding=1, output_padding=1)
    >>> layer(tg.zeros(1, 4, 5, 6)).shape, layer.weight.shape
    (tracegrad.Size([1, 2, 10, 12]), tracegrad.Size([4, 2, 3, 3]))
    """

    axes, function = 2, F.conv_transpose2d


class ConvTranspose3d(_ConvTranspose):
    """Each element spreads a kernel over the output: the derivative of a `Conv3d` with respect to its input, as a
    layer.

    Input [batch, in_channels, depth, height, width], or without batch; output [batch, out_channels, D', H', W'] with
    ``D' = (depth - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1``, and so for H' and
    W'. Sizes are one number for all axes or three; the options are those of `ConvTranspose2d`.

    `weight` [in_channels, out_channels / groups, *kernel_size], then `bias` [out_channels] (None with ``bias=False``),
    start uniform in ±1 / sqrt(out_channels / groups * product of kernel_size). ValueError for groups that do not divide
    the channels and for a `padding_mode` other than "zeros".

    >>> import tracegrad as tg
    >>> layer = tg.nn.ConvTranspose3d(2, 4, 2, stride=2, bias=False)
    >>> layer(tg.zeros(1, 2, 3, 3, 3)).shape, layer.weight.shape
    (tracegrad.Size([1, 4, 6, 6, 6]), tracegrad.Size([2, 4, 2, 2, 2]))
    """

    axes, function = 3, F.conv_transpose3d
