"""Resizing images of bytes in whole numbers: weights of 16 bits, and a sum that is rounded after each axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops import movement
from ...ops.array import eager
from ...ops.pointwise import cast
from ...ops.types import int32, uint8
from .filters import Taps


def _whole(taps: Taps, extent: int) -> tuple[np.ndarray, int]:
    """The weights ``[extent, windows]`` times a power of two, which keeps the largest below 2**15; its exponent."""
    windows = taps.places.shape[1]
    matrix = np.zeros((extent, windows))
    np.add.at(matrix, (taps.places, np.arange(windows)), taps.weights)
    largest = matrix.max()
    precision = next(p for p in range(23) if p == 22 or int(0.5 + largest * (1 << (p + 1))) >= 1 << 15)
    scaled = matrix * (1 << precision)
    return np.trunc(scaled + np.where(scaled < 0, -0.5, 0.5)).astype(np.int32), precision


def of_bytes(input: Any, taps: Sequence[Taps]) -> Any:
    """``input [batch, channels, height, width]`` resized: first its rows, then its columns."""
    out = input
    for axis in (3, 2):
        weights, precision = _whole(taps[axis - 2], input.ndarray.shape[axis])
        last = out if axis == 3 else movement.transpose(out, (0, 1, 3, 2))
        sums = (cast(last, int32) @ eager().literal(weights) + (1 << precision - 1)) >> precision
        made = cast(sums.clamp(0, 255), uint8)
        out = made if axis == 3 else movement.transpose(made, (0, 1, 3, 2))
    return out.contiguous()
