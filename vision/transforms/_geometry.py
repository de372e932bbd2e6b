"""Where the pixels of a turned, moved, scaled and sheared image come from."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def inverse_affine(
    center: Sequence[float],
    angle: float,
    translate: Sequence[float],
    scale: float,
    shear: Sequence[float],
) -> list[float]:
    """The first two rows of the matrix that leads from a place of the result to one of the image.

    The image is turned by `angle` degrees, sheared, scaled around `center`, and moved.
    """
    turn, shear_x, shear_y = (math.radians(value) for value in (angle, *shear))
    moved = _shifted(center[0] + translate[0], center[1] + translate[1])
    a = math.cos(turn - shear_y) / math.cos(shear_y)
    b = -math.cos(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) - math.sin(turn)
    c = math.sin(turn - shear_y) / math.cos(shear_y)
    d = -math.sin(turn - shear_y) * math.tan(shear_x) / math.cos(shear_y) + math.cos(turn)
    turned = np.array([[scale * a, scale * b, 0.0], [scale * c, scale * d, 0.0], [0.0, 0.0, 1.0]])
    whole = np.linalg.inv(moved @ turned @ _shifted(-center[0], -center[1]))
    return [float(value) for value in whole[:2].reshape(-1)]


def _shifted(x: float, y: float) -> np.ndarray:
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])


def expanded_size(matrix: Sequence[float], width: int, height: int) -> tuple[int, int]:
    """Width and height of what holds all of the image, turned around its middle."""
    middle = np.array([0.5 * width, 0.5 * height], np.float32)
    corners = np.array([(x, y) for x in (-1, 1) for y in (-1, 1)], np.float32) * middle
    places = corners @ np.array([matrix[:2], matrix[3:5]], np.float32).T + middle
    low, high = places.min(0), places.max(0)
    # A corner that rounding has moved by less than this is where it would be exactly.
    tolerance = np.float32(1e-4)
    sizes = np.ceil(np.trunc(high / tolerance) * tolerance) - np.floor(np.trunc(low / tolerance) * tolerance)
    return int(sizes[0]), int(sizes[1])


def places(matrix: Sequence[float], size: tuple[int, int], out_size: tuple[int, int]) -> np.ndarray:
    """For each pixel of the result (height, width, 2) the place that it comes from, as `grid_sample` counts: -1 to 1.

    Sizes are (width, height); the matrix leads from the middle of the one image to the middle of the other.
    """
    (width, height), (out_width, out_height) = size, out_size
    x = np.arange(out_width, dtype=np.float32) - np.float32(out_width * 0.5 - 0.5)
    y = np.arange(out_height, dtype=np.float32) - np.float32(out_height * 0.5 - 0.5)
    base = np.stack([*np.meshgrid(x, y), np.ones((out_height, out_width), np.float32)], -1)
    rows = np.array([matrix[:3], matrix[3:]], np.float32) / np.array([[0.5 * width], [0.5 * height]], np.float32)
    return base @ rows.T
