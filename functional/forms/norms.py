"""Norms of layers in numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .common import Array, Axes, Shapes, Value, Wanted, summed_to, total


def layer_norm(
    wanted: Wanted, x: Array, weight: Array | None, bias: Array | None, axes: Axes, eps: float
) -> tuple[Array, Any]:
    centred, scale, _, _ = _centred(x, axes, eps)
    value = centred * scale
    if weight is not None:
        value *= weight
    if bias is not None:
        value += bias
    return value, (centred, scale) if wanted[0] or wanted[1] else None


def _centred(x: Array, axes: Axes, eps: float) -> tuple[Array, Array, Array, Array]:
    """`x` without its mean, the reciprocal of its deviation, and its mean and variance over `axes`."""
    count = math.prod([x.shape[axis] for axis in axes])
    mean = total(x, axes)
    mean /= count
    centred = x - mean
    var = total(centred * centred, axes)
    var /= count
    scale = var + float(eps)
    np.sqrt(scale, out=scale)
    return centred, np.reciprocal(scale, out=scale), mean, var


def layer_norm_gradient(
    g: Array, kept: Any, shapes: Shapes, x: None, weight: Array | None, bias: None, axes: Axes, eps: float
) -> tuple[Any, Any, Any]:
    of_x, of_weight, of_bias = shapes
    to_weight = None if of_weight is None else summed_to(g * (kept[0] * kept[1]), of_weight)
    to_x = None if of_x is None else _through_norm(g if weight is None else g * weight, kept[0], kept[1], axes)
    return to_x, to_weight, None if of_bias is None else summed_to(g, of_bias)


def _through_norm(g: Array, centred: Array, scale: Array, axes: Axes) -> Array:
    """The gradient of x from that of ``centred * scale``, in the primitives' order."""
    count = g.dtype.type(math.prod([g.shape[axis] for axis in axes]))
    to_centred = g * scale
    to_scale = total(g * centred, axes) * (scale * scale * scale * g.dtype.type(-0.5))
    half = centred * (to_scale / count)
    to_centred += half
    to_centred += half
    to_centred -= total(to_centred, axes) / count
    return to_centred


def channel_norm(
    wanted: Wanted, x: Array, weight: Array | None, bias: Array | None, axes: Axes, along: Axes, eps: float
) -> tuple[tuple[Array, Array, Array], Any]:
    """A batch norm by the batch's own statistics, which are given as well, in the shape `along`."""
    centred, scale, mean, var = _centred(x, axes, eps)
    value = _scaled_and_shifted(centred * scale, weight, bias, along)
    return (value, mean, var), (centred, scale) if wanted[0] or wanted[1] else None


def channel_norm_gradient(
    g: Array, kept: Any, shapes: Shapes, x: None, weight: Array | None, bias: None, axes: Axes, along: Axes, eps: float
) -> tuple[Any, Any, Any]:
    of_x, of_weight, of_bias = shapes
    to_weight = None if of_weight is None else total(g * (kept[0] * kept[1]), axes).reshape(of_weight)
    scaled = g if weight is None else g * weight.reshape(along)
    to_x = None if of_x is None else _through_norm(scaled, kept[0], kept[1], axes)
    return to_x, to_weight, None if of_bias is None else total(g, axes).reshape(of_bias)


def moved_towards(running: Array, value: Array, momentum: float, share: float) -> Array:
    """Running statistics, of which `momentum` is replaced by that `share` of new ones."""
    moved = running * (1 - momentum)
    moved += value.reshape(running.shape) * share
    return moved


def channel_norm_by(
    wanted: Wanted, x: Array, weight: Array | None, bias: Array | None, mean: Any, var: Any, along: Axes, eps: float
) -> Value:
    """A batch norm by statistics that are given."""
    scale = 1 / np.sqrt(var.ndarray.reshape(along) + x.dtype.type(eps))
    normal = x - mean.ndarray.reshape(along)
    normal *= scale
    kept = (normal, scale) if wanted[0] or wanted[1] else None
    return _scaled_and_shifted(normal if kept is None else normal.copy(), weight, bias, along), kept


def channel_norm_by_gradient(
    g: Array, kept: Any, shapes: Shapes, x: None, weight: Any, bias: None, mean: Any, var: Any, along: Axes, eps: float
) -> tuple[Any, Any, Any]:
    of_x, of_weight, of_bias = shapes
    axes = tuple([axis for axis in range(g.ndim) if axis != 1])
    to_x = to_weight = None
    if of_weight is not None:
        to_weight = total(g * kept[0], axes).reshape(of_weight)
    if of_x is not None:
        to_x = (g if weight is None else g * weight.reshape(along)) * kept[1]
    return to_x, to_weight, None if of_bias is None else total(g, axes).reshape(of_bias)


def _scaled_and_shifted(normal: Array, weight: Array | None, bias: Array | None, along: Axes) -> Array:
    """In the memory of `normal`."""
    if weight is not None:
        normal *= weight.reshape(along)
    if bias is not None:
        normal += bias.reshape(along)
    return normal
