"""Which places of an axis a resized axis reads, and how much each weighs: ``[taps, windows]``, one column a result.

The coordinates are computed as PyTorch computes them, in the images' own precision (float32 for the nearest place).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Taps(NamedTuple):
    """The places ``[taps, windows]`` (int64) and their weights."""

    places: np.ndarray
    weights: np.ndarray


def _scale(extent: int, count: int, align_corners: bool, factor: float | None, kind: Any) -> Any:
    """How far apart the results stand in the input. `factor` is how many times as large the program wants it."""
    if align_corners:
        return kind(extent - 1) / kind(count - 1) if count > 1 else kind(0)
    return kind(1.0 / factor) if factor is not None and factor > 0 else kind(extent) / kind(count)


def _sources(extent: int, count: int, align_corners: bool, factor: float | None, kind: Any) -> np.ndarray:
    scale, at = _scale(extent, count, align_corners, factor, kind), np.arange(count, dtype=kind)
    return scale * at if align_corners else scale * (at + kind(0.5)) - kind(0.5)


def nearest(extent: int, count: int, factor: float | None, exact: bool, by_sizes: bool) -> np.ndarray:
    """The place that each result shows; with `exact` the one nearest to its centre.

    PyTorch has two kernels, of which that for small images (`by_sizes`) goes by the sizes where one is the other, or
    twice the other, whatever factor was given.
    """
    if by_sizes and not exact and count in (extent, 2 * extent):
        return np.arange(count) * extent // count
    scale, at = _scale(extent, count, False, factor, np.float32), np.arange(count, dtype=np.float32)
    source = np.floor((at + np.float32(0.5)) * scale if exact else at * scale)
    return np.minimum(source.astype(np.int64), extent - 1)


def linear(extent: int, count: int, align_corners: bool, factor: float | None, kind: Any) -> Taps:
    """The two neighbours of each result, weighted by nearness; beyond the border the border's element."""
    if extent == count:
        place = np.arange(count)
        return Taps(place[None], np.ones((1, count), kind))
    source = np.maximum(_sources(extent, count, align_corners, factor, kind), kind(0))
    first = np.minimum(source.astype(np.int64), extent - 1)
    share = np.clip(source - first.astype(kind), 0, 1)
    return Taps(np.stack([first, np.minimum(first + 1, extent - 1)]), np.stack([1 - share, share]))


def cubic(extent: int, count: int, align_corners: bool, factor: float | None, kind: Any) -> Taps:
    """Four neighbours, by cubic convolution (Keys 1981) with a = -0.75; the border's element is repeated outside."""
    source = _sources(extent, count, align_corners, factor, kind)
    first = np.minimum(np.floor(source).astype(np.int64), extent - 1)
    weights = cubic_weights(np.clip(source - first.astype(kind), 0, 1))
    places = [np.clip(first + shift, 0, extent - 1) for shift in (-1, 0, 1, 2)]
    return Taps(np.stack(places), np.stack(weights))


def cubic_weights(share: Any, a: float = -0.75) -> list[Any]:
    """The weights of the four neighbours of a point that lies `share` behind the second of them."""
    rest = 1 - share
    return [_outer(share + 1, a), _inner(share, a), _inner(rest, a), _outer(rest + 1, a)]


def _inner(x: Any, a: float) -> Any:
    """Cubic convolution's kernel for distances up to 1."""
    return ((a + 2) * x - (a + 3)) * x * x + 1


def _outer(x: Any, a: float) -> Any:
    """The same for distances from 1 to 2."""
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


# ------------------------------------------------------------------------------------------------------ antialiased


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.maximum(1 - np.abs(x), 0)


def _keys(x: np.ndarray) -> np.ndarray:
    x, a = np.abs(x), -0.5
    return np.where(x < 1, _inner(x, a), np.where(x < 2, _outer(x, a), 0))


def _lanczos(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


#: The filter of each mode, and the width over which it is not zero.
_FILTERS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int]] = {
    "bilinear": (_triangle, 2),
    "bicubic": (_keys, 4),
    "lanczos": (_lanczos, 6),
}


def antialiased(mode: str, extent: int, count: int, align_corners: bool, factor: float | None, kind: Any) -> Taps:
    """All places below a filter, which is as wide as the results stand apart. Unused taps weigh nothing."""
    function, width = _FILTERS[mode]
    scale = _scale(extent, count, align_corners, factor, kind)
    support = width * 0.5 * max(scale, kind(1))
    centre = scale * (np.arange(count, dtype=kind) + kind(0.5))
    first = np.maximum((centre - support + 0.5).astype(np.int64), 0)
    behind = np.minimum((centre + support + 0.5).astype(np.int64), extent)
    places = first + np.arange(max(int((behind - first).max(initial=0)), 1))[:, None]
    inside = places < behind
    weights = np.where(inside, function((places - centre + kind(0.5)) / max(scale, kind(1))), 0)
    total = weights.sum(0)
    weights = weights / np.where(total == 0, 1, total)
    return Taps(np.where(inside, places, 0), weights.astype(kind))


def is_repeated(places: np.ndarray, extent: int) -> int:
    """How many times each place stands there in a row, if all stand equally often and in order; otherwise 0."""
    times, rest = divmod(len(places), max(extent, 1))
    return 0 if rest or not np.array_equal(places, np.arange(len(places)) // max(times, 1)) else times


def truncated(extent: int, factor: float) -> int:
    """The size of an axis that is to be `factor` times as large."""
    return math.floor(extent * factor)
