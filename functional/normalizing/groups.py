"""Normalisation of each sample by itself: within groups of channels, and of each channel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...ops import elementary, movement
from ...ops import reductions as folds
from ...ops.array import eager
from ...ops.pointwise import cast
from ...tape.grad_mode import no_grad
from ...tensors.calling.kernels import require_floating
from ...tensors.composite import composite, whole
from ...tensors.layouts.kept_formats import KEEPS
from ...tensors.short_floats import rounded_once
from ..checks.derivatives import require_constants
from ..checks.mixed_types import mixed_types
from ..checks.shapes import check_one_type
from ..layers import layer_norm

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

Shape = tuple[int, ...]


def _per_channel(shape: Shape) -> Shape:
    """The shape that lets one number for each channel (axis 1) be broadcast."""
    return (shape[1], *(1,) * (len(shape) - 2))


def _check_groups(shape: Shape, num_groups: int, weight: Any, bias: Any) -> None:
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if shape[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(shape)} and num_groups={num_groups}"
        )
    for name, x in (("weight", weight), ("bias", bias)):
        if x is not None and x.ndarray.shape != (shape[1],):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of "
                f"shape {list(x.shape)} and input of shape {list(shape)}"
            )


def _refuse_single(size: Shape) -> None:
    """ValueError where each mean would be of one number."""
    if size[0] * math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {list(size)}")


@mixed_types
@whole
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Each of `num_groups` groups of channels of each sample with mean 0 and variance 1, then scaled and shifted.

    ``(x - mean) / sqrt(variance + eps) * weight + bias``. `input` is ``[batch, channels, *]``; `weight` and `bias` have
    a number for each channel. RuntimeError for fewer than two axes, for channels that the groups do not divide and for
    other shapes or types, ValueError for one number alone.

    >>> import tracegrad as tg
    >>> tg.nn.functional.group_norm(tg.tensor([[1., 3., 5., 5.]]), 2)
    tensor([[-1.0000,  1.0000,  0.0000,  0.0000]])
    """
    shape = input.ndarray.shape
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if num_groups > 0:
        _refuse_single((shape[0] * shape[1] // num_groups, num_groups, *shape[2:]))
    _check_groups(shape, num_groups, weight, bias)
    check_one_type(input, weight, bias)
    require_floating("GroupNormKernelImpl", input)
    return _grouped(input, weight, bias, num_groups, eps)


#: The input and the weight are kept, whatever is differentiated.
_READ = {"input": ("input", "weight", "bias"), "weight": ("input", "weight", "bias")}


@rounded_once
@composite("NativeGroupNormBackward0", _READ, keeps=KEEPS["group_norm"])
def _grouped(input: Any, weight: Any, bias: Any, num_groups: int, eps: float) -> Any:
    shape = input.ndarray.shape
    if not input.ndarray.size:
        normal = input * 1
    else:
        rows = movement.reshape(input, (shape[0] * num_groups, input.ndarray.size // (shape[0] * num_groups)))
        normal = movement.reshape(layer_norm(rows, rows.ndarray.shape[1:], eps=eps), shape)
    return scaled(normal, weight, bias)


def scaled(normal: Any, weight: Any, bias: Any) -> Any:
    """`normal` scaled and shifted channel by channel."""
    along = _per_channel(normal.ndarray.shape)
    out = normal if weight is None else normal * movement.reshape(weight, along)
    return out if bias is None else out + movement.reshape(bias, along)


# -------------------------------------------------------------------------------------------------------- instances


@mixed_types
@whole
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel of each sample with mean 0 and variance 1 over its space, then scaled and shifted.

    ``(x - mean) / sqrt(variance + eps) * weight + bias``. `input` is ``[batch, channels, *space]``. With
    `use_input_stats` running statistics, if given, move in place by `momentum` towards the mean of the samples' own;
    without, they are used instead. ValueError for a single element of space, RuntimeError for shapes or types that do
    not fit.

    >>> import tracegrad as tg
    >>> tg.nn.functional.instance_norm(tg.tensor([[[1., 3.], [5., 2.]]]))
    tensor([[[-1.0000,  1.0000],
             [ 1.0000, -1.0000]]])
    """
    shape = input.ndarray.shape
    if use_input_stats and math.prod(shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape}")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    _check_statistics(shape, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    check_one_type(input, running_mean, running_var, weight, bias)
    require_constants("native_batch_norm", running_mean=running_mean, running_var=running_var)
    require_floating("batch_norm", input)
    if not use_input_stats:
        return _by_running(input, weight, bias, running_mean, running_var, eps)
    out = _by_instance(input, weight, bias, eps)
    if running_mean is not None or running_var is not None:
        _follow(input, running_mean, running_var, momentum)
    return out


def _check_statistics(shape: Shape, **named: Any) -> None:
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    for name, x in named.items():
        if x is not None and x.ndarray.shape != (shape[1],):
            raise RuntimeError(f"{name} should contain {shape[1]} elements not {x.ndarray.size}")


@composite("NativeBatchNormBackward0", _READ)
def _by_instance(input: Any, weight: Any, bias: Any, eps: float) -> Any:
    shape = input.ndarray.shape
    if not input.ndarray.size:
        return scaled(input * 1, weight, bias)
    rows = movement.reshape(input, (shape[0] * shape[1], math.prod(shape[2:])))
    normal = layer_norm(rows, rows.ndarray.shape[1:], eps=eps)
    return scaled(movement.reshape(normal, shape), weight, bias)


@composite("NativeBatchNormBackward0", _READ)
def _by_running(input: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float) -> Any:
    along = _per_channel(input.ndarray.shape)
    normal = (input - movement.reshape(mean, along)) * elementary.rsqrt(movement.reshape(var, along) + eps)
    return scaled(normal, weight, bias)


def _follow(input: Any, running_mean: Any, running_var: Any, momentum: float) -> None:
    """Move running statistics towards the means over the batch of the samples' means and unbiased variances."""
    shape = input.ndarray.shape
    count = math.prod(shape[2:])
    with no_grad():
        rows = movement.reshape(input.detach(), (*shape[:2], count))
        mean = folds.sum(rows, (2,)) / count
        centred = rows - movement.reshape(mean, (*shape[:2], 1))
        var = folds.sum(centred * centred, (2,)) / (count - 1)
        for running, value in ((running_mean, mean), (running_var, var)):
            if running is not None:
                moved = running * (1 - momentum) + folds.sum(value, (0,)) / shape[0] * momentum
                eager().write(running, moved if moved.dtype is running.dtype else cast(moved, running.dtype))
