"""Maxima of windows over one to three axes. The element that a maximum is taken from gets its whole gradient."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ...ops import movement
from ...ops import reductions as folds
from ...ops.arithmetic import maximum, minimum
from ...ops.comparison import eq, isnan, where
from ...ops.division import floor_divide, remainder
from ...ops.indexing import scatter, take
from ...ops.logic import logical_and
from ...ops.sources import full, iota
from ...ops.spatial.pooling import pick, window_argmax
from ...ops.types import bool_, int64
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
)


def _lowest(x: Any) -> float | int:
    if x.dtype.is_floating_point:
        return -math.inf
    return False if x.dtype is bool_ else -(2 ** (8 * x.dtype.itemsize - 1))


def _place_of_maximum(x: Any, axis: int) -> Any:
    """Where along `axis` the largest element stands first, or the last NaN (PyTorch)."""
    place = folds.argmax(x, axis)
    if not x.dtype.is_floating_point:
        return place
    last = folds.amax(where(isnan(x), iota(x.ndarray.shape, axis, int64), full((), -1, int64)), (axis,))
    return where(last < 0, place, last)


def _ravelled(positions: Sequence[Any], shape: Shape) -> Any:
    flat = positions[0]
    for position, extent in zip(positions[1:], shape[1:], strict=True):
        flat = flat * extent + position
    return flat


def _sees_nothing(space: Shape, sliding: Sliding, counts: Shape) -> bool:
    """True where all places of some window lie in the padding: the dilation steps over the whole axis."""
    along = zip(space, counts, sliding.stride, sliding.dilation, sliding.padding, strict=True)
    return any(
        (o * step - low) % gap >= extent
        for extent, count, step, gap, low in along
        for o in range(min(count, -(-low // step)))
    )


def _padded_maxima(x: Any, sliding: Sliding, counts: Shape) -> tuple[Any, Any]:
    """The same with padding that is part of the array. Where a window sees nothing else, its place is cut off to one
    of the space."""
    axes = sliding.axes
    space, low = x.ndarray.shape[x.ndarray.ndim - axes :], sliding.padding
    reach = zip(space, counts, sliding.stride, sliding.span, low, strict=True)
    high = tuple(max((o - 1) * step + span - low - n, 0) for n, o, step, span, low in reach)
    none = (0,) * (x.ndarray.ndim - axes)
    padded = movement.pad(x, (*none, *low), (*none, *high), _lowest(x))
    out, places = _maxima(padded, replace(sliding, padding=(0,) * axes, behind=(0,) * axes), counts)
    found: list[Any] = []
    for extent, before, whole in reversed(list(zip(space, low, padded.ndarray.shape[-axes:], strict=True))):
        found.insert(0, minimum(maximum(remainder(places, whole) - before, 0), extent - 1))
        places = floor_divide(places, whole)
    return out, _ravelled(found, space)


def _maxima(x: Any, sliding: Sliding, counts: Shape) -> tuple[Any, Any]:
    """The maximum of each window of ``x [*batch, *space]``, and where it stands in the space, counted row by row."""
    shape = x.ndarray.shape
    if _sees_nothing(shape[len(shape) - sliding.axes :], sliding, counts):
        return _padded_maxima(x, sliding, counts)
    batch, space = shape[: len(shape) - sliding.axes], shape[len(shape) - sliding.axes :]
    places = window_argmax(x, sliding.kernel, counts, sliding.stride, sliding.dilation, sliding.padding)
    rows = math.prod(batch)
    flat = movement.reshape(places, (rows, math.prod(counts)))
    out = pick(movement.reshape(x, (rows, math.prod(space))), flat)
    return movement.reshape(out, (*batch, *counts)), places


def _picked(x: Any, place: Any, axis: int) -> Any:
    """The elements of x at one `place` along `axis` each."""
    shape = x.ndarray.shape
    there = movement.reshape(place, (*shape[:axis], 1, *shape[axis + 1 :]))
    return folds.sum(where(eq(iota(shape, axis, int64), there), x, full((), 0, x.dtype)), (axis,))


def _max_pool(axes: int) -> Callable[..., Any]:
    name = f"max_pool{axes}d"

    @composite(f"MaxPool{axes}DWithIndicesBackward0", {"input": ("input",)})
    def max_pool(
        input: Any,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        space = space_of(name, input, axes)
        if axes == 1 and not return_indices:
            check_not_integers("max_pool1d_impl", input)
        if input.dtype is bool_:
            raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'; convert it, e.g. with .int()")
        sliding = pool_sizes(name, axes, kernel_size, stride, padding, dilation)
        counts = counts_of(name, space, sliding, input.ndarray.shape[-axes - 1], ceil_mode)
        out, places = _maxima(input, sliding, counts)
        return (out, places) if return_indices else out

    max_pool.__name__ = max_pool.__qualname__ = name
    max_pool.__doc__ = f"""The maximum of each window over the last {axes} axes.

    ``[batch, channels, *space]`` (or without batch) gives ``[batch, channels, *windows]``; the default stride is the
    kernel's size, outside is smaller than any number, `ceil_mode` keeps a last window that is not full. With
    `return_indices` also where the maxima stand in the space, counted row by row. RuntimeError for sizes that do not
    fit.
    """
    return max_pool


max_pool1d, max_pool2d, max_pool3d = _max_pool(1), _max_pool(2), _max_pool(3)


def _max_unpool(axes: int) -> Callable[..., Any]:
    name = f"max_unpool{axes}d"

    @composite(f"MaxUnpool{axes}DBackward0")
    def max_unpool(
        input: Any,
        indices: Any,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        output_size: Sequence[int] | None = None,
    ) -> Any:
        space = space_of(name, input, axes)
        if indices.ndarray.shape != input.ndarray.shape:
            raise RuntimeError(
                f"{name}: indices [{list(indices.shape)}] must have the shape of the input [{list(input.shape)}]"
            )
        sliding = pool_sizes(name, axes, kernel_size, stride, padding)
        along = zip(space, sliding.stride, sliding.padding, sliding.kernel, strict=True)
        places = tuple((n - 1) * step - 2 * low + k for n, step, low, k in along)
        if output_size is not None:
            places = tuple(output_size)[-axes:]
        batch = input.ndarray.shape[:-axes]
        rows = (math.prod(batch), math.prod(space))
        empty = full((rows[0], math.prod(places)), 0, input.dtype)
        filled = scatter(empty, movement.reshape(indices, rows), movement.reshape(input, rows), 1)
        return movement.reshape(filled, (*batch, *places))

    max_unpool.__name__ = max_unpool.__qualname__ = name
    max_unpool.__doc__ = f"""Maxima back at the places that ``max_pool{axes}d`` took them from, zeros elsewhere."""
    return max_unpool


max_unpool1d, max_unpool2d, max_unpool3d = _max_unpool(1), _max_unpool(2), _max_unpool(3)


# ------------------------------------------------------------------------------------------------------- adaptive


def _uneven_places(space: Shape, targets: Shape) -> tuple[Any, Any]:
    """For windows that are not alike, [longest window, *targets]: the place of each element, and whether it is one."""
    axes = len(space)
    longest = tuple(max(_lengths(extent, n)) for extent, n in zip(space, targets, strict=True))
    shape, places, inside = (*longest, *targets), [], []
    for a, (extent, n) in enumerate(zip(space, targets, strict=True)):
        number, step = iota(shape, axes + a, int64), iota(shape, a, int64)
        start = floor_divide(number * extent, n)
        within = start + step < floor_divide((number + 1) * extent + (n - 1), n)
        places.append(where(within, start + step, start))
        inside.append(within)
    flat = (math.prod(longest), *targets)
    is_one = functools.reduce(logical_and, inside)
    return movement.reshape(_ravelled(places, space), flat), movement.reshape(is_one, flat)


def _lengths(extent: int, windows: int) -> list[int]:
    """Of windows that cover `extent` places about evenly; neighbours may share a place."""
    return [-(-(o + 1) * extent // windows) - o * extent // windows for o in range(windows)]


def _adaptive_maxima(input: Any, space: Shape, targets: Shape) -> tuple[Any, Any]:
    """Each window is looked at as far as the longest reaches, and masked behind its end."""
    batch = input.ndarray.shape[: input.ndarray.ndim - len(space)]
    places, inside = _uneven_places(space, targets)
    rows = movement.transpose(movement.reshape(input, (math.prod(batch), math.prod(space))), (1, 0))
    taken = take(rows, places)  # [longest, *targets, batch]
    last = taken.ndarray.ndim - 1
    seen = movement.reshape(movement.transpose(taken, (last, *range(last))), (*batch, *places.ndarray.shape))
    within = where(inside, seen.detach(), full((), _lowest(input), input.dtype))
    chosen = _place_of_maximum(within, len(batch))
    there = movement.broadcast(places, seen.ndarray.shape)
    return _picked(seen, chosen, len(batch)), _picked(there, chosen, len(batch))


def _adaptive_max_pool(axes: int) -> Callable[..., Any]:
    name = f"adaptive_max_pool{axes}d"

    @composite(f"AdaptiveMaxPool{axes}DBackward0", {"input": ("input",)})
    def adaptive_max_pool(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        space = adaptive_space(name, input, axes)
        targets = targets_of(name, output_size, space)
        sliding = uniform(space, targets)
        if sliding is not None:
            out, places = _maxima(input, sliding, targets)
        else:
            out, places = _adaptive_maxima(input, space, targets)
        return (out, places) if return_indices else out

    adaptive_max_pool.__name__ = adaptive_max_pool.__qualname__ = name
    adaptive_max_pool.__doc__ = f"""The maxima of `output_size` windows that cover the last {axes} axes about evenly.

    A number, or one for each axis (None keeps the axis); `return_indices` as in ``max_pool{axes}d``. RuntimeError for
    inputs of other shapes.
    """
    return adaptive_max_pool


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (_adaptive_max_pool(n) for n in (1, 2, 3))
