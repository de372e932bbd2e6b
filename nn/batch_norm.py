"""Batch normalisation as a function: the batch's statistics, or running ones."""

from __future__ import annotations

import math
from typing import Any

from ..ops.array import eager
from ..ops.elementary import rsqrt
from ..ops.movement import reshape
from ..ops.pointwise import cast
from ..ops.reductions import sum as total
from ..tape.grad_mode import no_grad
from ..tensors.composite import composite


@composite("NativeBatchNormBackward0")
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
    _require_one_type(input, running_mean, running_var, weight, bias)
    shape = input.ndarray.shape
    axes = tuple(axis for axis in range(len(shape)) if axis != 1)
    along = tuple(extent if axis == 1 else 1 for axis, extent in enumerate(shape))
    if training:
        count = math.prod(shape[axis] for axis in axes)
        if count == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
        mean = reshape(total(input, axes), along) / count
        centred = input - mean
        var = reshape(total(centred * centred, axes), along) / count
        _follow(running_mean, mean, momentum, 1.0)
        _follow(running_var, var, momentum, count / max(count - 1, 1))
    else:
        centred, var = input - reshape(running_mean, along), reshape(running_var, along)
    out = centred * rsqrt(var + eps)
    out = out if weight is None else out * reshape(weight, along)
    return out if bias is None else out + reshape(bias, along)


def _require_one_type(input: Any, *others: Any) -> None:
    for x in others:
        if x is not None and x.dtype is not input.dtype:
            raise RuntimeError(f"mixed dtype (CPU): expect parameter to have scalar type of {input.dtype!r}; use .to()")


def _follow(running: Any, value: Any, momentum: Any, scale: float) -> None:
    """Move a running statistic by `momentum` towards the batch's (times `scale`)."""
    if running is None:
        return
    with no_grad():
        new = reshape(value.detach(), running.ndarray.shape)
        moved = running * (1 - momentum) + new * (momentum * scale)
        eager().write(running, moved if moved.dtype is running.dtype else cast(moved, running.dtype))
