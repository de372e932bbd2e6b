"""Eager mode: tensors, the tape, grad modes, and ``tracegrad.autograd``'s functions."""

from __future__ import annotations

from ..tape.grad_mode import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from ..tape.reverse import backward as _backward
from ..tape.reverse import grad as _grad
from ..tensors.creation import as_tensor
from ..tensors.operands import overridable
from . import functional
from .function import Function, FunctionCtx, once_differentiable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function",
    "FunctionCtx",
    "GradcheckError",
    "Variable",
    "backward",
    "enable_grad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "once_differentiable",
    "set_grad_enabled",
]


backward = overridable(_backward, "tracegrad.autograd.backward")
grad = overridable(_grad, "tracegrad.autograd.grad")


def Variable(data: object, requires_grad: bool = False) -> object:
    """PyTorch's old name of a tensor that takes part in autograd: `data` without its history."""
    tensor = as_tensor(data).detach()
    return tensor.requires_grad_() if requires_grad else tensor
