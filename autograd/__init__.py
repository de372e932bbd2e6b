"""Eager mode: tensors, the tape, grad modes, and ``tracegrad.autograd``'s functions."""

from __future__ import annotations

from ..tape.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from ..tape.reverse import backward as _backward
from ..tape.reverse import grad as _grad
from ..tensors.operands import overridable
from . import forward_ad, functional, graph, profiler
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function, FunctionCtx, once_differentiable
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .variable import Variable, variable

__all__ = [
    "Function",
    "FunctionCtx",
    "GradcheckError",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "once_differentiable",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]


backward = overridable(_backward, "tracegrad.autograd.backward")
grad = overridable(_grad, "tracegrad.autograd.grad")
