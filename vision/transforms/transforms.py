"""All transforms, under torchvision's path."""

from __future__ import annotations

from ._modes import InterpolationMode
from ._plain import (
    CenterCrop,
    Compose,
    ConvertImageDtype,
    FiveCrop,
    Grayscale,
    Lambda,
    Normalize,
    Pad,
    PILToTensor,
    RandomApply,
    RandomChoice,
    RandomOrder,
    RandomTransforms,
    Resize,
    TenCrop,
    ToPILImage,
    ToTensor,
)
from ._random import (
    ColorJitter,
    GaussianBlur,
    RandomCrop,
    RandomErasing,
    RandomGrayscale,
    RandomHorizontalFlip,
    RandomInvert,
    RandomPosterize,
    RandomResizedCrop,
    RandomSolarize,
    RandomVerticalFlip,
)
from ._random_places import RandomAffine, RandomRotation

__all__ = [
    "CenterCrop", "ColorJitter", "Compose", "ConvertImageDtype", "FiveCrop", "GaussianBlur", "Grayscale",
    "InterpolationMode", "Lambda", "Normalize", "PILToTensor", "Pad", "RandomAffine", "RandomApply", "RandomChoice",
    "RandomCrop", "RandomErasing", "RandomGrayscale", "RandomHorizontalFlip", "RandomInvert", "RandomOrder",
    "RandomPosterize", "RandomResizedCrop", "RandomRotation", "RandomSolarize", "RandomTransforms",
    "RandomVerticalFlip", "Resize", "TenCrop", "ToPILImage", "ToTensor",
]  # fmt: skip
