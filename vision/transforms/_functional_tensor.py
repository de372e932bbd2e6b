"""Transforms of tensors of shape (..., channels, height, width)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...functional.joining import cat, stack
from ...nn import functional as F
from ...ops.types import FLOATING, DType, float32, float64, uint8
from ...tensors.creation import as_tensor, full_like, zeros_like
from ._geometry import expanded_size, places
from ._sizes import get_dimensions


def is_floating(img: Any) -> bool:
    return img.dtype.category >= FLOATING


def largest(dtype: DType) -> float:
    """The number that means full intensity."""
    if dtype.category >= FLOATING:
        return 1.0
    return 1.0 if dtype.name == "bool" else float(np.iinfo(dtype.numpy).max)


def convert_image_dtype(img: Any, dtype: DType) -> Any:
    """The image with numbers of another type, scaled to what means full intensity there."""
    if img.dtype == dtype:
        return img
    if is_floating(img):
        return _from_floating(img, dtype)
    whole = largest(img.dtype)
    if dtype.category >= FLOATING:
        return img.to(dtype) / whole
    target = largest(dtype)
    if whole > target:
        return (img // int((whole + 1) // (target + 1))).to(dtype)
    return img.to(dtype) * int((target + 1) // (whole + 1))


def _from_floating(img: Any, dtype: DType) -> Any:
    if dtype.category >= FLOATING:
        return img.to(dtype)
    if (img.dtype == float32 and dtype.name in ("int32", "int64")) or (img.dtype == float64 and dtype.name == "int64"):
        raise RuntimeError(f"The cast from {img.dtype} to {dtype} cannot be performed safely.")
    return (img * (largest(dtype) + 1.0 - 1e-3)).to(dtype)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """That part of the image; zeros where it reaches beyond."""
    _, h, w = get_dimensions(img)
    part = img[..., max(top, 0) : max(top + height, 0), max(left, 0) : max(left + width, 0)]
    right, bottom = left + width, top + height
    if left < 0 or top < 0 or right > w or bottom > h:
        # What of the missing columns lies before the image, and what behind it.
        before, above = max(min(right, 0) - left, 0), max(min(bottom, 0) - top, 0)
        behind, below = max(right - max(w, left), 0), max(bottom - max(h, top), 0)
        return F.pad(part, [before, behind, above, below], value=0)
    return part


def pad(img: Any, padding: tuple[int, int, int, int], fill: Any, mode: str) -> Any:
    """The image with (left, top, right, bottom) more pixels."""
    left, top, right, bottom = padding
    if mode == "constant":
        given = fill[0] if isinstance(fill, (tuple, list)) and len(fill) == 1 else fill
        if isinstance(given, (tuple, list)):
            raise TypeError("Got inappropriate fill arg: a tensor's padding has one number")
        out = F.pad(img, [left, right, top, bottom], value=given or 0)
        return out
    rows, columns = _indices(img.shape[-2], top, bottom, mode), _indices(img.shape[-1], left, right, mode)
    return img[..., as_tensor(rows[:, None]), as_tensor(columns)]


def _indices(size: int, before: int, behind: int, mode: str) -> np.ndarray:
    """Which rows, or columns, stand where the image is padded; negative numbers take away."""
    inner = np.arange(max(0, -before), size - max(0, -behind))
    added = (max(0, before), max(0, behind))
    return np.pad(inner, added, mode=mode)  # type: ignore[call-overload]


def resize(img: Any, size: tuple[int, int], mode: str, antialias: bool) -> Any:
    """The image in another size."""
    if tuple(img.shape[-2:]) == size:
        return img
    given = _as_batch(img if is_floating(img) else img.to(float32))
    smooth = mode in ("bilinear", "bicubic")
    out = F.interpolate(
        given, size=list(size), mode=mode, align_corners=False if smooth else None, antialias=antialias and smooth
    )
    if mode == "bicubic" and img.dtype == uint8:
        out = out.clamp(0, 255)
    return _as_given(out, img)


def _as_batch(img: Any) -> Any:
    if img.ndim == 4:
        return img
    return img.reshape(math.prod(img.shape[:-3]), *img.shape[-3:]) if img.ndim > 2 else img[None, None]


def _as_given(out: Any, like: Any) -> Any:
    """The result in the type and with the leading dimensions of what was given."""
    out = out.reshape(*like.shape[:-2], *out.shape[-2:])
    return out if is_floating(like) else out.round().to(like.dtype)


def gray(img: Any, channels: int = 1) -> Any:
    """Brightness, in one channel or in equal ones."""
    if img.ndim < 3:
        raise TypeError(f"Input image tensor should have at least 3 dimensions, but found {img.ndim}")
    if channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    if img.shape[-3] == 3:
        red, green, blue = (img[..., i, :, :] for i in range(3))
        img = (0.2989 * red + 0.587 * green + 0.114 * blue).to(img.dtype)[..., None, :, :]
    elif img.shape[-3] != 1:
        raise TypeError(f"Input image tensor permitted channel values are 1 or 3, but found {img.shape[-3]}")
    return img.expand(*img.shape[:-3], 3, *img.shape[-2:]) if channels == 3 else img.clone()


def blended(one: Any, other: Any, ratio: float) -> Any:
    """So much of one image and the rest of the other."""
    return (ratio * one + (1.0 - ratio) * other).clamp(0, largest(one.dtype)).to(one.dtype)


def adjust_brightness(img: Any, factor: float) -> Any:
    return blended(img, zeros_like(img), factor)


def adjust_contrast(img: Any, factor: float) -> Any:
    shade = (gray(img) if img.shape[-3] == 3 else img).to(img.dtype if is_floating(img) else float32)
    return blended(img, shade.mean(dim=(-3, -2, -1), keepdim=True), factor)


def adjust_saturation(img: Any, factor: float) -> Any:
    return img if img.shape[-3] == 1 else blended(img, gray(img), factor)


def adjust_gamma(img: Any, gamma: float, gain: float) -> Any:
    exact = img if is_floating(img) else convert_image_dtype(img, float32)
    return convert_image_dtype((gain * exact**gamma).clamp(0, 1), img.dtype)


def adjust_hue(img: Any, factor: float) -> Any:
    if img.shape[-3] == 1:
        return img
    hue, saturation, value = _hsv(convert_image_dtype(img, float32) if not is_floating(img) else img)
    return convert_image_dtype(_rgb((hue + factor) % 1.0, saturation, value), img.dtype)


def _hsv(img: Any) -> tuple[Any, Any, Any]:
    red, green, blue = (img[..., i, :, :] for i in range(3))
    high, low = img.max(dim=-3).values, img.min(dim=-3).values
    is_gray = high == low
    spread = high - low
    ones = full_like(high, 1.0)
    saturation = spread / ones.where(is_gray, high)
    divisor = ones.where(is_gray, spread)
    to_red, to_green, to_blue = ((high - channel) / divisor for channel in (red, green, blue))
    hue = (
        (high == red) * (to_blue - to_green)
        + ((high == green) & (high != red)) * (2.0 + to_red - to_blue)
        + ((high != green) & (high != red)) * (4.0 + to_green - to_red)
    )
    return (hue / 6.0 + 1.0) % 1.0, saturation, high


def _rgb(hue: Any, saturation: Any, value: Any) -> Any:
    sector = (hue * 6.0).floor()
    part = hue * 6.0 - sector
    low = (value * (1.0 - saturation)).clamp(0.0, 1.0)
    falling = (value * (1.0 - saturation * part)).clamp(0.0, 1.0)
    rising = (value * (1.0 - saturation * (1.0 - part))).clamp(0.0, 1.0)
    sector = sector % 6
    channels = []
    for choices in (
        (value, falling, low, low, rising, value),
        (rising, value, value, falling, low, low),
        (low, low, rising, value, value, falling),
    ):
        chosen = choices[0]
        for i in range(1, 6):
            chosen = choices[i].where(sector == i, chosen)
        channels.append(chosen)
    return stack(channels, dim=-3)


def gaussian_blur(img: Any, kernel_size: Sequence[int], sigma: Sequence[float]) -> Any:
    """The image, each pixel a mean of those around it; sizes and widths are those of x and y."""
    dtype = img.dtype if is_floating(img) else float32
    rows = [_bell(size, width, dtype) for size, width in zip(kernel_size, sigma, strict=True)]
    kernel = rows[1][:, None] * rows[0][None, :]
    given = _as_batch(img.to(dtype))
    channels = given.shape[-3]
    half_x, half_y = kernel_size[0] // 2, kernel_size[1] // 2
    given = F.pad(given, [half_x, half_x, half_y, half_y], mode="reflect")
    weight = kernel.expand(channels, 1, *kernel.shape)
    return _as_given(F.conv2d(given, weight, groups=channels), img)


def _bell(size: int, width: float, dtype: DType) -> Any:
    x = np.linspace(-(size - 1) * 0.5, (size - 1) * 0.5, size, dtype=np.float32)
    heights = np.exp(-0.5 * (x / np.float32(width)) ** 2)
    return as_tensor(heights / heights.sum(), dtype=dtype)


def affine(img: Any, matrix: Sequence[float], mode: str, fill: Sequence[float] | None, expand: bool = False) -> Any:
    """The image with each pixel taken from where the matrix leads; `fill` where that is outside."""
    size = img.shape[-1], img.shape[-2]
    grid: Any = as_tensor(places(matrix, size, expanded_size(matrix, *size) if expand else size))
    given = _as_batch(img if is_floating(img) else img.to(float32))
    if fill is not None:  # a channel more tells how much of a pixel lies inside
        given = cat([given, full_like(given[:, :1], 1.0)], 1)
    grid = grid[None].expand(given.shape[0], *grid.shape)
    out = F.grid_sample(given, grid.to(given.dtype), mode=mode, padding_mode="zeros", align_corners=False)
    if fill is None:
        return _as_given(out, img)
    inside = out[:, -1:]
    color = as_tensor(np.array(fill), dtype=out.dtype).reshape(1, -1, 1, 1)
    out = out[:, :-1]
    filled = color.expand(*out.shape)
    mixed = filled.where(inside < 0.5, out) if mode == "nearest" else out * inside + (1.0 - inside) * filled
    return _as_given(mixed, img)
