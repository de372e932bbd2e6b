"""Transforms as functions: of PIL's images by Pillow, of tensors (..., channels, height, width) by their operations."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from ...tensors.tensor import Tensor
from .._images import is_pil, pillow
from . import _functional_pil as F_pil
from . import _functional_tensor as F_t
from ._conversion import convert_image_dtype, normalize, pil_to_tensor, to_pil_image, to_tensor
from ._geometry import inverse_affine
from ._modes import PIL_MODES, InterpolationMode, checked_mode, tensor_mode
from ._sizes import edges, get_dimensions, get_image_num_channels, get_image_size, resized

__all__ = [
    "InterpolationMode", "adjust_brightness", "adjust_contrast", "adjust_gamma", "adjust_hue", "adjust_saturation",
    "affine", "center_crop", "convert_image_dtype", "crop", "erase", "five_crop", "gaussian_blur", "get_dimensions",
    "get_image_num_channels", "get_image_size", "hflip", "invert", "normalize", "pad", "pil_to_tensor", "posterize",
    "resize", "resized_crop", "rgb_to_grayscale", "rotate", "solarize", "ten_crop", "to_grayscale", "to_pil_image",
    "to_tensor", "vflip",
]  # fmt: skip

_BILINEAR, _NEAREST = InterpolationMode.BILINEAR, InterpolationMode.NEAREST


# -------------------------------------------------------------------------------------------------------------- sizes


def resize(
    img: Any,
    size: Any,
    interpolation: Any = _BILINEAR,
    max_size: int | None = None,
    antialias: bool | None = True,
) -> Any:
    """The image in `size` (height, width), or with its shorter side of that length, the longer at most `max_size`.

    Without `antialias` each pixel of a smaller tensor is made of few of the image; Pillow always uses all.
    """
    mode = checked_mode(interpolation)
    if isinstance(size, (list, tuple)):
        if len(size) not in (1, 2):
            raise ValueError(
                f"Size must be an int or a 1 or 2 element tuple/list, not a {len(size)} element tuple/list"
            )
        if max_size is not None and len(size) != 1:
            raise ValueError("max_size should only be passed if size specifies the length of the smaller edge.")
    _, height, width = get_dimensions(img)
    target = resized(height, width, size, max_size)
    if target == (height, width):
        return img
    if is_pil(img):
        return F_pil.resize(img, target, PIL_MODES[mode])
    return F_t.resize(img, target, tensor_mode(mode), bool(antialias))


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    """The image with more pixels: as many on each side, or (sides, top and bottom), or (left, top, right, bottom).

    They are `fill` or, by `padding_mode`, copies of the "edge" or mirrored: "reflect" leaves the edge out, "symmetric"
    repeats it.
    """
    if not isinstance(padding, (numbers.Number, tuple, list)):
        raise TypeError("Got inappropriate padding arg")
    if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    return (F_pil if is_pil(img) else F_t).pad(img, edges(padding), fill, padding_mode)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """That part of the image; zeros where it reaches beyond."""
    return (F_pil if is_pil(img) else F_t).crop(img, top, left, height, width)


def center_crop(img: Any, output_size: Any) -> Any:
    """The middle of the image; a smaller image is padded with zeros first."""
    sizes = (int(output_size),) if isinstance(output_size, numbers.Number) else tuple(output_size)  # type: ignore[call-overload]
    high, wide = sizes * 2 if len(sizes) == 1 else sizes
    _, height, width = get_dimensions(img)
    if wide > width or high > height:
        across, down = max(wide - width, 0), max(high - height, 0)
        img = pad(img, [across // 2, down // 2, (across + 1) // 2, (down + 1) // 2], fill=0)
        _, height, width = get_dimensions(img)
        if (wide, high) == (width, height):
            return img
    return crop(img, int(round((height - high) / 2.0)), int(round((width - wide) / 2.0)), high, wide)


def resized_crop(
    img: Any,
    top: int,
    left: int,
    height: int,
    width: int,
    size: Any,
    interpolation: Any = _BILINEAR,
    antialias: bool | None = True,
) -> Any:
    """That part of the image, in another size."""
    return resize(crop(img, top, left, height, width), size, interpolation, antialias=antialias)


def five_crop(img: Any, size: Any) -> tuple[Any, ...]:
    """The four corners (top left, top right, bottom left, bottom right) and the middle of the image."""
    high, wide = (size, size) if isinstance(size, int) else tuple(size) * (2 // len(size))
    _, height, width = get_dimensions(img)
    if wide > width or high > height:
        raise ValueError(f"Requested crop size {(high, wide)} is bigger than input size {(height, width)}")
    corners = [(top, left) for top in (0, height - high) for left in (0, width - wide)]
    return *(crop(img, top, left, high, wide) for top, left in corners), center_crop(img, [high, wide])


def ten_crop(img: Any, size: Any, vertical_flip: bool = False) -> tuple[Any, ...]:
    """`five_crop` of the image, then of its mirror image."""
    return five_crop(img, size) + five_crop((vflip if vertical_flip else hflip)(img), size)


def hflip(img: Any) -> Any:
    """The image with left and right exchanged."""
    return F_pil.flip(img, "FLIP_LEFT_RIGHT") if is_pil(img) else img.flip(-1)


def vflip(img: Any) -> Any:
    """The image with top and bottom exchanged."""
    return F_pil.flip(img, "FLIP_TOP_BOTTOM") if is_pil(img) else img.flip(-2)


# ------------------------------------------------------------------------------------------------------------- colors


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """0 is black, 1 the image, 2 twice as bright."""
    if is_pil(img):
        return F_pil.enhanced(img, "Brightness", brightness_factor)
    return F_t.adjust_brightness(img, _not_negative("brightness_factor", brightness_factor))


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """0 is gray, 1 the image."""
    if is_pil(img):
        return F_pil.enhanced(img, "Contrast", contrast_factor)
    return F_t.adjust_contrast(img, _not_negative("contrast_factor", contrast_factor))


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """0 is without color, 1 the image."""
    if is_pil(img):
        return F_pil.enhanced(img, "Color", saturation_factor)
    return F_t.adjust_saturation(img, _not_negative("saturation_factor", saturation_factor))


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """The colors moved around their circle, from -0.5 to 0.5 of it. ValueError outside."""
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    return (F_pil if is_pil(img) else F_t).adjust_hue(img, hue_factor)


def adjust_gamma(img: Any, gamma: float, gain: float = 1) -> Any:
    """`gain` times the image to the power of `gamma`, as parts of full intensity."""
    _not_negative("gamma", gamma)
    return (F_pil if is_pil(img) else F_t).adjust_gamma(img, gamma, gain)


def _not_negative(name: str, factor: float) -> float:
    if factor < 0:
        raise ValueError(f"{name} ({factor}) is not non-negative.")
    return factor


def to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """An image of PIL without color. TypeError for a tensor: see `rgb_to_grayscale`."""
    if not is_pil(img):
        raise TypeError("Input should be PIL Image")
    return F_pil.gray(img, num_output_channels)


def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The image without color, in 1 or 3 channels."""
    return (F_pil if is_pil(img) else F_t).gray(img, num_output_channels)


