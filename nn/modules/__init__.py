"""PyTorch's path of the layers: ``nn.modules``."""

from __future__ import annotations

from . import module
from .module import Module

__all__ = ["Module", "module"]
