"""What loaders are made of, under PyTorch's names."""

from __future__ import annotations

from . import collate, fetch, pin_memory, worker
from .exceptions import ExceptionWrapper
from .worker import MP_STATUS_CHECK_INTERVAL

__all__ = ["MP_STATUS_CHECK_INTERVAL", "ExceptionWrapper", "collate", "fetch", "pin_memory", "worker"]
