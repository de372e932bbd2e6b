"""Transforms that draw random numbers: those that torchvision draws, from the default generator, in its order."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...functional.sampling import rand, randint, randn, randperm
from ...nn import Module
from ...ops.types import float32
from ...tensors.creation import as_tensor, empty
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_user
from . import functional as F
from ._modes import InterpolationMode, checked_mode
from ._sizes import setup_size

_BILINEAR, _NEAREST = InterpolationMode.BILINEAR, InterpolationMode.NEAREST
_SIZE_ERROR = "Please provide only two dimensions (h, w) for size."


def uniform(low: float, high: float) -> float:
    """One float32 number between the bounds."""
    return empty(1).uniform_(float(low), float(high)).item()


def below(bound: int) -> int:
    """One integer from 0 on."""
    return int(randint(0, bound, (1,)).item())


def happens(p: float) -> bool:
    """True with that probability."""
    return rand(1).item() < p


class _WithProbability(Module):
    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={self.p})"


class RandomHorizontalFlip(_WithProbability):
    """Left and right exchanged with probability `p`."""

    def forward(self, img: Any) -> Any:
        return F.hflip(img) if happens(self.p) else img


class RandomVerticalFlip(_WithProbability):
    """Top and bottom exchanged with probability `p`."""

    def forward(self, img: Any) -> Any:
        return F.vflip(img) if happens(self.p) else img


class RandomInvert(_WithProbability):
    """The image's numbers inverted with probability `p`."""

    def forward(self, img: Any) -> Any:
        return F.invert(img) if happens(self.p) else img


class RandomGrayscale(_WithProbability):
    """The image without color, in as many channels, with probability `p`."""

    def __init__(self, p: float = 0.1) -> None:
        super().__init__(p)

    def forward(self, img: Any) -> Any:
        channels = F.get_image_num_channels(img)
        return F.rgb_to_grayscale(img, num_output_channels=channels) if happens(self.p) else img


class RandomPosterize(Module):
    """Bytes with only their highest bits, with probability `p`."""

    def __init__(self, bits: int, p: float = 0.5) -> None:
        super().__init__()
        self.bits = bits
        self.p = p

    def forward(self, img: Any) -> Any:
        return F.posterize(img, self.bits) if happens(self.p) else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(bits={self.bits},p={self.p})"


class RandomSolarize(Module):
    """Numbers from `threshold` on inverted, with probability `p`."""

    def __init__(self, threshold: float, p: float = 0.5) -> None:
        super().__init__()
        self.threshold = threshold
        self.p = p

    def forward(self, img: Any) -> Any:
        return F.solarize(img, self.threshold) if happens(self.p) else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(threshold={self.threshold},p={self.p})"


class RandomCrop(Module):
    """A part of that size from a random place of the image, which is padded first: by `padding`, and, with
    `pad_if_needed`, where it is too small. ValueError where it is too small otherwise."""

    def __init__(
        self, size: Any, padding: Any = None, pad_if_needed: bool = False, fill: Any = 0, padding_mode: str = "constant"
    ) -> None:
        super().__init__()
        self.size = tuple(setup_size(size, error_msg=_SIZE_ERROR))
        self.padding = padding
        self.pad_if_needed = pad_if_needed
        self.fill = fill
        self.padding_mode = padding_mode

    @staticmethod
    def get_params(img: Any, output_size: Sequence[int]) -> tuple[int, int, int, int]:
        """Top, left, height and width of a random part."""
        _, height, width = F.get_dimensions(img)
        high, wide = output_size
        if height < high or width < wide:
            raise ValueError(f"Required crop size {(high, wide)} is larger than input image size {(height, width)}")
        if (width, height) == (wide, high):
            return 0, 0, height, width
        top = below(height - high + 1)
        return top, below(width - wide + 1), high, wide

    def forward(self, img: Any) -> Any:
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        _, height, width = F.get_dimensions(img)
        if self.pad_if_needed and width < self.size[1]:
            img = F.pad(img, [self.size[1] - width, 0], self.fill, self.padding_mode)
        if self.pad_if_needed and height < self.size[0]:
            img = F.pad(img, [0, self.size[0] - height], self.fill, self.padding_mode)
        return F.crop(img, *self.get_params(img, self.size))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, padding={self.padding})"


