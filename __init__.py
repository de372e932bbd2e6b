"""tracegrad: PyTorch's names and eager semantics on numpy, and ``compile`` for whole training steps in fused C."""

from __future__ import annotations

from .autograd.tensor import Size, Tensor

__all__ = ["Size", "Tensor"]
__version__ = "0.1.0"
