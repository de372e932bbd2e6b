"""Several images as one picture, and pictures in files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from ..functional.joining import cat, stack
from ..tape.grad_mode import no_grad
from ..tensors.creation import full
from ..tensors.tensor import Tensor
from ._images import array_of, pillow

__all__ = ["make_grid", "save_image"]


@no_grad()
def make_grid(
    tensor: Any,
    nrow: int = 8,
    padding: int = 2,
    normalize: bool = False,
    value_range: tuple[float, float] | None = None,
    scale_each: bool = False,
    pad_value: float = 0.0,
) -> Tensor:
    """Images (count, channels, height, width), or a list of them, as one tensor (3, height, width): `nrow` in a row,
    with `padding` pixels of `pad_value` around each. One channel becomes three equal ones.

    With `normalize` the numbers are brought to 0 to 1: from `value_range`, or from their smallest and largest, of each
    image with `scale_each`. TypeError for anything but tensors, or a range that is no tuple.

    >>> import tracegrad as tg
    >>> make_grid(tg.ones(5, 1, 2, 2), nrow=3, padding=1).shape
    tracegrad.Size([3, 7, 10])
    """
    images = _as_batch(tensor)
    if normalize:
        if value_range is not None and not isinstance(value_range, tuple):
            raise TypeError("value_range has to be a tuple (min, max) if specified. min and max are numbers")
        images = _normalized(images, value_range, scale_each)
    if not isinstance(images, Tensor):
        raise TypeError("tensor should be of type torch.Tensor")
    if images.shape[0] == 1:
        return images[0]
    count, channels, height, width = images.shape
    columns = min(nrow, count)
    rows = math.ceil(count / columns)
    height, width = height + padding, width + padding
    grid = full((channels, height * rows + padding, width * columns + padding), pad_value, dtype=images.dtype)
    for i in range(count):
        top, left = i // columns * height + padding, i % columns * width + padding
        grid[:, top : top + height - padding, left : left + width - padding] = images[i]
    return grid


def _as_batch(tensor: Any) -> Tensor:
    given = tensor if isinstance(tensor, (list, tuple)) else [tensor]
    for item in given:
        if not isinstance(item, Tensor):
            raise TypeError(f"tensor or list of tensors expected, got a list containing {type(item)}")
    images = stack(list(tensor), dim=0) if isinstance(tensor, (list, tuple)) else tensor
    if images.ndim == 2:
        images = images[None]
    if images.ndim == 3:
        images = (cat([images] * 3, 0) if images.shape[0] == 1 else images)[None]
    if images.ndim == 4 and images.shape[1] == 1:
        images = cat([images] * 3, 1)
    return images


def _normalized(images: Tensor, value_range: tuple[float, float] | None, scale_each: bool) -> Tensor:
    def scaled(part: Tensor) -> Tensor:
        low, high = value_range or (float(part.min()), float(part.max()))
        return (part.clamp(low, high) - low) / max(high - low, 1e-5)

    return stack([scaled(image) for image in images], dim=0) if scale_each else scaled(images)


@no_grad()
def save_image(tensor: Any, fp: str | Path | Any, format: str | None = None, **kwargs: Any) -> None:
    """Write an image, or several as `make_grid` arranges them with the other arguments, to a file. Numbers are from 0
    to 1. Needs Pillow; the file's name, or `format`, says which kind of file it becomes."""
    grid = array_of(make_grid(tensor, **kwargs), "save_image()")
    levels = np.clip(grid * 255 + 0.5, 0, 255).transpose(1, 2, 0).astype(np.uint8)
    pillow().fromarray(np.ascontiguousarray(levels)).save(fp, format=format)