def invert(img: Any) -> Any:
    """Each number subtracted from that of full intensity."""
    if is_pil(img):
        return pillow("ImageOps").invert(img)
    full = F_t.largest(img.dtype)
    return (full if F_t.is_floating(img) else int(full)) - img


def posterize(img: Any, bits: int) -> Any:
    """Bytes with only their highest `bits` bits."""
    if is_pil(img):
        return pillow("ImageOps").posterize(img, bits)
    if img.dtype.name != "uint8":
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {img.dtype}")
    return img & -int(2 ** (8 - bits)) % 256


def solarize(img: Any, threshold: float) -> Any:
    """The image with numbers from `threshold` on inverted."""
    if is_pil(img):
        return pillow("ImageOps").solarize(img, threshold)
    return invert(img).where(img >= threshold, img)


def erase(img: Tensor, i: int, j: int, h: int, w: int, v: Tensor, inplace: bool = False) -> Tensor:
    """The tensor with `v` in a rectangle of `h` by `w` from row `i` and column `j` on."""
    if not isinstance(img, Tensor):
        raise TypeError(f"Expected PIL Image or Tensor. Got {type(img)}: convert it first")
    out = img if inplace else img.clone()
    out[..., i : i + h, j : j + w] = v
    return out


# -------------------------------------------------------------------------------------------------- places and means


