"""Sizes of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...tensors.tensor import Tensor
from .._images import is_pil


def get_dimensions(img: Any) -> list[int]:
    """Channels, height and width of an image. TypeError for anything else."""
    if is_pil(img):
        width, height = img.size
        return [len(img.getbands()), height, width]
    if not isinstance(img, Tensor):
        raise TypeError(f"Unexpected type {type(img)}: expected an image of PIL or a tensor")
    if img.ndim < 2:
        raise TypeError("Tensor is not a torch image.")
    return [1 if img.ndim == 2 else img.shape[-3], *img.shape[-2:]]


def get_image_size(img: Any) -> list[int]:
    """Width and height of an image."""
    _, height, width = get_dimensions(img)
    return [width, height]


def get_image_num_channels(img: Any) -> int:
    """The number of channels of an image."""
    return get_dimensions(img)[0]


def setup_size(size: Any, error_msg: str) -> Sequence[int]:
    """Height and width from one number, or from one or two in a sequence. ValueError for more."""
    if isinstance(size, int):
        return size, size
    if len(size) == 1:
        return size[0], size[0]
    if len(size) != 2:
        raise ValueError(error_msg)
    return size


def resized(height: int, width: int, size: Any, max_size: int | None) -> tuple[int, int]:
    """Height and width for `size`: both of them, or the length of the shorter side; `max_size` bounds the longer."""
    sizes = [size] if isinstance(size, int) else list(size)
    if len(sizes) == 2:
        return int(sizes[0]), int(sizes[1])
    short, long = sorted((height, width))
    new_short, new_long = int(sizes[0]), int(sizes[0] * long / short)
    if max_size is not None:
        if max_size <= sizes[0]:
            raise ValueError(
                f"max_size = {max_size} must be strictly greater than the requested size for the smaller edge size = "
                f"{size}"
            )
        if new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_short, new_long) if height <= width else (new_long, new_short)


def edges(padding: Any) -> tuple[int, int, int, int]:
    """Left, top, right and bottom from one number, or from one, two (sides, then top and bottom) or four."""
    given = [padding] if isinstance(padding, int) else list(padding)
    if len(given) not in (1, 2, 4):
        raise ValueError(f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(given)} element tuple")
    left, top, right, bottom = (given * 4)[:4] if len(given) < 4 else given
    return int(left), int(top), int(right), int(bottom)
