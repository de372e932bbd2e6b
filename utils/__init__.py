"""Utilities under PyTorch's paths: ``utils.data``, ``utils.checkpoint``, ``utils.benchmark`` and others.

``utils.tensorboard`` needs the package tensorboard, and is imported by who wants it.
"""

from __future__ import annotations

from . import backcompat, checkpoint, collect_env, data, deterministic, dlpack, model_zoo
from .swapping import swap_tensors

__all__ = [
    "backcompat",
    "benchmark",
    "checkpoint",
    "collect_env",
    "data",
    "deterministic",
    "dlpack",
    "model_zoo",
    "swap_tensors",
]
