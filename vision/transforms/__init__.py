"""Transforms of images: of PIL's, and of tensors."""

from __future__ import annotations

from . import functional, transforms
from .transforms import *  # noqa: F403

__all__ = [*transforms.__all__, "functional", "transforms"]
