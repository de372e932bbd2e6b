"""``tracegrad.cuda.amp``: PyTorch's older names, for a device that is not there. They warn and do nothing."""

# ruff: noqa: F401 (what is imported is offered)

from __future__ import annotations

from . import autocast_mode, common, grad_scaler
from .autocast_mode import autocast, custom_bwd, custom_fwd
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]
