"""Reductions in numpy: see `array_forms` for what a form gets and gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ops.reductions import sum_primitive
from .common import Array, Axes, Shapes, Value, Wanted, total


def _folded(x: Array, axes: Axes, keepdim: bool) -> Array:
    return np.asarray(sum_primitive.evaluate_wide(x, axes, keepdims=keepdim))


def _with_axes(g: Array, shape: Axes, axes: Axes) -> Array:
    """A gradient of what was folded over `axes` of `shape`, with these axes as extents of 1."""
    return g.reshape([1 if axis in axes else n for axis, n in enumerate(shape)])


def mean(wanted: Wanted, x: Array, axes: Axes, keepdim: bool) -> Value:
    count = math.prod([x.shape[axis] for axis in axes])
    return _folded(x, axes, keepdim) / x.dtype.type(count), None


def mean_gradient(g: Array, kept: None, shapes: Shapes, x: None, axes: Axes, keepdim: bool) -> tuple[Array]:
    (shape,) = shapes
    assert shape is not None
    count = math.prod([shape[axis] for axis in axes])
    return (np.broadcast_to(_with_axes(g / g.dtype.type(count), shape, axes), shape),)


def spread(wanted: Wanted, x: Array, axes: Axes, keepdim: bool, divisor: float, is_root: bool) -> Value:
    """The mean square distance from the mean, or the root of that. The numbers that `x` deviates by are kept."""
    count = math.prod([x.shape[axis] for axis in axes])
    centred = x - total(x, axes) / x.dtype.type(count)
    value = _folded(centred * centred, axes, keepdim) / x.dtype.type(divisor if divisor > 0 else 0)
    if is_root:
        value = np.sqrt(value)
    return value, (centred, value) if wanted[0] else None


def spread_gradient(
    g: Array, kept: Any, shapes: Shapes, x: None, axes: Axes, keepdim: bool, divisor: float, is_root: bool
) -> tuple[Array]:
    """At a root of 0 the gradient is 0."""
    centred, value = kept
    number = g.dtype.type
    divisor = number(divisor if divisor > 0 else 0)
    if is_root:
        zero = value == 0
        g = np.where(zero, number(0), g / np.where(zero, number(1), value))
    else:
        g = g * number(2)
    return (centred * _with_axes(g / divisor, centred.shape, axes),)


def euclidean(wanted: Wanted, x: Array, axes: Axes, keepdim: bool) -> Value:
    value = np.sqrt(_folded(x * x, axes, keepdim))
    return value, value if wanted[0] else None


def euclidean_gradient(g: Array, value: Array, shapes: Shapes, x: Array, axes: Axes, keepdim: bool) -> tuple[Array]:
    """At a norm of 0 the gradient is 0."""
    number, zero = g.dtype.type, value == 0
    scale = np.where(zero, number(0), g / np.where(zero, number(1), value))
    return (x * _with_axes(scale, x.shape, axes),)
