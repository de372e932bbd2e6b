"""What PyTorch does not differentiate: results whose derivative is an error, and arguments that may have none."""

from __future__ import annotations

from typing import Any

from ...autograd.function import Operation
from ...ops.types import FLOATING
from ...tape.grad_mode import is_recording
from ...tape.tangents import is_differentiated
from ...tensors.composite import relabel
from ...tensors.tensor import Tensor

#: The name of nodes for which PyTorch has no class.
NOT_IMPLEMENTED = "NotImplemented"


class _Refused(Operation):
    """Numbers without a derivative."""

    @staticmethod
    def forward(ctx: Any, error: Exception, count: int, *tensors: Any) -> Any:
        ctx.error = error
        return tuple(x.clone() for x in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        raise type(ctx.error)(*ctx.error.args)


def refusing_derivatives(
    operator: str, results: tuple[Any, ...], operands: Any, title: str = NOT_IMPLEMENTED
) -> tuple[Any, ...]:
    """`results`, computed of `operands` by PyTorch's `operator`: they require a gradient where these do, and a backward
    pass that comes to them is a NotImplementedError. PyTorch calls their node `title`."""
    tensors = [x for x in operands if isinstance(x, Tensor)]
    if not any(is_differentiated(x) for x in tensors):
        return results
    called = f"derivative for aten::{operator}" if title == NOT_IMPLEMENTED else f"the derivative for '{operator}'"
    error = NotImplementedError(f"{called} is not implemented. Give it operands that are detached: x.detach().")
    floating = [x for x in results if x.dtype.category >= FLOATING]
    refusing = iter(_Refused.apply(error, len(floating), *floating, *tensors))
    out = tuple(next(refusing) if x.dtype.category >= FLOATING else x for x in results)
    for x in out:
        relabel(x, title, tensors)
    return out


def refusing_mixed_types(result: Any, input: Any, target: Any, title: str) -> Any:
    """`result`, computed of operands of two types: a backward pass that comes to it is a RuntimeError, since PyTorch's
    kernel of the derivative takes one type only."""
    if not (is_differentiated(input) or is_differentiated(target)):
        return result
    wanted, got = (input, target) if is_differentiated(input) else (target, input)
    message = f"Found dtype {got.dtype.title} but expected {wanted.dtype.title}: convert one with .to()"
    return _refusing(result, (input, target), message, title)


def refusing_negative_slope(result: Any, input: Any, name: str, title: str) -> Any:
    """`result`, an activation of `input` that is to be stored there: a backward pass is a RuntimeError where the slope
    left of 0 is negative, since PyTorch tells the sides by the sign of the result."""
    message = (
        f"In-place {name} backward calculation is triggered with a negative slope which is not supported. This is "
        "caused by calling in-place forward function with a negative slope, please call out-of-place version instead."
    )
    return _refusing(result, (input,), message, title) if is_differentiated(input) else result


def _refusing(result: Any, operands: tuple[Any, ...], message: str, title: str) -> Any:
    out = _Refused.apply(RuntimeError(message), 1, result, *operands)[0]
    relabel(out, title, operands)
    return out


def require_constants(function: str, **arguments: Any) -> None:
    """RuntimeError if one of the `arguments` by which PyTorch does not differentiate `function` requires a gradient."""
    for name, x in arguments.items():
        if isinstance(x, Tensor) and x.requires_grad and is_recording():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot "
                f"have requires_grad True. Pass {name}.detach()."
            )
