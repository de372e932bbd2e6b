"""Transforms of PIL's images, by Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._images import pillow


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    return img.crop((left, top, left + width, top + height))


def pad(img: Any, padding: tuple[int, int, int, int], fill: Any, mode: str) -> Any:
    """The image with (left, top, right, bottom) more pixels."""
    left, top, right, bottom = padding
    if mode == "constant":
        color = parsed_fill(fill, img)
        out = pillow("ImageOps").expand(img.convert("RGB") if img.mode == "P" else img, border=padding, fill=color)
        if img.mode == "P":
            out = out.quantize(palette=img)
        return out
    taken = [max(-edge, 0) for edge in padding]
    if any(taken):
        width, height = img.size
        img = img.crop((taken[0], taken[1], width - taken[2], height - taken[3]))
        left, top, right, bottom = (max(edge, 0) for edge in padding)
    array = np.asarray(img)
    widths = ((top, bottom), (left, right), (0, 0))[: array.ndim]
    return pillow().fromarray(np.pad(array, widths, mode=mode))  # type: ignore[call-overload]


def parsed_fill(fill: Any, img: Any) -> Any:
    """A number, or a tuple of one for each channel, as Pillow takes it. ValueError for too few or too many."""
    if fill is None:
        fill = 0
    channels = len(img.getbands())
    if isinstance(fill, (int, float)) and channels > 1:
        return (int(fill),) * channels if img.mode != "F" else fill
    if isinstance(fill, (list, tuple)):
        if len(fill) == 1:
            fill = tuple(fill) * channels
        elif len(fill) != channels:
            raise ValueError(
                f"The number of elements in 'fill' does not match the number of channels of the image "
                f"({len(fill)} != {channels})"
            )
        return tuple(fill) if channels > 1 else fill[0]
    return fill if img.mode == "F" else int(fill)


def resize(img: Any, size: tuple[int, int], resample: int) -> Any:
    return img.resize((size[1], size[0]), resample)


def flip(img: Any, name: str) -> Any:
    return img.transpose(getattr(pillow().Transpose, name))


def gray(img: Any, channels: int) -> Any:
    """Brightness, in one channel or in equal ones."""
    if channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    shade = img.convert("L")
    return shade if channels == 1 else pillow().merge("RGB", (shade, shade, shade))


def enhanced(img: Any, name: str, factor: float) -> Any:
    """Brightness, Contrast or Color, so much of the image's own."""
    return getattr(pillow("ImageEnhance"), name)(img).enhance(factor)


def adjust_hue(img: Any, factor: float) -> Any:
    """The image with its hues moved around the circle."""
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    moved = np.asarray(hue) + np.int32(factor * 255).astype(np.uint8)
    return pillow().merge("HSV", (pillow().fromarray(moved), saturation, value)).convert(img.mode)


def adjust_gamma(img: Any, gamma: float, gain: float) -> Any:
    mode = img.mode
    table = [int((255 + 1 - 1e-3) * gain * pow(level / 255.0, gamma)) for level in range(256)]
    rgb = img.convert("RGB")
    return rgb.point([min(level, 255) for level in table] * 3).convert(mode)


def rotate(img: Any, angle: float, resample: int, expand: bool, center: Sequence[float] | None, fill: Any) -> Any:
    return img.rotate(angle, resample, expand, center, fillcolor=parsed_fill(fill, img))


def affine(img: Any, matrix: Sequence[float], resample: int, fill: Any) -> Any:
    image = pillow()
    return img.transform(img.size, image.Transform.AFFINE, matrix, resample, fillcolor=parsed_fill(fill, img))
