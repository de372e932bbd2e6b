"""Functions that PyTorch has for floating-point numbers only."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

#: Functions of floating-point numbers alone (others compute integers in the default type), and PyTorch's name of them.
KERNELS = {
    "gelu": "GeluKernelImpl", "silu": "silu_cpu", "elu": "elu_cpu", "selu": "elu_cpu", "celu": "elu_cpu",
    "leaky_relu": "leaky_relu_cpu", "mish": "mish_cpu", "softplus": "softplus_cpu", "hardswish": "hardswish_cpu",
    "hardsigmoid": "hardsigmoid_cpu", "logsigmoid": "log_sigmoid_cpu", "glu": "glu_cpu", "frac": "frac_cpu",
}  # fmt: skip


def require_floating(kernel: str, x: Any) -> None:
    """NotImplementedError unless `x` is floating."""
    if not x.dtype.is_floating_point:
        name = x.dtype.title
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{name}'. Convert it first, e.g. with .float().")


def floating_only(function: Callable[..., Any], kernel: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(input: Any, *args: Any, **kwargs: Any) -> Any:
        if not input.dtype.is_complex:  # which the ops that have no order for them refuse
            require_floating(kernel, input)
        return function(input, *args, **kwargs)

    return called
