"""Eager mode: tensors, the tape, grad modes, and ``tracegrad.autograd``'s functions."""

from __future__ import annotations

from .grad_mode import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from .reverse import backward, grad

__all__ = ["backward", "enable_grad", "grad", "inference_mode", "is_grad_enabled", "no_grad", "set_grad_enabled"]
