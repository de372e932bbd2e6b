"""Batch normalisation as a function: the batch's statistics, or running ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..functional.checks.derivatives import require_constants
from ..functional.checks.mixed_types import mixed_types
from ..functional.checks.shapes import check_one_type, check_per_channel
from ..functional.forms import norms as forms
from ..ops.arithmetic import add, mul
from ..ops.array import eager, quietly
from ..ops.core import at_once
from ..ops.elementary import rsqrt
from ..ops.movement import reshape, slice
from ..ops.pointwise import cast
from ..ops.reductions import sum as total
from ..tape.direct import FLOAT32, FLOAT64
from ..tape.grad_mode import no_grad
from ..tape.saved import packing
from ..tensors.calling.kernels import require_floating
from ..tensors.composite import composite
from ..tensors.fusion import fused
from ..tensors.layouts.kept_formats import keeps_format

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

_TITLE = "NativeBatchNormBackward0"


@mixed_types
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias`` with mean and variance of each channel, axis 1 (Ioffe & Szegedy
    2015).

    Input and output [batch, channels, ...], of one floating type; the other tensors are [channels] or None. With
    `training` (default False) the statistics are the batch's (biased variance), and the running ones move towards them
    in place by `momentum` (default 0.1; the variance as the unbiased one); otherwise the running ones are used. `eps`
    is 1e-5 unless given.

    ValueError for a single value per channel in training, RuntimeError for tensors that do not fit the channels.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[1.0, 4.0], [3.0, 8.0]])
    >>> tg.nn.functional.batch_norm(x, None, None, training=True)
    tensor([[-1.0000, -1.0000],
            [ 1.0000,  1.0000]])
    >>> tg.nn.functional.batch_norm(x, tg.zeros(2), tg.full((2,), 4.0), eps=0.0)
    tensor([[0.5000, 2.0000],
            [1.5000, 4.0000]])
    """
    _check_eps(eps, training)
    require_floating("batch_norm", input)
    check_one_type(input, running_mean, running_var, weight, bias)
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    check_per_channel(input, training, named)
    require_constants("native_batch_norm", running_mean=running_mean, running_var=running_var)
    shape = input.ndarray.shape
    if not input.ndarray.size:
        return _of_nothing(input, weight, bias)
    axes = (0, *range(2, len(shape)))
    along = (1, *shape[1:2], *(1,) * (len(shape) - 2))
    if training:
        count = input.ndarray.size // shape[1]
        if count == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
        running = running_mean, running_var, momentum, count / max(count - 1, 1)
        if packing.hooks:  # which may end the call where the last tensor is saved: the running ones move before
            with no_grad():
                _, mean, var = _by_batch(input.detach(), None, None, axes, along, eps)
                _follow_both(mean, var, *running)
            return _by_batch(input, weight, bias, axes, along, eps)[0]
        out, mean, var = _by_batch(input, weight, bias, axes, along, eps)
        _follow_both(mean, var, *running)
        return out
    return _by_running(input, weight, bias, running_mean, running_var, along, eps)


def torch_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.batch_norm`, which tells shapes and errors, with its arguments in another order.

    >>> import tracegrad as tg
    >>> tg.batch_norm(tg.tensor([[1.0], [3.0]]), None, None, None, None, True, 0.1, 1e-5, False)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    return batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _check_eps(eps: float, training: bool) -> None:
    """ValueError where a variance of zero would be divided by."""
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")


@composite(_TITLE)
def _of_nothing(input: Any, weight: Any, bias: Any) -> Any:
    """An empty batch, by which no statistics move; the parameters' gradients are zeros."""
    out = input * 1
    for x, op in ((weight, mul), (bias, add)):
        out = out if x is None else op(out, slice(x, (0,), (1,), (1,)))
    return out


#: The weight is read where the input's gradient is wanted.
_CHECKED = {1: (0,)}
#: PyTorch keeps the input and the weight, whatever is differentiated.
_WATCHED = {0: (0, 1, 2), 1: (0, 1, 2)}


@keeps_format("batch_norm")
@fused(_TITLE, forms.channel_norm, forms.channel_norm_gradient, 3, _CHECKED, watched=_WATCHED)
def _by_batch(
    input: Any, weight: Any, bias: Any, axes: tuple[int, ...], along: tuple[int, ...], eps: float
) -> tuple[Any, Any, Any]:
    """The value, and the batch's mean and variance."""
    count = math.prod(input.ndarray.shape[axis] for axis in axes)
    mean = reshape(total(input, axes), along) / count
    centred = input - mean
    var = reshape(total(centred * centred, axes), along) / count
    return _scaled(centred * rsqrt(var + eps), weight, bias, along), mean, var


@keeps_format("batch_norm")
@fused(_TITLE, forms.channel_norm_by, forms.channel_norm_by_gradient, 3, _CHECKED, watched=_WATCHED)
def _by_running(input: Any, weight: Any, bias: Any, mean: Any, var: Any, along: tuple[int, ...], eps: float) -> Any:
    centred = input - reshape(mean, along)
    return _scaled(centred * rsqrt(reshape(var, along) + eps), weight, bias, along)


def _scaled(normal: Any, weight: Any, bias: Any, along: tuple[int, ...]) -> Any:
    out = normal if weight is None else normal * reshape(weight, along)
    return out if bias is None else out + reshape(bias, along)


def _follow_both(mean: Any, var: Any, running_mean: Any, running_var: Any, momentum: Any, unbiased: Any) -> None:
    """Move the running statistics towards the batch's; `unbiased` is what makes its variance the unbiased one."""
    _follow(running_mean, mean, momentum, 1.0)
    _follow(running_var, var, momentum, unbiased)


def _follow(running: Any, value: Any, momentum: Any, scale: float) -> None:
    """Move a running statistic by `momentum` towards the batch's (times `scale`)."""
    if running is None:
        return
    dtype, interpreter = running.ndarray.dtype, at_once(running, value)
    if interpreter is not None and (dtype is FLOAT32 or dtype is FLOAT64):
        moved = quietly(forms.moved_towards, running.ndarray, value.ndarray, momentum, momentum * scale)
        interpreter.write(running, interpreter.literal(moved))
        return
    with no_grad():
        new = reshape(value.detach(), running.ndarray.shape)
        moved = running * (1 - momentum) + new * (momentum * scale)
        eager().write(running, moved if moved.dtype is running.dtype else cast(moved, running.dtype))
