"""Maxima of windows: where they stand, and elements by such places, there and back."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import NO_GRADIENT, Kernel, bind, define
from ..types import Type, bool_, int64

Shape = tuple[int, ...]
MANY_TAPS = 8


def _argmax_type(x: Type, kernel: Shape, extents: Shape, steps: Shape, gaps: Shape, low: Shape) -> Type:
    axes = len(kernel)
    if x.ndim < axes or not len(extents) == len(steps) == len(gaps) == len(low) == axes:
        raise RuntimeError(f"windows over {axes} axes need an array of at least {axes} axes, got {x}")
    if min((*kernel, *steps, *gaps)) < 1:
        raise RuntimeError(f"windows need kernels, steps and gaps above 0, got {kernel}, {steps} and {gaps}")
    _require_numbers(x)
    if not all(map(_is_inside, x.shape[x.ndim - axes :], extents, steps, gaps, low)):
        raise RuntimeError(f"each window has to see a place of {x}")
    return Type(int64, (*x.shape[: x.ndim - axes], *extents))


def _is_inside(extent: int, count: int, step: int, gap: int, low: int) -> bool:
    """True where each window along an axis has a place inside: its first one, or the first one behind the padding."""
    in_padding = range(min(count, -(-low // step)))
    return (count - 1) * step - low < extent and all((o * step - low) % gap < extent for o in in_padding)


def _require_numbers(x: Type) -> None:
    if x.dtype is bool_:
        raise RuntimeError(f"windows are of numbers, got {x}")


def _first_inside(axis: int, extents: Shape, steps: Shape, gaps: Shape, low: Shape) -> np.ndarray:
    """For each window the first of its places along an axis that is not padding, as an array along that axis."""
    start = np.arange(extents[axis]) * steps[axis] - low[axis]
    inside = np.where(start < 0, start + -(start // gaps[axis]) * gaps[axis], start)
    return inside.reshape([-1 if a == axis else 1 for a in range(len(extents))])


def _window_argmax(x: np.ndarray, kernel: Shape, extents: Shape, steps: Shape, gaps: Shape, low: Shape) -> np.ndarray:
    is_apart = steps == kernel and not any(low) and (max(gaps) == 1 or max(kernel) == 1)
    if is_apart and math.prod(kernel) >= MANY_TAPS and x.shape[x.ndim - len(kernel) :] == _product(extents, kernel):
        found = _block_argmax(x, kernel, extents)
        if found is not None:
            return found
    return _argmax_by_taps(x, kernel, extents, steps, gaps, low)


def _product(extents: Shape, kernel: Shape) -> Shape:
    return tuple(n * k for n, k in zip(extents, kernel, strict=True))


def _block_argmax(x: np.ndarray, kernel: Shape, extents: Shape) -> np.ndarray | None:
    """The places of maxima of windows side by side, which are blocks; None where there is a NaN, of which the last one
    counts."""
    axes, batch = len(kernel), x.shape[: x.ndim - len(kernel)]
    space = _product(extents, kernel)
    apart = x.reshape(*batch, *itertools.chain(*zip(extents, kernel, strict=True)))
    first = len(batch)
    order = (*range(first), *range(first, first + 2 * axes, 2), *range(first + 1, first + 2 * axes, 2))
    blocks = apart.transpose(order).reshape(*batch, *extents, math.prod(kernel))
    tap = blocks.argmax(-1)
    if x.dtype.kind == "f" and np.isnan(np.take_along_axis(blocks, tap[..., None], -1)).any():
        return None
    within = np.unravel_index(tap, kernel)
    starts = [
        np.arange(n).reshape(-1, *(1,) * (axes - 1 - a)) * k
        for a, (n, k) in enumerate(zip(extents, kernel, strict=True))
    ]
    return _ravelled([start + at for start, at in zip(starts, within, strict=True)], space)


def _argmax_by_taps(x: np.ndarray, kernel: Shape, extents: Shape, steps: Shape, gaps: Shape, low: Shape) -> np.ndarray:
    axes = len(kernel)
    batch, space = x.shape[: x.ndim - axes], x.shape[x.ndim - axes :]
    along = zip(space, kernel, extents, steps, gaps, low, strict=True)
    places = [max(n + b, (o - 1) * step + (k - 1) * gap + 1) for n, k, o, step, gap, b in along]
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    padded = np.full((*batch, *places), lowest, x.dtype)
    inside: Any = (..., *(np.s_[b : b + n] for b, n in zip(low, space, strict=True)))
    padded[inside] = x
    best = np.full((*batch, *extents), lowest, x.dtype)
    firsts = [_first_inside(axis, extents, steps, gaps, low) for axis in range(axes)]
    place = np.broadcast_to(_ravelled(firsts, space), best.shape).astype(np.int64)
    starts = [np.moveaxis(np.arange(n).reshape(-1, *(1,) * (axes - 1)), 0, a) for a, n in enumerate(extents)]
    for tap in np.ndindex(*kernel):
        value = _seen(padded, tap, extents, steps, gaps)
        own = [o * step + k * gap - b for o, step, k, gap, b in zip(starts, steps, tap, gaps, low, strict=True)]
        better = (value > best) | (value != value)
        place = np.where(better, _ravelled(own, space), place)
        best = np.where(better, value, best)
    return place


def _seen(padded: np.ndarray, tap: Shape, extents: Shape, steps: Shape, gaps: Shape) -> np.ndarray:
    """The element at place `tap` of each window, as a view."""
    axes = len(tap)
    strides = padded.strides[padded.ndim - axes :]
    behind: Any = (..., *(np.s_[k * gap :] for k, gap in zip(tap, gaps, strict=True)))
    along = (step * stride for step, stride in zip(steps, strides, strict=True))
    batch = padded.ndim - axes
    return as_strided(padded[behind], (*padded.shape[:batch], *extents), (*padded.strides[:batch], *along))


def _ravelled(positions: list[np.ndarray], shape: Shape) -> np.ndarray:
    flat = positions[0]
    for position, extent in zip(positions[1:], shape[1:], strict=True):
        flat = flat * extent + position
    return flat


window_argmax_primitive = define(
    "window_argmax",
    ("x",),
    type=_argmax_type,
    eval=_window_argmax,
    lower=Kernel("window_argmax"),
    vjp=NO_GRADIENT,
)


def window_argmax(x: Any, kernel: Shape, extents: Shape, steps: Shape, gaps: Shape, low: Shape) -> Any:
    """Where in the space of ``x [*batch, *space]`` each window's maximum stands first, or its last NaN.

    There are `extents` windows. Places are counted row by row, as int64. Padding, `low` places before each axis, is no
    place; each window begins or ends inside.
    """
    return bind(window_argmax_primitive, x, kernel=kernel, extents=extents, steps=steps, gaps=gaps, low=low)


def _pick_type(x: Type, places: Type) -> Type:
    if x.ndim != 2 or places.ndim != 2 or x.shape[0] != places.shape[0] or places.dtype is not int64:
        raise RuntimeError(f"rows of places need an array of as many rows, got {x} and {places}")
    return Type(x.dtype, places.shape)


pick_primitive = define(
    "pick",
    ("x", "places"),
    type=_pick_type,
    eval=lambda x, places: np.take_along_axis(x, places, 1),
    lower=Kernel("pick"),
    vjp={"x": lambda g, places, x_type: unpick(g, places, x_type.shape[1]), "places": NO_GRADIENT},
)


def pick(x: Any, places: Any) -> Any:
    """``out[i, j] = x[i, places[i, j]]`` for places that are known to be within a row of x."""
    return bind(pick_primitive, x, places)


def _unpick_type(x: Type, places: Type, extent: int) -> Type:
    if x.shape != places.shape or x.ndim != 2 or places.dtype is not int64:
        raise RuntimeError(f"each element needs a place in its row, got {x} and {places}")
    _require_numbers(x)
    return Type(x.dtype, (x.shape[0], extent))


def _unpick(x: np.ndarray, places: np.ndarray, extent: int) -> np.ndarray:
    out = np.zeros((x.shape[0], extent), x.dtype)
    np.add.at(out.reshape(-1), places + np.arange(x.shape[0])[:, None] * extent, x)
    return out


unpick_primitive = define(
    "unpick",
    ("x", "places"),
    type=_unpick_type,
    eval=_unpick,
    lower=Kernel("unpick"),
    vjp={"x": lambda g, places: pick(g, places), "places": NO_GRADIENT},
)


def unpick(x: Any, places: Any, extent: int) -> Any:
    """The transpose of `pick`: ``out[i, places[i, j]] += x[i, j]`` on rows of `extent` zeros."""
    return bind(unpick_primitive, x, places, extent=extent)
