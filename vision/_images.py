"""Pillow, where images are PIL's, and arrays of tensors."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import numpy as np

from ..ops.array import eager
from ..tensors.tensor import Tensor


def pillow(name: str = "Image") -> ModuleType:
    """Pillow's module of that name. ImportError that says how to install it, if it is not there."""
    try:
        return importlib.import_module(f"PIL.{name}")
    except ImportError as error:
        raise ImportError(
            "this needs images of PIL, and Pillow is not installed\n"
            "  Install it with `pip install tracegrad[vision]` (or `pip install pillow`), or use tensors."
        ) from error


def is_pil(value: Any) -> bool:
    """True for an image of PIL; Pillow is not imported to find out."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(value, module.Image)


def array_of(tensor: Tensor, purpose: str) -> np.ndarray:
    """The numbers of a tensor, which are only read."""
    return eager().read(tensor, purpose)
