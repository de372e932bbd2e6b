"""What PyTorch does not differentiate: results whose derivative is an error, and arguments that may have none."""

from __future__ import annotations

from typing import Any

from ...autograd.function import Operation
from ...ops.core import NotImplementedRule
from ...ops.types import FLOATING
from ...tape.grad_mode import is_grad_enabled
from ...tape.tangents import is_differentiated
from ...tensors.composite import relabel
from ...tensors.tensor import Tensor

#: The name of nodes for which PyTorch has no class.
NOT_IMPLEMENTED = "NotImplemented"


class _Refused(Operation):
    """Numbers without a derivative."""

    @staticmethod
    def forward(ctx: Any, message: str, count: int, *tensors: Any) -> Any:
        ctx.message = message
        return tuple(x.clone() for x in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        return NotImplementedRule(ctx.message)(cotangents)


def refusing_derivatives(
    operator: str, results: tuple[Any, ...], operands: Any, title: str = NOT_IMPLEMENTED
) -> tuple[Any, ...]:
    """`results`, computed of `operands` by PyTorch's `operator`: they require a gradient where these do, and a backward
    pass that comes to them is a NotImplementedError. PyTorch calls their node `title`."""
    tensors = [x for x in operands if isinstance(x, Tensor)]
    if not any(is_differentiated(x) for x in tensors):
        return results
    called = f"derivative for aten::{operator}" if title == NOT_IMPLEMENTED else f"the derivative for '{operator}'"
    message = f"{called} is not implemented. Give it operands that are detached: x.detach()."
    floating = [x for x in results if x.dtype.category >= FLOATING]
    refusing = iter(_Refused.apply(message, len(floating), *floating, *tensors))
    out = tuple(next(refusing) if x.dtype.category >= FLOATING else x for x in results)
    for x in out:
        relabel(x, title, tensors)
    return out


def require_constants(function: str, **arguments: Any) -> None:
    """RuntimeError if one of the `arguments` by which PyTorch does not differentiate `function` requires a gradient."""
    for name, x in arguments.items():
        if isinstance(x, Tensor) and x.requires_grad and is_grad_enabled():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot "
                f"have requires_grad True. Pass {name}.detach()."
            )
