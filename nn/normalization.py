"""Normalising layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..ops.array import eager
from ..ops.types import int64
from ..tape.grad_mode import no_grad
from ..tensors.creation import empty, ones, zeros
from ..tensors.tensor import Tensor
from ..tracing.watch import as_number
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter
from .rollback import default

if TYPE_CHECKING:
    from ..ops.types import DType
    from ..tensors.calling.annotations import DeviceLike


class LayerNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias``, where mean and (biased) variance are taken over the last axes,
    those of `normalized_shape`, of each sample (Ba et al. 2016). It is the same in training and evaluation.

    Input and output [..., *normalized_shape], of one floating type; `normalized_shape` is a number for the last axis,
    or several. `eps` is 1e-5 unless given. `weight` and `bias` have the shape `normalized_shape` and start as ones and
    zeros; both are None with ``elementwise_affine=False``, the bias with ``bias=False``. RuntimeError for an input of
    another shape.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LayerNorm(2)
    >>> layer(tg.tensor([[1.0, 3.0], [5.0, 5.0]])).detach()
    tensor([[-1.0000,  1.0000],
            [ 0.0000,  0.0000]])
    >>> tg.nn.LayerNorm((3, 4))(tg.zeros(2, 3, 4)).shape
    tracegrad.Size([2, 3, 4])
    """

    weight: Tensor  # these are None where there are none: see `Linear.bias`
    bias: Tensor

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            made = Parameter(empty(self.normalized_shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Scale by 1, shift by 0."""
        reset_affine(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"


class RMSNorm(Module):
    """``x / sqrt(mean(x ** 2) + eps) * weight`` over the last axes, those of `normalized_shape` (Zhang & Sennrich
    2019).

    Input and output [..., *normalized_shape], of one floating type; `normalized_shape` is a number for the last axis,
    or several. `eps` None (default) is the machine epsilon of the input's type. `weight` has the shape
    `normalized_shape` and starts as ones; None with ``elementwise_affine=False``. RuntimeError for an input of another
    shape.

    >>> import tracegrad as tg
    >>> tg.nn.RMSNorm(2)(tg.tensor([[3.0, 3.0], [0.0, 4.0]])).detach()
    tensor([[1.0000, 1.0000],
            [0.0000, 1.4142]])
    """

    weight: Tensor  # None where there is none: see `Linear.bias`

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        made = Parameter(ones(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", made)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class NormBase(Module):
    """What batch norms and instance norms keep: scale and shift of each channel, and running statistics."""

    _version = 2  # since `num_batches_tracked` is part of the state
    weight: Tensor  # these are None where there are none: see `Linear.bias`
    bias: Tensor
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        of: dict[str, Any] = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(empty(num_features, **of)) if wanted else None)
        self.register_buffer("running_mean", zeros(num_features, **of) if track_running_stats else None)
        self.register_buffer("running_var", ones(num_features, **of) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", zeros((), dtype=int64) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget all batches: mean 0, variance 1; nothing while none are counted (``track_running_stats=False``)."""
        if not self.track_running_stats:
            return
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Forget all batches; scale by 1, shift by 0."""
        self.reset_running_stats()
        reset_affine(self.weight, self.bias)

    @default
    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        """A state of before version 2 counts no batches."""
        key, version = f"{prefix}num_batches_tracked", local_metadata.get("version")
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            counted = self.num_batches_tracked
            state_dict[key] = zeros((), dtype=int64) if counted is None else counted
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm(NormBase):
    """Each channel (axis 1) with mean 0 and variance 1 over the batch, then scaled and shifted.

    In training the running statistics follow the batch's with `momentum`, or are their plain average with
    ``momentum=None``; in evaluation they are used, unless ``track_running_stats=False``.
    """

    axes: tuple[int, ...] = ()

    def _count_batch(self) -> Any:
        """Count the batch, if that is done; returns the weight of its statistics in the running ones."""
        momentum = self.momentum
        counted = self.num_batches_tracked if self.training and self.track_running_stats else None
        if counted is None:
            return 0.0 if momentum is None else momentum
        with no_grad():
            eager().write(counted, counted + 1)
        return 1.0 / as_number(counted) if momentum is None else momentum

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        momentum = self._count_batch()
        running = (self.running_mean, self.running_var)
        of_batch = self.training or running[0] is None
        kept = running if not of_batch or self.track_running_stats else (None, None)
        return F.batch_norm(input, *kept, self.weight, self.bias, of_batch, momentum, self.eps)

    def _check(self, input: Tensor) -> None:
        if input.ndim not in self.axes:
            expected = " or ".join(f"{n}D" for n in self.axes)
            raise ValueError(f"expected {expected} input (got {input.ndim}D input)")
        running_mean = self.running_mean
        kept = self.weight if running_mean is None else running_mean
        if kept is not None and input.ndarray.shape[1] != kept.ndarray.shape[0]:
            name = "weight" if running_mean is None else "running_mean"
            raise RuntimeError(
                f"{name} should contain {input.shape[1]} elements not {kept.shape[0]}: "
                f"the input has {input.shape[1]} channels on axis 1, the layer is for {kept.shape[0]}"
            )


class BatchNorm1d(BatchNorm):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` with mean and variance of each channel over the batch (Ioffe &
    Szegedy 2015).

    Input and output [batch, num_features] or [batch, num_features, length], of one floating type (ValueError for other
    axes). In training the batch's mean and biased variance are used, and `running_mean` and `running_var` (of the
    unbiased variance; they start as zeros and ones) move towards them by `momentum` (default 0.1; None: their plain
    average); in evaluation the running ones are used, or the batch's with ``track_running_stats=False``. `weight` and
    `bias` [num_features] start as ones and zeros; None with ``affine=False``. ValueError for one value per channel in
    training.

    >>> import tracegrad as tg
    >>> layer = tg.nn.BatchNorm1d(2)
    >>> layer(tg.tensor([[1.0, 4.0], [3.0, 8.0]])).detach()
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    >>> layer.running_mean.tolist(), int(layer.num_batches_tracked)
    ([0.20000000298023224, 0.6000000238418579], 1)
    """

    axes = (2, 3)


class BatchNorm2d(BatchNorm):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` with mean and variance of each channel over batch, height and
    width.

    Input and output [batch, num_features, height, width], of one floating type (ValueError for other axes). Options,
    parameters and running statistics are those of `BatchNorm1d`.

    >>> import tracegrad as tg
    >>> layer = tg.nn.BatchNorm2d(3)
    >>> out = layer(tg.randn(4, 3, 5, 5))
    >>> bool((out.mean((0, 2, 3)).abs() < 1e-5).all()), layer.running_var.shape
    (True, tracegrad.Size([3]))
    """

    axes = (4,)


class BatchNorm3d(BatchNorm):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` with mean and variance of each channel over batch, depth, height
    and width.

    Input and output [batch, num_features, depth, height, width], of one floating type (ValueError for other axes).
    Options, parameters and running statistics are those of `BatchNorm1d`.

    >>> import tracegrad as tg
    >>> tg.nn.BatchNorm3d(3)(tg.zeros(2, 3, 4, 5, 6)).shape
    tracegrad.Size([2, 3, 4, 5, 6])
    """

    axes = (5,)


def reset_affine(weight: Tensor | None, bias: Tensor | None) -> None:
    """Scale by 1, shift by 0."""
    if weight is not None:
        init.ones_(weight)
    if bias is not None:
        init.zeros_(bias)