def gaussian_blur(img: Any, kernel_size: Any, sigma: Any = None) -> Any:
    """The image with each pixel a mean of those around it: `kernel_size` (x, y) pixels, weighted by a bell of width
    `sigma` (default 0.15 of the size, and 0.35)."""
    sizes = [kernel_size] * 2 if isinstance(kernel_size, int) else list(kernel_size)
    if len(sizes) != 2 or any(size % 2 == 0 or size < 0 for size in sizes):
        raise ValueError(f"kernel_size should have odd and positive integers. Got {sizes}")
    widths = [size * 0.15 + 0.35 for size in sizes] if sigma is None else sigma
    widths = [float(widths)] * 2 if isinstance(widths, (int, float)) else list(widths) * (2 // len(widths))
    if any(width <= 0.0 for width in widths):
        raise ValueError(f"sigma should have positive values. Got {widths}")
    given = pil_to_tensor(img) if is_pil(img) else img
    out = F_t.gaussian_blur(given, sizes, widths)
    return to_pil_image(out, mode=img.mode) if is_pil(img) else out


def rotate(
    img: Any,
    angle: float,
    interpolation: Any = _NEAREST,
    expand: bool = False,
    center: Sequence[float] | None = None,
    fill: Any = None,
) -> Any:
    """The image turned by `angle` degrees against the clock around `center` (x, y; default: the middle); with `expand`
    as large as all of it needs. `fill` (default 0) is outside."""
    mode = checked_mode(interpolation)
    if is_pil(img):
        return F_pil.rotate(img, angle, PIL_MODES[mode], expand, center, fill)
    middle = _from_middle(img, center)
    matrix = inverse_affine(middle, -angle, (0.0, 0.0), 1.0, (0.0, 0.0))
    return F_t.affine(img, matrix, tensor_mode(mode, "nearest", "bilinear"), _colors(fill, img), expand)


def affine(
    img: Any,
    angle: float,
    translate: Sequence[int],
    scale: float,
    shear: Any,
    interpolation: Any = _NEAREST,
    fill: Any = None,
    center: Sequence[float] | None = None,
) -> Any:
    """The image turned with the clock by `angle`, sheared by degrees in x and y, scaled around `center`, and moved."""
    if scale <= 0.0:
        raise ValueError("Argument scale should be positive")
    if len(translate) != 2:
        raise ValueError("Argument translate should be a sequence of length 2")
    mode = checked_mode(interpolation)
    shears: list[Any] = [shear, 0.0] if isinstance(shear, numbers.Number) else [*shear, 0.0][:2]
    if is_pil(img):
        width, height = img.size
        middle = [width * 0.5, height * 0.5] if center is None else center
        return F_pil.affine(img, inverse_affine(middle, angle, translate, scale, shears), PIL_MODES[mode], fill)
    matrix = inverse_affine(_from_middle(img, center), angle, translate, scale, shears)
    return F_t.affine(img, matrix, tensor_mode(mode, "nearest", "bilinear"), _colors(fill, img))


def _from_middle(img: Tensor, center: Sequence[float] | None) -> Sequence[float]:
    return (0.0, 0.0) if center is None else [c - 0.5 * s for c, s in zip(center, get_image_size(img), strict=True)]


def _colors(fill: Any, img: Tensor) -> list[float] | None:
    if fill is None:
        return None
    given = [float(fill)] if isinstance(fill, (int, float)) else [float(value) for value in fill]
    channels = img.shape[-3]
    if len(given) not in (1, channels):
        raise ValueError(
            "The number of elements in 'fill' cannot broadcast to match the number of channels of the image "
            f"({len(given)} != {channels})"
        )
    return given * channels if len(given) == 1 else given