class RandomResizedCrop(Module):
    """A random part of the image, of an area and a ratio of width to height in the given bounds, in another size."""

    def __init__(
        self,
        size: Any,
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Any = _BILINEAR,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        self.size = setup_size(size, error_msg=_SIZE_ERROR)
        _check_ranges(scale, ratio)
        self.interpolation = checked_mode(interpolation)
        self.antialias = antialias
        self.scale = scale
        self.ratio = ratio

    @staticmethod
    def get_params(img: Any, scale: Sequence[float], ratio: Sequence[float]) -> tuple[int, int, int, int]:
        """Top, left, height and width of a random part; the middle, if ten that are drawn do not fit."""
        _, height, width = F.get_dimensions(img)
        for _ in range(10):
            area, aspect = _area_and_ratio(height * width, scale, ratio)
            wide, high = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if 0 < wide <= width and 0 < high <= height:
                top = below(height - high + 1)
                return top, below(width - wide + 1), high, wide
        high, wide = height, width
        if width / height < min(ratio):
            high = round(width / min(ratio))
        elif width / height > max(ratio):
            wide = round(height * max(ratio))
        return (height - high) // 2, (width - wide) // 2, high, wide

    def forward(self, img: Any) -> Any:
        part = self.get_params(img, self.scale, self.ratio)
        return F.resized_crop(img, *part, self.size, self.interpolation, antialias=self.antialias)

    def __repr__(self) -> str:
        bounds = f"scale={tuple(round(s, 4) for s in self.scale)}, ratio={tuple(round(r, 4) for r in self.ratio)}"
        options = f"interpolation={self.interpolation.value}, antialias={self.antialias}"
        return f"{type(self).__name__}(size={self.size}, {bounds}, {options})"


def _check_ranges(scale: Any, ratio: Any) -> None:
    for name, value in (("Scale", scale), ("Ratio", ratio)):
        if not isinstance(value, Sequence):
            raise TypeError(f"{name} should be a sequence")
    if scale[0] > scale[1] or ratio[0] > ratio[1]:
        warn_user("Scale and ratio should be of kind (min, max)")


def _area_and_ratio(whole: int, scale: Sequence[float], ratio: Sequence[float]) -> tuple[float, float]:
    area = whole * uniform(scale[0], scale[1])
    low, high = np.log(np.array(ratio, np.float32))
    return area, float(np.exp(np.float32(uniform(low, high))))


class RandomErasing(Module):
    """A random rectangle of a tensor overwritten with probability `p`: by `value`, a number or one for each channel, or
    by normal numbers ("random")."""

    def __init__(
        self,
        p: float = 0.5,
        scale: Sequence[float] = (0.02, 0.33),
        ratio: Sequence[float] = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
    ) -> None:
        super().__init__()
        if not isinstance(value, (numbers.Number, str, tuple, list)):
            raise TypeError("Argument value should be either a number or str or a sequence")
        if isinstance(value, str) and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        _check_ranges(scale, ratio)
        if scale[0] < 0 or scale[1] > 1:
            raise ValueError("Scale should be between 0 and 1")
        if p < 0 or p > 1:
            raise ValueError("Random erasing probability should be between 0 and 1")
        self.p = p
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    @staticmethod
    def get_params(
        img: Tensor, scale: Sequence[float], ratio: Sequence[float], value: Sequence[float] | None = None
    ) -> tuple[Any, ...]:
        """Row, column, height, width and numbers of a random rectangle; the image itself, if ten do not fit."""
        channels, height, width = img.shape[-3:]
        for _ in range(10):
            area, aspect = _area_and_ratio(height * width, scale, ratio)
            high, wide = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if not (high < height and wide < width):
                continue
            if value is None:
                numbers_ = randn(channels, high, wide, dtype=float32)
            else:
                numbers_ = as_tensor(value).reshape(-1, 1, 1)
            top = below(height - high + 1)
            return top, below(width - wide + 1), high, wide, numbers_
        return 0, 0, height, width, img

    def forward(self, img: Tensor) -> Tensor:
        if not happens(self.p):
            return img
        value: Any = None if self.value == "random" else self.value
        if isinstance(value, numbers.Number):
            value = [float(value)]  # type: ignore[arg-type]
        if value is not None and len(value) not in (1, img.shape[-3]):
            raise ValueError(
                "If value is a sequence, it should have either a single value or "
                f"{img.shape[-3]} (number of input channels)"
            )
        i, j, h, w, v = self.get_params(img, self.scale, self.ratio, value)
        return F.erase(img, i, j, h, w, v, self.inplace)

    def __repr__(self) -> str:
        bounds = f"p={self.p}, scale={self.scale}, ratio={self.ratio}"
        return f"{type(self).__name__}({bounds}, value={self.value}, inplace={self.inplace})"


class GaussianBlur(Module):
    """The image blurred by a bell whose width is drawn between two bounds."""

    def __init__(self, kernel_size: Any, sigma: Any = (0.1, 2.0)) -> None:
        super().__init__()
        self.kernel_size = setup_size(kernel_size, "Kernel size should be a tuple/list of two integers")
        if any(size <= 0 or size % 2 == 0 for size in self.kernel_size):
            raise ValueError("Kernel size value should be an odd and positive number.")
        if isinstance(sigma, numbers.Number):
            if sigma <= 0:  # type: ignore[operator]
                raise ValueError("If sigma is a single number, it must be positive.")
            sigma = (sigma, sigma)
        elif not 0.0 < sigma[0] <= sigma[1]:
            raise ValueError(f"sigma values should be positive and of the form (min, max). Got {sigma}")
        self.sigma = sigma

    @staticmethod
    def get_params(sigma_min: float, sigma_max: float) -> float:
        """A random width."""
        return uniform(sigma_min, sigma_max)

    def forward(self, img: Any) -> Any:
        width = self.get_params(*self.sigma)
        return F.gaussian_blur(img, self.kernel_size, [width, width])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(kernel_size={self.kernel_size}, sigma={self.sigma})"


class ColorJitter(Module):
    """Brightness, contrast, saturation and hue changed by random factors, in random order.

    Each is a bound b for factors from 1 - b to 1 + b (hue: -b to b), or both bounds.
    """

    def __init__(self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0) -> None:
        super().__init__()
        self.brightness = _factors("brightness", brightness)
        self.contrast = _factors("contrast", contrast)
        self.saturation = _factors("saturation", saturation)
        self.hue = _factors("hue", hue, center=0, bound=(-0.5, 0.5))

    @staticmethod
    def get_params(brightness: Any, contrast: Any, saturation: Any, hue: Any) -> tuple[Any, ...]:
        """The order, and the four factors; None for what does not change."""
        order = randperm(4)
        return order, *(
            None if bounds is None else uniform(*bounds) for bounds in (brightness, contrast, saturation, hue)
        )

    def forward(self, img: Any) -> Any:
        order, *factors = self.get_params(self.brightness, self.contrast, self.saturation, self.hue)
        functions = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
        for i in order.tolist():
            if factors[i] is not None:
                img = functions[i](img, factors[i])
        return img

    def __repr__(self) -> str:
        options = f"brightness={self.brightness}, contrast={self.contrast}"
        return f"{type(self).__name__}({options}, saturation={self.saturation}, hue={self.hue})"


def _factors(name: str, value: Any, center: float = 1, bound: tuple[float, float] = (0, math.inf)) -> Any:
    if isinstance(value, numbers.Number):
        if value < 0:  # type: ignore[operator]
            raise ValueError(f"If {name} is a single number, it must be non negative.")
        low = center - float(value)  # type: ignore[arg-type]
        value = [low if name == "hue" else max(low, 0.0), center + float(value)]  # type: ignore[arg-type]
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        value = [float(value[0]), float(value[1])]
    else:
        raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
    if not bound[0] <= value[0] <= value[1] <= bound[1]:
        raise ValueError(f"{name} values should be between {bound}, but got {value}.")
    return None if value[0] == value[1] == center else tuple(value)
