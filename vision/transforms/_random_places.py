"""Random turns, shifts and shears."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from ...nn import Module
from ...tensors.tensor import Tensor
from . import functional as F
from ._modes import InterpolationMode, checked_mode
from ._random import uniform

_NEAREST = InterpolationMode.NEAREST


def _range(name: str, value: Any, sizes: tuple[int, ...] = (2,)) -> list[float]:
    """Bounds from one number (-x to x), or as they are given."""
    if isinstance(value, numbers.Number):
        if value < 0:  # type: ignore[operator]
            raise ValueError(f"If {name} is a single number, it must be positive.")
        return [-float(value), float(value)]  # type: ignore[arg-type]
    if not isinstance(value, Sequence):
        raise TypeError(f"{name} should be a sequence of length {' or '.join(map(str, sizes))}.")
    if len(value) not in sizes:
        raise ValueError(f"{name} should be a sequence of length {' or '.join(map(str, sizes))}.")
    return [float(bound) for bound in value]


def _fill_for(img: Any, fill: Any) -> Any:
    """What is outside: for tensors one number for each channel."""
    if not isinstance(img, Tensor):
        return fill
    return [float(fill)] * img.shape[-3] if isinstance(fill, (int, float)) else [float(value) for value in fill]


class RandomRotation(Module):
    """The image turned by a random angle; see `functional.rotate`."""

    def __init__(
        self, degrees: Any, interpolation: Any = _NEAREST, expand: bool = False, center: Any = None, fill: Any = 0
    ) -> None:
        super().__init__()
        self.degrees = _range("degrees", degrees)
        self.interpolation = checked_mode(interpolation)
        self.expand = expand
        self.center = center
        self.fill = 0 if fill is None else fill

    @staticmethod
    def get_params(degrees: Sequence[float]) -> float:
        """A random angle."""
        return uniform(degrees[0], degrees[1])

    def forward(self, img: Any) -> Any:
        fill = _fill_for(img, self.fill)
        return F.rotate(img, self.get_params(self.degrees), self.interpolation, self.expand, self.center, fill)

    def __repr__(self) -> str:
        options = f"degrees={self.degrees}, interpolation={self.interpolation.value}, expand={self.expand}"
        more = "" if self.center is None else f", center={self.center}"
        return f"{type(self).__name__}({options}{more}, fill={self.fill})"


class RandomAffine(Module):
    """The image turned, moved, scaled and sheared by random numbers; see `functional.affine`.

    `translate` are parts of width and height, `scale` bounds of a factor, `shear` bounds of degrees in x, and in y.
    """

    def __init__(
        self,
        degrees: Any,
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: Any = None,
        interpolation: Any = _NEAREST,
        fill: Any = 0,
        center: Any = None,
    ) -> None:
        super().__init__()
        self.degrees = _range("degrees", degrees)
        if translate is not None and not all(0.0 <= part <= 1.0 for part in translate):
            raise ValueError("translation values should be between 0 and 1")
        if scale is not None and any(factor <= 0 for factor in scale):
            raise ValueError("scale values should be positive")
        self.translate = translate
        self.scale = scale
        self.shear = None if shear is None else _range("shear", shear, (2, 4))
        self.interpolation = checked_mode(interpolation)
        self.fill = 0 if fill is None else fill
        self.center = center

    @staticmethod
    def get_params(
        degrees: Sequence[float],
        translate: Sequence[float] | None,
        scale_ranges: Sequence[float] | None,
        shears: Sequence[float] | None,
        img_size: Sequence[int],
    ) -> tuple[float, tuple[int, int], float, tuple[float, float]]:
        """A random angle, shift, factor and pair of shears for an image of that (width, height)."""
        angle, moved, factor, shear = uniform(degrees[0], degrees[1]), (0, 0), 1.0, (0.0, 0.0)
        if translate is not None:
            most_x, most_y = float(translate[0] * img_size[0]), float(translate[1] * img_size[1])
            moved = round(uniform(-most_x, most_x)), round(uniform(-most_y, most_y))
        if scale_ranges is not None:
            factor = uniform(scale_ranges[0], scale_ranges[1])
        if shears is not None:
            x = uniform(shears[0], shears[1])
            shear = x, uniform(shears[2], shears[3]) if len(shears) == 4 else 0.0
        return angle, moved, factor, shear

    def forward(self, img: Any) -> Any:
        fill = _fill_for(img, self.fill)
        numbers_ = self.get_params(self.degrees, self.translate, self.scale, self.shear, F.get_image_size(img))
        return F.affine(img, *numbers_, interpolation=self.interpolation, fill=fill, center=self.center)

    def __repr__(self) -> str:
        given = {"translate": self.translate, "scale": self.scale, "shear": self.shear, "center": self.center}
        parts = [f"degrees={self.degrees}", *(f"{name}={value}" for name, value in given.items() if value is not None)]
        if self.interpolation is not _NEAREST:
            parts.append(f"interpolation={self.interpolation.value}")
        return f"{type(self).__name__}({', '.join(parts)})"
