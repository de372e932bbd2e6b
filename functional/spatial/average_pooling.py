"""Means and norms of windows over one to three axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...ops import elementary, movement
from ...ops import reductions as folds
from ...ops.arithmetic import abs, maximum, sign
from ...ops.comparison import eq, where
from ...ops.pointwise import cast
from ...ops.sources import full, iota
from ...ops.types import float32, int64
from ...tensors.composite import composite
from ..checks.shapes import check_not_integers
from .sliding import (
    Numbers,
    Shape,
    Sliding,
    adaptive_space,
    counts_of,
    pool_sizes,
    space_of,
    targets_of,
    uniform,
    windows_of,
)


def _members(space: Shape, sliding: Sliding, counts: Shape, with_padding: bool) -> tuple[Shape, ...]:
    """How many elements each window has along each axis."""
    along = zip(space, sliding.kernel, sliding.stride, sliding.padding, counts, strict=True)
    return tuple(
        tuple(_members_at(o * step - low, k, n, low if with_padding else 0) for o in range(count))
        for n, k, step, low, count in along
    )


def _members_at(start: int, kernel: int, extent: int, padding: int) -> int:
    return min(start + kernel, extent + padding) - max(start, -padding)


def _divided(x: Any, members: tuple[Shape, ...]) -> Any:
    """Each window's sum by the number of its elements."""
    if all(len(set(along)) == 1 for along in members):
        return x / math.prod(along[0] for along in members)
    for axis, along in enumerate(members):
        x = x / _row(along, axis, len(members), x.dtype)
    return x


def _row(numbers: Shape, axis: int, axes: int, dtype: Any) -> Any:
    """A few numbers along one of `axes` axes: the usual one, and others where they differ."""
    shape = tuple(len(numbers) if a == axis else 1 for a in range(axes))
    usual = max(set(numbers), key=numbers.count)
    row, place = full(shape, usual, dtype), iota(shape, axis, int64)
    for at, number in enumerate(numbers):
        if number != usual:
            row = where(eq(place, at), full((), number, dtype), row)
    return row


def _average(name: str, input: Any, sliding: Sliding, ceil_mode: bool, with_padding: bool, divisor: Any) -> Any:
    axes = sliding.axes
    space = space_of(name, input, axes)
    check_not_integers("avg_pool2d" if axes == 1 else name, input)
    counts = counts_of(name, space, sliding, input.ndarray.shape[-axes - 1], ceil_mode)
    ndim = input.ndarray.ndim - axes
    total = folds.sum(windows_of(input, sliding, counts), tuple(range(ndim, ndim + axes)))
    if divisor is not None:
        return total / divisor
    return _divided(total, _members(space, sliding, counts, with_padding))


def _avg_pool(axes: int) -> Callable[..., Any]:
    name = f"avg_pool{axes}d"

    @composite("MeanBackward1" if axes == 1 else f"AvgPool{axes}DBackward0", {"input": ("input",)})
    def avg_pool(
        input: Any,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        if divisor_override is not None and axes == 1:
            raise TypeError("avg_pool1d() got an unexpected keyword argument 'divisor_override'")
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        sliding = pool_sizes(name, axes, kernel_size, stride, padding)
        return _average(name, input, sliding, ceil_mode, count_include_pad, divisor_override)

    avg_pool.__name__ = avg_pool.__qualname__ = name
    avg_pool.__doc__ = f"""The mean of each window over the last {axes} axes.

    ``[batch, channels, *space]`` (or without batch) gives ``[batch, channels, *windows]``; the default stride is the
    kernel's size. Padding is zeros that count as elements unless ``count_include_pad=False``; `ceil_mode` keeps a last
    window that is not full; `divisor_override` is divided by instead. RuntimeError for sizes that do not fit.
    """
    return avg_pool


avg_pool1d, avg_pool2d, avg_pool3d = _avg_pool(1), _avg_pool(2), _avg_pool(3)


def _lp_pool(axes: int) -> Callable[..., Any]:
    average = (avg_pool1d, avg_pool2d, avg_pool3d)[axes - 1]

    def lp_pool(
        input: Any, norm_type: float, kernel_size: Numbers, stride: Numbers | None = None, ceil_mode: bool = False
    ) -> Any:
        size = pool_sizes(f"lp_pool{axes}d", axes, kernel_size, stride, 0)
        mean = average(elementary.pow(input, norm_type), kernel_size, stride, 0, ceil_mode)
        positive = sign(mean) * maximum(abs(mean), 0)
        return elementary.pow(positive * math.prod(size.kernel), 1.0 / norm_type)

    lp_pool.__name__ = lp_pool.__qualname__ = f"lp_pool{axes}d"
    lp_pool.__doc__ = f"""The `norm_type`-norm of each window over the last {axes} axes."""
    return lp_pool


lp_pool1d, lp_pool2d, lp_pool3d = _lp_pool(1), _lp_pool(2), _lp_pool(3)


# ------------------------------------------------------------------------------------------------------- adaptive


def _averaging(extent: int, windows: int, dtype: Any) -> Any:
    """A matrix [extent, windows] whose columns average the places of a window."""
    wide = dtype if dtype.is_floating_point else float32
    place, number = iota((extent, windows), 0, int64), iota((extent, windows), 1, int64)
    inside = cast((place * windows < (number + 1) * extent) & ((place + 1) * windows > number * extent), wide)
    return inside / folds.sum(inside, (0,))


def _adaptive_avg_pool(axes: int) -> Callable[..., Any]:
    name = f"adaptive_avg_pool{axes}d"

    @composite(f"AdaptiveAvgPool{axes}DBackward0", {"input": ("input",)})
    def adaptive_avg_pool(input: Any, output_size: Any) -> Any:
        space = adaptive_space(name, input, axes)
        check_not_integers("adaptive_avg_pool2d" if axes == 1 else name, input)
        targets = targets_of(name, output_size, space)
        sliding = uniform(space, targets)
        ndim = input.ndarray.ndim
        if sliding is not None:
            batch = ndim - axes
            total = folds.sum(windows_of(input, sliding, targets), tuple(range(batch, batch + axes)))
            return total / math.prod(sliding.kernel)
        for axis, (extent, windows) in enumerate(zip(space, targets, strict=True), ndim - axes):
            last = movement.transpose(input, (*(a for a in range(ndim) if a != axis), axis))
            mean = last @ _averaging(extent, windows, input.dtype)
            input = movement.transpose(mean, (*range(axis), ndim - 1, *range(axis, ndim - 1)))
        return input.contiguous()

    adaptive_avg_pool.__name__ = adaptive_avg_pool.__qualname__ = name
    adaptive_avg_pool.__doc__ = f"""The means of `output_size` windows that cover the last {axes} axes about evenly.

    A number, or one for each axis (None keeps the axis). RuntimeError for inputs of other shapes.
    """
    return adaptive_avg_pool


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (_adaptive_avg_pool(n) for n in (1, 2, 3))
