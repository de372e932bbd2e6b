"""Images: the parts of torchvision that are Python, under its names: data sets in files, transforms, models, pictures.

``import tracegrad.vision as torchvision`` is all that a program changes. Images are PIL's (the extra `vision` installs
Pillow) or tensors; what tensors alone need, Pillow is not asked for. Nothing is downloaded.
"""

from __future__ import annotations

from . import datasets, models, transforms, utils

__all__ = ["datasets", "get_image_backend", "models", "set_image_backend", "transforms", "utils"]

__version__ = "0.28.0"


def set_image_backend(backend: str) -> None:
    """Say which library reads images: "PIL" is the only one here. ValueError for any other name."""
    if backend != "PIL":
        raise ValueError(f"Invalid backend '{backend}'. Options are 'PIL': images are read by Pillow here.")


def get_image_backend() -> str:
    """The library that reads images: "PIL"."""
    return "PIL"
