"""Convolution layers, over one to three axes and transposed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..functional.spatial.sliding import Numbers, Shape, per_axis
from ..tensors.creation import empty
from ..tensors.tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .option import Option
from .parameter import Parameter

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

    def _make(self, weight: Shape, bias: bool, device: Any, dtype: Any) -> None:
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
        device: Any = None,
        dtype: Any = None,
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
        device: Any = None,
        dtype: Any = None,
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
    """A kernel slides over [batch, in_channels, length]; see ``nn.functional.conv1d``."""

    axes, function = 1, F.conv1d


class Conv2d(_Conv):
    """A kernel slides over [batch, in_channels, height, width]; see ``nn.functional.conv2d``."""

    axes, function = 2, F.conv2d


class Conv3d(_Conv):
    """A kernel slides over [batch, in_channels, depth, height, width]; see ``nn.functional.conv3d``."""

    axes, function = 3, F.conv3d


class ConvTranspose1d(_ConvTranspose):
    """Each element of [batch, in_channels, length] spreads a kernel; see ``nn.functional.conv_transpose1d``."""

    axes, function = 1, F.conv_transpose1d


class ConvTranspose2d(_ConvTranspose):
    """Each element of [batch, in_channels, height, width] spreads a kernel; see ``nn.functional.conv_transpose2d``."""

    axes, function = 2, F.conv_transpose2d


class ConvTranspose3d(_ConvTranspose):
    """Each element of [batch, in_channels, depth, height, width] spreads a kernel."""

    axes, function = 3, F.conv_transpose3d
