"""Reductions in numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...ops.reductions import sum_primitive
from .common import Array, Axes, Shapes, Value, Wanted, require_rows, total


def _folded(x: Array, axes: Axes, keepdim: bool) -> Array:
    return np.asarray(sum_primitive.evaluate_wide(x, axes, keepdims=keepdim))


def _with_axes(g: Array, shape: Axes, axes: Axes) -> Array:
    """A gradient of what was folded over `axes` of `shape`, with these axes as extents of 1."""
    return g.reshape([1 if axis in axes else n for axis, n in enumerate(shape)])


def mean(wanted: Wanted, x: Array, axes: Axes, keepdim: bool, shape: Axes) -> Value:
    require_rows(x)
    count = math.prod([x.shape[axis] for axis in axes])
    return _folded(x, axes, keepdim) / x.dtype.type(count), None


def mean_gradient(
    g: Array, kept: None, shapes: Shapes, x: None, axes: Axes, keepdim: bool, shape: Axes
) -> tuple[Array]:
    count = math.prod([shape[axis] for axis in axes])
    return (np.broadcast_to(_with_axes(g / g.dtype.type(count), shape, axes), shape),)


def spread(wanted: Wanted, x: Array, axes: Axes, keepdim: bool, divisor: float, is_root: bool) -> Value:
    """The mean square distance from the mean, or the root of that."""
    require_rows(x)
    count = math.prod([x.shape[axis] for axis in axes])
    centred = x - total(x, axes) / x.dtype.type(count)
    value = _folded(centred * centred, axes, keepdim) / x.dtype.type(divisor if divisor > 0 else 0)
    if is_root:
        value = np.sqrt(value)
    return value, (centred, _roots(value) if is_root else None) if wanted[0] else None


def _roots(value: Array) -> tuple[Array, Array]:
    """Where roots are 0, and themselves where they are not, in memory of its own: programs may write to `value`."""
    zero = value == 0
    return zero, np.where(zero, value.dtype.type(1), value)


def _by_roots(g: Array, roots: tuple[Array, Array]) -> Array:
    """`g` divided by roots; 0 where they are 0."""
    zero, divisor = roots
    return np.where(zero, g.dtype.type(0), g / divisor)


def spread_gradient(
    g: Array, kept: Any, shapes: Shapes, x: None, axes: Axes, keepdim: bool, divisor: float, is_root: bool
) -> tuple[Array]:
    centred, roots = kept
    scale = _by_roots(g, roots) if is_root else g * g.dtype.type(2)
    scale = scale / g.dtype.type(divisor if divisor > 0 else 0)
    return (centred * _with_axes(scale, centred.shape, axes),)


def euclidean(wanted: Wanted, x: Array, axes: Axes, keepdim: bool) -> Value:
    require_rows(x)
    value = np.sqrt(_folded(x * x, axes, keepdim))
    return value, _roots(value) if wanted[0] else None


def euclidean_gradient(g: Array, roots: Any, shapes: Shapes, x: Array, axes: Axes, keepdim: bool) -> tuple[Array]:
    return (x * _with_axes(_by_roots(g, roots), x.shape, axes),)
