"""Layers that resize images, or move elements between channels and space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...functional.spatial.sliding import per_axis
from ...tensors.tensor import Tensor
from .. import functional as F
from ..module import Module


class Upsample(Module):
    """Resizes [batch, channels, length], [batch, channels, height, width] or [batch, channels, depth, height, width] by
    ``nn.functional.interpolate``.

    `size` is the new size of each axis of the space (one number for all, or one for each), or `scale_factor` says by
    how much it grows. `mode` is "nearest" (default), "linear" (length), "bilinear" or "bicubic" (height, width) or
    "trilinear"; `align_corners` lets these keep the corners' values. `recompute_scale_factor` computes with the ratio
    of the rounded sizes instead of the factor given. Input and output have one floating type, or uint8. ValueError for
    neither or both of size and factor, and for `align_corners` with "nearest"; NotImplementedError for a mode that does
    not go with the axes.

    >>> import tracegrad as tg
    >>> tg.nn.Upsample(scale_factor=2)(tg.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    >>> tg.nn.Upsample(size=3, mode="linear", align_corners=True)(tg.tensor([[[1.0, 2.0]]]))
    tensor([[[1.0000, 1.5000, 2.0000]]])
    """

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None  # type: ignore[arg-type]
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        by = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{by}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` with ``mode="nearest"``: each place gets the value of the input's nearest one.

    Input [batch, channels, height, width], output [batch, channels, *size] or axes `scale_factor` times as long, of one
    type; one of the two is given (ValueError).

    >>> import tracegrad as tg
    >>> tg.nn.UpsamplingNearest2d(scale_factor=2)(tg.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.]]]])
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` with ``mode="bilinear", align_corners=True``: places between the input's are interpolated.

    Input [batch, channels, height, width], output [batch, channels, *size] or axes `scale_factor` times as long, of one
    type; one of the two is given (ValueError).

    >>> import tracegrad as tg
    >>> tg.nn.UpsamplingBilinear2d(size=(1, 3))(tg.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(
        self, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """Channels moved into space: [..., channels * r * r, height, width] becomes [..., channels, height * r, width * r]
    (Shi et al. 2016), where r is `upscale_factor`.

    The type stays. RuntimeError for channels that r * r does not divide.

    >>> import tracegrad as tg
    >>> tg.nn.PixelShuffle(2)(tg.arange(4).reshape(1, 4, 1, 1))
    tensor([[[[0, 1],
              [2, 3]]]])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Space moved into channels: [..., channels, height * r, width * r] becomes [..., channels * r * r, height, width],
    where r is `downscale_factor`; the inverse of `PixelShuffle`.

    The type stays. RuntimeError for a height or width that r does not divide.

    >>> import tracegrad as tg
    >>> tg.nn.PixelUnshuffle(2)(tg.arange(4).reshape(1, 1, 2, 2)).flatten()
    tensor([0, 1, 2, 3])
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Channels taken from each of `groups` groups in turn, so that grouped convolutions mix them (Zhang et al. 2018).

    Input and output [batch, channels, ...], of one type; channel ``i * n + j`` of `groups` times n becomes channel ``j
    * groups + i``. RuntimeError for channels that the groups do not divide.

    >>> import tracegrad as tg
    >>> tg.nn.ChannelShuffle(2)(tg.arange(4).reshape(1, 4, 1)).flatten()
    tensor([0, 2, 1, 3])
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"


class Softmax2d(Module):
    """The softmax over the channels at each place of [batch, channels, height, width], or without batch.

    Input and output have one shape and one floating type. ValueError for another number of axes.

    >>> import tracegrad as tg
    >>> tg.nn.Softmax2d()(tg.zeros(1, 4, 1, 2)).tolist()
    [[[[0.25, 0.25]], [[0.25, 0.25]], [[0.25, 0.25]], [[0.25, 0.25]]]]
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3)


# ------------------------------------------------------------------------------------------------------- pooling


class _FractionalMaxPool(Module):
    """The maxima of windows at random places, `output_size` of them, or `output_ratio` times the input's size.

    ValueError unless one of the two is given, and for a ratio outside (0, 1).
    """

    axes = 0
    function: Callable[..., Any]
    _random_samples: Tensor | None

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        output_size: int | Sequence[int] | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = per_axis(kernel_size, self.axes, "kernel_size")
        if self.axes == 3 and min(self.kernel_size) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else per_axis(output_size, self.axes, "output_size")
        if isinstance(output_ratio, (int, float)):
            output_ratio = (output_ratio,) * self.axes
        self.output_ratio = None if output_ratio is None else tuple(output_ratio)
        name = f"FractionalMaxPool{self.axes}d"
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        return type(self).function(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The maxima of windows at random places of [batch, channels, height, width], or without batch (Graham 2014).

    Output [batch, channels, *output_size], of the same floating type; `output_size` is one number for both axes or two,
    or `output_ratio`, between 0 and 1, says it as a part of the input's. Windows have the size `kernel_size`; steps
    between them are drawn at each call, also in evaluation, one number for each axis of each channel of each sample.
    With `return_indices` a call returns ``(output, indices)``, int64. ValueError unless one of the two is given, and
    for a ratio outside (0, 1).

    >>> import tracegrad as tg
    >>> tg.nn.FractionalMaxPool2d(2, output_ratio=0.5)(tg.zeros(1, 3, 8, 6)).shape
    tracegrad.Size([1, 3, 4, 3])
    """

    axes, function = 2, F.fractional_max_pool2d


class FractionalMaxPool3d(_FractionalMaxPool):
    """The maxima of windows at random places of [batch, channels, depth, height, width], or without batch (Graham
    2014).

    Output [batch, channels, *output_size], of the same floating type; `output_size` is one number for all axes or
    three, or `output_ratio`, between 0 and 1, says it as a part of the input's. Windows have the size `kernel_size`;
    steps between them are drawn at each call, also in evaluation, one number for each axis of each channel of each
    sample. With `return_indices` a call returns ``(output, indices)``, int64. ValueError unless one of the two is
    given, and for a ratio outside (0, 1).

    >>> import tracegrad as tg
    >>> tg.nn.FractionalMaxPool3d(2, output_ratio=0.5)(tg.zeros(1, 3, 4, 8, 6)).shape
    tracegrad.Size([1, 3, 2, 4, 3])
    """

    axes, function = 3, F.fractional_max_pool3d
