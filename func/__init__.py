"""``tracegrad.func``: derivatives of functions as functions, maps over batches, and modules as functions."""

from __future__ import annotations

from .derivatives import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from .functionalizing import functionalize
from .mapping import vmap
from .modules import functional_call, replace_all_batch_norm_modules_, stack_module_state

__all__ = [
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
