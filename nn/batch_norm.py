"""Batch normalisation as a function: the batch's statistics, or running ones."""

from __future__ import annotations

import math
from typing import Any

from ..functional import array_forms
from ..functional.checks.shapes import check_one_type, check_per_channel
from ..ops.array import eager
from ..ops.elementary import rsqrt
from ..ops.movement import reshape
from ..ops.pointwise import cast
from ..ops.reductions import sum as total
from ..tape.grad_mode import no_grad
from ..tensors.fusion import fused
from ..tensors.operands import require_floating

_TITLE = "NativeBatchNormBackward0"


def batch_norm(
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: Any = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel (axis 1) with mean 0 and variance 1, scaled and shifted.

    In training the statistics are the batch's, and the running ones move towards them in place (the variance as the
    unbiased one); otherwise the running ones are used. ValueError for a single value per channel in training.
    """
    require_floating("batch_norm", input)
    check_one_type(input, running_mean, running_var, weight, bias)
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    check_per_channel(input, training, named)
    shape = input.ndarray.shape
    axes = tuple(axis for axis in range(len(shape)) if axis != 1)
    along = tuple(extent if axis == 1 else 1 for axis, extent in enumerate(shape))
    if training:
        count = math.prod(shape[axis] for axis in axes)
        if count == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
        out, mean, var = _by_batch(input, weight, bias, axes, along, eps)
        _follow(running_mean, mean, momentum, 1.0)
        _follow(running_var, var, momentum, count / max(count - 1, 1))
        return out
    return _by_running(input, weight, bias, running_mean, running_var, along, eps)


#: The weight is read where the input's gradient is wanted.
_CHECKED = {1: (0,)}
#: PyTorch keeps the input and the weight, whatever is differentiated.
_WATCHED = {0: (0, 1, 2), 1: (0, 1, 2)}


@fused(_TITLE, array_forms.channel_norm, array_forms.channel_norm_gradient, 3, _CHECKED, watched=_WATCHED)
def _by_batch(
    input: Any, weight: Any, bias: Any, axes: tuple[int, ...], along: tuple[int, ...], eps: float
) -> tuple[Any, Any, Any]:
    """The value, and the batch's mean and variance."""
    count = math.prod(input.ndarray.shape[axis] for axis in axes)
    mean = reshape(total(input, axes), along) / count
    centred = input - mean
    var = reshape(total(centred * centred, axes), along) / count
    return _scaled(centred * rsqrt(var + eps), weight, bias, along), mean, var


@fused(_TITLE, array_forms.channel_norm_by, array_forms.channel_norm_by_gradient, 3, _CHECKED, watched=_WATCHED)
def _by_running(input: Any, weight: Any, bias: Any, mean: Any, var: Any, along: tuple[int, ...], eps: float) -> Any:
    centred = input - reshape(mean, along)
    return _scaled(centred * rsqrt(reshape(var, along) + eps), weight, bias, along)


def _scaled(normal: Any, weight: Any, bias: Any, along: tuple[int, ...]) -> Any:
    out = normal if weight is None else normal * reshape(weight, along)
    return out if bias is None else out + reshape(bias, along)


def _follow(running: Any, value: Any, momentum: Any, scale: float) -> None:
    """Move a running statistic by `momentum` towards the batch's (times `scale`)."""
    if running is None:
        return
    with no_grad():
        new = reshape(value.detach(), running.ndarray.shape)
        moved = running * (1 - momentum) + new * (momentum * scale)
        eager().write(running, moved if moved.dtype is running.dtype else cast(moved, running.dtype))
