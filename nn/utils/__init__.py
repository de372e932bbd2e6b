"""Helpers for gradients and parameters: ``nn.utils``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...functional.arithmetic import clamp
from ...functional.joining import cat, stack
from ...functional.reductions import norm
from ...functional.shapes import reshape
from ...ops.array import eager
from ...ops.numbers import computed
from ...tape.grad_mode import no_grad
from ...tensors.composite import part
from ...tensors.creation import zeros
from ...tensors.operands import checked
from ...tensors.tensor import Tensor


def _tensors(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    gradients = (p.grad for p in _tensors(parameters))
    return [gradient for gradient in gradients if gradient is not None]


def _store(target: Tensor, value: Any) -> None:
    eager().write(target, value)


@part
def _norm_of_all(norm_type: float, *tensors: Tensor) -> Tensor:
    return norm(stack([norm(tensor, norm_type) for tensor in tensors]), norm_type)


@no_grad()
def get_total_norm(tensors: Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Tensor:
    """The norm of all tensors' elements together, as a 0-d tensor."""
    tensors = _tensors(tensors)
    if not tensors:
        return zeros(())
    total = _norm_of_all(float(norm_type), *tensors)
    if error_if_nonfinite and not abs(total.item()) < float("inf"):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients, in place, so that their common norm is at most `max_norm`; returns the norm before."""
    gradients = _gradients(parameters)
    total = get_total_norm(gradients, norm_type, error_if_nonfinite)
    factor = clamp(computed(float, max_norm) / (total + 1e-6), max=1.0)
    for gradient in gradients:
        _store(gradient, gradient * factor)
    return total


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Bring all elements of all gradients into ±clip_value, in place."""
    bound = computed(float, clip_value)
    for gradient in _gradients(parameters):
        _store(gradient, clamp(gradient, -bound, bound))


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters' elements in one vector."""
    return checked(cat)([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Store the parts of a vector in the parameters: what ``parameters_to_vector`` made, back.

    Difference: the numbers are copied; in PyTorch the parameters become views of `vec`.
    """
    start = 0
    with no_grad():
        for parameter in parameters:
            stop = start + parameter.ndarray.size
            part = vec[start:stop]  # type: ignore[index]
            _store(parameter, reshape(part, *parameter.shape))
            start = stop
