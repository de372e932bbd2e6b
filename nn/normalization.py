"""Normalising layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last axes (`normalized_shape`), then scaled and shifted element by element."""

    weight: Tensor | None
    bias: Tensor | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
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
        _reset_affine(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        return f"{self.normalized_shape}, eps={self.eps}, {affine}"


class RMSNorm(Module):
    """Divided by the root of the mean square over the last axes (`normalized_shape`), then scaled."""

    weight: Tensor | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        made = Parameter(ones(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", made)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class _BatchNorm(Module):
    """Each channel (axis 1) with mean 0 and variance 1 over the batch, then scaled and shifted.

    In training the running statistics follow the batch's with `momentum`, or are their plain average with
    ``momentum=None``; in evaluation they are used, unless ``track_running_stats=False``.
    """

    axes: tuple[int, ...] = ()
    weight: Tensor | None
    bias: Tensor | None
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
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        of = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(empty(num_features, **of)) if wanted else None)
        self.register_buffer("running_mean", zeros(num_features, **of) if track_running_stats else None)
        self.register_buffer("running_var", ones(num_features, **of) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", zeros((), dtype=int64) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget all batches: mean 0, variance 1."""
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Forget all batches; scale by 1, shift by 0."""
        self.reset_running_stats()
        _reset_affine(self.weight, self.bias)

    def _count_batch(self) -> Any:
        """Count the batch, if that is done; returns the weight of its statistics in the running ones."""
        momentum = self.momentum
        if not (self.training and self.track_running_stats) or self.num_batches_tracked is None:
            return 0.0 if momentum is None else momentum
        with no_grad():
            eager().write(self.num_batches_tracked, self.num_batches_tracked + 1)
        return 1.0 / as_number(self.num_batches_tracked) if momentum is None else momentum

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
        if input.shape[1] != self.num_features:
            raise RuntimeError(
                f"running_mean should contain {input.shape[1]} elements not {self.num_features}: "
                f"the input has {input.shape[1]} channels on axis 1, the layer is for {self.num_features}"
            )

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of [batch, channels] or [batch, channels, length]."""

    axes = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of [batch, channels, height, width]."""

    axes = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of [batch, channels, depth, height, width]."""

    axes = (5,)


def _reset_affine(weight: Tensor | None, bias: Tensor | None) -> None:
    if weight is not None:
        init.ones_(weight)
    if bias is not None:
        init.zeros_(bias)
