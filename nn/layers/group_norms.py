"""Normalising layers besides batch and layer norm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...functional.normalizing.local_response import cross_map_lrn
from ...tape.grad_mode import no_grad
from ...tensors.creation import empty
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_user
from .. import functional as F
from ..module import Module
from ..normalization import BatchNorm, NormBase, reset_affine
from ..parameter import Parameter
from ..rollback import default

if TYPE_CHECKING:
    from ...devices.distributed.groups import ProcessGroup
    from ...ops.types import DType
    from ...tensors.calling.annotations import DeviceLike


class GroupNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` with mean and variance over each of `num_groups` groups of
    channels of each sample (Wu & He 2018). It is the same in training and evaluation.

    Input and output [batch, num_channels, ...], of one floating type. `eps` is 1e-5 unless given. `weight` and `bias`
    [num_channels] start as ones and zeros; both are None with ``affine=False``, the bias with ``bias=False``.
    ValueError for channels that the groups do not divide.

    >>> import tracegrad as tg
    >>> tg.nn.GroupNorm(2, 4)(tg.tensor([[1.0, 3.0, 0.0, 8.0]])).detach()
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """

    weight: Tensor  # these are None where there are none: see `Linear.bias`
    bias: Tensor

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            made = Parameter(empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Scale by 1, shift by 0."""
        reset_affine(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class InstanceNorm(NormBase):
    """Each channel of each sample with mean 0 and variance 1 over its space; by default neither scaled nor tracked.

    With `track_running_stats` the means of the samples' statistics are followed, and used in evaluation.
    """

    axes = 0  # with batch and channels

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        if input.ndim < self.axes:
            return self._normalized(input.unsqueeze(0)).squeeze(0)
        return self._normalized(input)

    def _normalized(self, input: Tensor) -> Tensor:
        of_batch = self.training or not self.track_running_stats
        momentum = 0.0 if self.momentum is None else self.momentum
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, of_batch, momentum, self.eps
        )

    def _check(self, input: Tensor) -> None:
        if input.ndim not in (self.axes - 1, self.axes):
            raise ValueError(f"expected {self.axes - 1}D or {self.axes}D input (got {input.ndim}D input)")
        dim = input.ndim - self.axes + 1
        if input.shape[dim] == self.num_features:
            return
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: "
                f"{input.shape[dim]}."
            )
        warn_user(
            f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing in "
            "num_features, which is not used because affine=False"
        )

    @default
    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Statistics in a state without a version, which this layer does not track, are an error of their own."""
        if local_metadata.get("version") is None and not self.track_running_stats:
            keys = [key for key in (f"{prefix}running_mean", f"{prefix}running_var") if key in state_dict]
            if keys:
                error_msgs.append(_old_statistics(keys, type(self).__name__))
            for key in keys:
                del state_dict[key]
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


def _old_statistics(keys: list[str], layer: str) -> str:
    names = " and ".join(f'"{key}"' for key in keys)
    return (
        f"Unexpected running stats buffer(s) {names} for {layer} with track_running_stats=False. If state_dict is a "
        f"checkpoint saved before 0.4.0, this may be expected because {layer} does not track running stats by default "
        "since 0.4.0. Please remove these keys from state_dict. If the running stats are actually needed, instead set "
        f"track_running_stats=True in {layer} to enable them. See the documentation of {layer} for details."
    )


class InstanceNorm1d(InstanceNorm):
    """``(x - mean) / sqrt(var + eps)`` with mean and variance of each channel of each sample over its length (Ulyanov
    et al. 2016).

    Input and output [batch, num_features, length], or without batch, of one floating type. With `affine` (default
    False) there are `weight` and `bias` [num_features], ones and zeros at first; with `track_running_stats` (default
    False) `running_mean` and `running_var` follow the samples' averages by `momentum` (0.1) in training and are used in
    evaluation. ValueError for other axes and for one value per channel in training.

    >>> import tracegrad as tg
    >>> tg.nn.InstanceNorm1d(1)(tg.tensor([[[1.0, 3.0]], [[5.0, 9.0]]]))
    tensor([[[-1.0000,  1.0000]],
    <BLANKLINE>
            [[-1.0000,  1.0000]]])
    """

    axes = 3


class InstanceNorm2d(InstanceNorm):
    """``(x - mean) / sqrt(var + eps)`` with mean and variance of each channel of each sample over height and width.

    Input and output [batch, num_features, height, width], or without batch, of one floating type (ValueError for other
    axes). Options, parameters and running statistics are those of `InstanceNorm1d`.

    >>> import tracegrad as tg
    >>> out = tg.nn.InstanceNorm2d(3)(tg.randn(2, 3, 4, 4))
    >>> bool((out.mean((2, 3)).abs() < 1e-5).all())
    True
    """

    axes = 4


class InstanceNorm3d(InstanceNorm):
    """``(x - mean) / sqrt(var + eps)`` with mean and variance of each channel of each sample over depth, height and
    width.

    Input and output [batch, num_features, depth, height, width], or without batch, of one floating type (ValueError for
    other axes). Options, parameters and running statistics are those of `InstanceNorm1d`.

    >>> import tracegrad as tg
    >>> tg.nn.InstanceNorm3d(2)(tg.zeros(1, 2, 3, 4, 5)).shape
    tracegrad.Size([1, 2, 3, 4, 5])
    """

    axes = 5


class SyncBatchNorm(BatchNorm):
    """Batch normalisation of [batch, num_features, ...], whose statistics several processes would join; here there is
    one process, and it is what `BatchNorm1d` is for any space.

    Options, parameters and running statistics are those of `BatchNorm1d`; `process_group` is kept and not used.
    ValueError for fewer than two axes.

    >>> import tracegrad as tg
    >>> tg.nn.SyncBatchNorm(3)(tg.zeros(2, 3, 4)).shape
    tracegrad.Size([2, 3, 4])
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: ProcessGroup | None = None,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check(self, input: Tensor) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")
        if input.shape[1] == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: ProcessGroup | None = None) -> Module:
        """`module` with all its batch norms replaced by layers of this class that share their tensors.

        A batch norm itself gives the new layer, any other module itself, changed.

        >>> import tracegrad as tg
        >>> model = tg.nn.Sequential(tg.nn.Linear(2, 3), tg.nn.BatchNorm1d(3))
        >>> tg.nn.SyncBatchNorm.convert_sync_batchnorm(model)[1]
        SyncBatchNorm(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
        """
        made = _converted(module, process_group) if isinstance(module, BatchNorm) else module
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made


def _converted(module: BatchNorm, process_group: ProcessGroup | None) -> SyncBatchNorm:
    made = SyncBatchNorm(
        module.num_features,
        module.eps,
        module.momentum,
        module.affine,
        module.track_running_stats,
        process_group,
        bias=module.bias is not None,
    )
    if module.affine:
        with no_grad():
            made.weight, made.bias = module.weight, module.bias
    made.running_mean, made.running_var = module.running_mean, module.running_var
    made.num_batches_tracked = module.num_batches_tracked
    made.training = module.training
    return made


class LocalResponseNorm(Module):
    """``x / (k + alpha * mean(x ** 2 of neighbours)) ** beta`` over `size` neighbouring channels, with zeros beyond the
    ends (Krizhevsky et al. 2012).

    Input and output [batch, channels, ...], of one floating type. `alpha` is 1e-4, `beta` 0.75 and `k` 1.0 unless
    given. ValueError for fewer than three axes, when it is called.

    >>> import tracegrad as tg
    >>> tg.nn.LocalResponseNorm(2, alpha=1.0, beta=1.0)(tg.ones(1, 3, 1)).flatten()
    tensor([0.6667, 0.5000, 0.5000])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """The older form of `LocalResponseNorm`: of an even `size`, one channel less is summed, and the sum is still
    divided by `size`.

    Input and output [batch, channels, height, width], of one floating type (ValueError for other axes). `alpha` is
    1e-4, `beta` 0.75 and `k` 1 unless given.

    >>> import tracegrad as tg
    >>> tg.nn.CrossMapLRN2d(2, alpha=1.0, beta=1.0)(tg.ones(1, 3, 1, 1)).flatten()
    tensor([0.6667, 0.5000, 0.5000])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.")
        return cross_map_lrn(input, self.size, self.alpha, self.beta, self.k)
