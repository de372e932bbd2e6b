"""Transforms without random numbers, and lists of transforms."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from ...functional.sampling import rand
from ...nn import Module, ModuleList
from ...ops.types import DType
from ...tensors.tensor import Tensor
from . import functional as F
from ._modes import InterpolationMode, checked_mode
from ._sizes import setup_size

_BILINEAR = InterpolationMode.BILINEAR
_SIZE_ERROR = "Please provide only two dimensions (h, w) for size."


class Compose:
    """Transforms one after the other.

    >>> import numpy
    >>> transform = Compose([ToTensor(), Normalize(0.5, 0.5)])
    >>> transform(numpy.full((1, 1), 255, numpy.uint8))
    tensor([[[1.]]])
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, img: Any) -> Any:
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        return _listed(self, self.transforms)


def _listed(whole: Any, parts: Sequence[Any]) -> str:
    return "\n".join([f"{type(whole).__name__}(", *(f"    {part}" for part in parts), ")"])


class ToTensor:
    """An image of PIL, or an array, as a tensor: bytes as float32 from 0 to 1; see `functional.to_tensor`."""

    def __call__(self, pic: Any) -> Tensor:
        return F.to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class PILToTensor(ToTensor):
    """An image of PIL as a tensor of its own type."""

    def __call__(self, pic: Any) -> Tensor:
        return F.pil_to_tensor(pic)


class ToPILImage:
    """A tensor or an array as an image of PIL; see `functional.to_pil_image`."""

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        return F.to_pil_image(pic, self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class Lambda:
    """A function of the program's. TypeError if it is none."""

    def __init__(self, lambd: Callable[[Any], Any]) -> None:
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        return self.lambd(img)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ConvertImageDtype(Module):
    """A tensor in another type, scaled; see `functional.convert_image_dtype`."""

    def __init__(self, dtype: DType) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, image: Tensor) -> Tensor:
        return F.convert_image_dtype(image, self.dtype)


class Normalize(Module):
    """Each channel less its mean, divided by its deviation."""

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def forward(self, tensor: Tensor) -> Tensor:
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mean={self.mean}, std={self.std})"


class Resize(Module):
    """The image in another size; see `functional.resize`."""

    def __init__(
        self,
        size: Any,
        interpolation: Any = _BILINEAR,
        max_size: int | None = None,
        antialias: bool | None = True,
    ) -> None:
        super().__init__()
        if not isinstance(size, (int, list, tuple)):
            raise TypeError(f"Size should be int or sequence. Got {type(size)}")
        if not isinstance(size, int) and len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        self.size = size
        self.max_size = max_size
        self.interpolation = checked_mode(interpolation)
        self.antialias = antialias

    def forward(self, img: Any) -> Any:
        return F.resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self) -> str:
        options = f"interpolation={self.interpolation.value}, max_size={self.max_size}, antialias={self.antialias}"
        return f"{type(self).__name__}(size={self.size}, {options})"


class CenterCrop(Module):
    """The middle of the image."""

    def __init__(self, size: Any) -> None:
        super().__init__()
        self.size = setup_size(size, error_msg=_SIZE_ERROR)

    def forward(self, img: Any) -> Any:
        return F.center_crop(img, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class Pad(Module):
    """The image with more pixels; see `functional.pad`."""

    def __init__(self, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> None:
        super().__init__()
        if not isinstance(padding, (int, tuple, list)):
            raise TypeError("Got inappropriate padding arg")
        if padding_mode not in ("constant", "edge", "reflect", "symmetric"):
            raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
        if not isinstance(padding, int) and len(padding) not in (1, 2, 4):
            raise ValueError(
                f"Padding must be an int or a 1, 2, or 4 element tuple, not a {len(padding)} element tuple"
            )
        self.padding = padding
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img: Any) -> Any:
        return F.pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(padding={self.padding}, fill={self.fill}, padding_mode={self.padding_mode})"


class FiveCrop(Module):
    """The four corners and the middle of the image, as a tuple."""

    def __init__(self, size: Any) -> None:
        super().__init__()
        self.size = setup_size(size, error_msg=_SIZE_ERROR)

    def forward(self, img: Any) -> Any:
        return F.five_crop(img, self.size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size})"


class TenCrop(Module):
    """`FiveCrop` of the image and of its mirror image, as a tuple."""

    def __init__(self, size: Any, vertical_flip: bool = False) -> None:
        super().__init__()
        self.size = setup_size(size, error_msg=_SIZE_ERROR)
        self.vertical_flip = vertical_flip

    def forward(self, img: Any) -> Any:
        return F.ten_crop(img, self.size, self.vertical_flip)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(size={self.size}, vertical_flip={self.vertical_flip})"


class Grayscale(Module):
    """The image without color, in 1 or 3 channels."""

    def __init__(self, num_output_channels: int = 1) -> None:
        super().__init__()
        self.num_output_channels = num_output_channels

    def forward(self, img: Any) -> Any:
        return F.rgb_to_grayscale(img, self.num_output_channels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_output_channels={self.num_output_channels})"


class RandomTransforms:
    """A list of transforms, of which a subclass makes something. TypeError for what is no sequence."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        if not isinstance(transforms, Sequence):
            raise TypeError("Argument transforms should be a sequence")
        self.transforms = transforms

    def __call__(self, *args: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        return _listed(self, self.transforms)


class RandomChoice(RandomTransforms):
    """One of the transforms, by Python's random numbers; `p` are weights."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]], p: Sequence[float] | None = None) -> None:
        super().__init__(transforms)
        if p is not None and not isinstance(p, Sequence):
            raise TypeError("Argument p should be a sequence")
        self.p = p

    def __call__(self, *args: Any) -> Any:
        return random.choices(self.transforms, weights=self.p)[0](*args)

    def __repr__(self) -> str:
        return f"{super().__repr__()}(p={self.p})"


class RandomOrder(RandomTransforms):
    """All of the transforms, in an order by Python's random numbers."""

    def __call__(self, img: Any) -> Any:
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for i in order:
            img = self.transforms[i](img)
        return img


class RandomApply(Module):
    """All of the transforms with probability `p`, none otherwise."""

    def __init__(self, transforms: Sequence[Any] | ModuleList, p: float = 0.5) -> None:
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, img: Any) -> Any:
        if self.p < rand(1).item():
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self) -> str:
        transforms = [f"    {transform}" for transform in self.transforms]
        return "\n".join([f"{type(self).__name__}(", f"    p={self.p}", *transforms, ")"])
