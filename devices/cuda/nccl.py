"""``tracegrad.cuda.nccl``: not there."""

from __future__ import annotations

from typing import Any

from ...tracing.user_warning import warn_user
from ..answers import refusing

version = refusing("version", AttributeError, "module 'torch._C' has no attribute '_nccl_version': there is no NCCL")


def is_available(tensors: Any) -> bool:
    """False, with PyTorch's warning."""
    warn_user("PyTorch is not compiled with NCCL support")
    return False
