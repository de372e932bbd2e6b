"""``tracegrad.amp``: automatic mixed precision, as PyTorch has it on a CPU."""

# ruff: noqa: F401 (what is imported is offered)

from __future__ import annotations

from . import autocast_mode, grad_scaler
from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
