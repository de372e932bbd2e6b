"""The lazy forms of batch and instance norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops.types import int64
from ...tape.grad_mode import no_grad
from ...tensors.creation import zeros
from ...tensors.tensor import Tensor
from ..layers.group_norms import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from ..normalization import BatchNorm1d, BatchNorm2d, BatchNorm3d
from ..parameter import UninitializedBuffer, UninitializedParameter
from .mixin import LazyModuleMixin

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.calling.annotations import DeviceLike


class _LazyNorm(LazyModuleMixin):
    """A norm whose `num_features` is axis 1 of the first input."""

    num_features: int
    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        of: dict[str, Any] = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**of)
            if bias:
                self.bias = UninitializedParameter(**of)
        if track_running_stats:
            self.running_mean, self.running_var = UninitializedBuffer(**of), UninitializedBuffer(**of)
            self.num_batches_tracked = zeros((), dtype=int64)

    def reset_parameters(self) -> None:
        """Scale by 1, shift by 0, forget all batches; nothing before the first call."""
        if not self.has_uninitialized_params() and self.num_features:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor) -> None:
        """Take `num_features` from axis 1 of the input."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            with no_grad():
                for tensor in (self.weight, self.bias, self.running_mean, self.running_var):
                    if tensor is not None:
                        tensor.materialize((self.num_features,))
                self.reset_parameters()


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """`BatchNorm1d` whose `num_features` is axis 1 of the first input, [batch, num_features] or [batch, num_features,
    length].

    The other arguments are those of `BatchNorm1d`. The first call gives parameters and running statistics their shapes,
    and makes the layer a `BatchNorm1d`.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyBatchNorm1d()
    >>> layer(tg.zeros(2, 3, 8)).shape, layer.num_features
    (tracegrad.Size([2, 3, 8]), 3)
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """`BatchNorm2d` whose `num_features` is axis 1 of the first input, [batch, num_features, height, width].

    The other arguments are those of `BatchNorm2d`. The first call gives parameters and running statistics their shapes,
    and makes the layer a `BatchNorm2d`.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyBatchNorm2d()
    >>> layer(tg.zeros(2, 3, 8, 8)).shape, layer.num_features
    (tracegrad.Size([2, 3, 8, 8]), 3)
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """`BatchNorm3d` whose `num_features` is axis 1 of the first input, [batch, num_features, depth, height, width].

    The other arguments are those of `BatchNorm3d`. The first call gives parameters and running statistics their shapes,
    and makes the layer a `BatchNorm3d`.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyBatchNorm3d()
    >>> layer(tg.zeros(1, 3, 4, 4, 4)).shape, layer.num_features
    (tracegrad.Size([1, 3, 4, 4, 4]), 3)
    """

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """`InstanceNorm1d` whose `num_features` is axis 1 of the first input, [batch, num_features, length].

    The other arguments are those of `InstanceNorm1d`. Differing from it, `affine` and `track_running_stats` are True
    unless given, as in PyTorch. The first call gives parameters and running statistics their shapes, and makes the
    layer a `InstanceNorm1d`.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyInstanceNorm1d()
    >>> layer(tg.zeros(2, 3, 8)).shape, layer.num_features
    (tracegrad.Size([2, 3, 8]), 3)
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """`InstanceNorm2d` whose `num_features` is axis 1 of the first input, [batch, num_features, height, width].

    The other arguments are those of `InstanceNorm2d`. Differing from it, `affine` and `track_running_stats` are True
    unless given, as in PyTorch. The first call gives parameters and running statistics their shapes, and makes the
    layer a `InstanceNorm2d`.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyInstanceNorm2d()
    >>> layer(tg.zeros(2, 3, 8, 8)).shape, layer.num_features
    (tracegrad.Size([2, 3, 8, 8]), 3)
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """`InstanceNorm3d` whose `num_features` is axis 1 of the first input, [batch, num_features, depth, height, width].

    The other arguments are those of `InstanceNorm3d`. Differing from it, `affine` and `track_running_stats` are True
    unless given, as in PyTorch. The first call gives parameters and running statistics their shapes, and makes the
    layer a `InstanceNorm3d`.

    >>> import tracegrad as tg
    >>> layer = tg.nn.LazyInstanceNorm3d()
    >>> layer(tg.zeros(1, 3, 4, 4, 4)).shape, layer.num_features
    (tracegrad.Size([1, 3, 4, 4, 4]), 3)
    """

    cls_to_become = InstanceNorm3d
