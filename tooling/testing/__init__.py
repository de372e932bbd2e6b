"""``tracegrad.testing``: comparing tensors in tests, and making tensors for them."""

from __future__ import annotations

from .comparison import assert_allclose, assert_close
from .creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
