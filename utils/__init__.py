"""Utilities under PyTorch's paths: ``utils.data``."""

from __future__ import annotations

from . import data

__all__ = ["data"]
