"""How pixels between pixels are made."""

from __future__ import annotations

from enum import Enum
from typing import Any


class InterpolationMode(Enum):
    """Ways to make an image's numbers between its pixels. Pillow knows all of them, tensors the first four."""

    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    BOX = "box"
    HAMMING = "hamming"
    LANCZOS = "lanczos"


#: Pillow's numbers for them.
PIL_MODES = {
    InterpolationMode.NEAREST: 0,
    InterpolationMode.NEAREST_EXACT: 0,
    InterpolationMode.LANCZOS: 1,
    InterpolationMode.BILINEAR: 2,
    InterpolationMode.BICUBIC: 3,
    InterpolationMode.BOX: 4,
    InterpolationMode.HAMMING: 5,
}
_BY_NUMBER = {number: mode for mode, number in PIL_MODES.items() if mode is not InterpolationMode.NEAREST_EXACT}


def checked_mode(interpolation: Any) -> InterpolationMode:
    """A mode, or Pillow's number for one. TypeError for anything else."""
    if isinstance(interpolation, int) and interpolation in _BY_NUMBER:
        return _BY_NUMBER[interpolation]
    if not isinstance(interpolation, InterpolationMode):
        raise TypeError(
            "Argument interpolation should be a InterpolationMode or a corresponding Pillow integer constant"
        )
    return interpolation


def tensor_mode(mode: InterpolationMode, *allowed: str) -> str:
    """The mode's name for tensors. ValueError if tensors have it not."""
    if mode.value not in (allowed or ("nearest", "nearest-exact", "bilinear", "bicubic")):
        raise ValueError(f"This Interpolation mode is unsupported with Tensor input: {mode.value}")
    return mode.value
