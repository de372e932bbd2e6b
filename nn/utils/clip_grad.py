"""Norms of gradients, and gradients brought within bounds."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from ...functional.elementwise.bounds import clamp
from ...functional.joining import stack
from ...functional.reductions import norm
from ...functional.sparse.sparse_tensor import unsupported
from ...ops.array import eager
from ...ops.numbers import computed
from ...tape.grad_mode import no_grad
from ...tensors.composite import part
from ...tensors.creation import zeros
from ...tensors.meta.meta_tensor import any_meta, without_numbers
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_user

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _tensors(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def _gradients(parameters: Tensor | Iterable[Tensor], operation: str) -> list[Tensor]:
    """The gradients that there are; NotImplementedError for a sparse one, which has no such `operation`."""
    gradients = [p.grad for p in _tensors(parameters)]
    if any(gradient is not None and gradient.is_sparse for gradient in gradients):
        raise unsupported(operation)
    return [gradient for gradient in gradients if gradient is not None]


def _store(target: Tensor, value: Any) -> None:
    eager().write(target, value)


@part
def _norm_of_all(norm_type: float, *tensors: Tensor) -> Tensor:
    return norm(stack([norm(tensor, norm_type) for tensor in tensors]), norm_type)


def _require_tensors(tensors: list[Any]) -> None:
    """AttributeError for what is no tensor in the first place, RuntimeError for None and TypeError elsewhere."""
    for i, tensor in enumerate(tensors):
        if isinstance(tensor, Tensor):
            continue
        if not i:
            raise AttributeError(f"{type(tensor).__name__!r} object has no attribute 'device': it is no tensor")
        if tensor is not None:
            raise TypeError(f"get_total_norm() wants tensors, got {type(tensor).__name__} in place {i}")
        raise RuntimeError(
            "Tensors of the first list of nested Tensor lists are supposed to be defined but the "
            f"{i}-th Tensor is not. Leave out parameters without a gradient."
        )


@no_grad()
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The `norm_type`-norm (default 2.0) of all tensors' elements together, as a 0-d tensor (0 where there are none).

    `norm_type` may be inf, the largest absolute value. RuntimeError for one that is not finite, with
    `error_if_nonfinite`. `foreach` says how PyTorch computes it; the numbers are the same.

    >>> import tracegrad as tg
    >>> tg.nn.utils.get_total_norm([tg.tensor([3.0]), tg.tensor([[4.0]])])
    tensor(5.)
    """
    tensors = _tensors(tensors)
    if not tensors:
        return zeros(())
    _require_tensors(tensors)
    if any_meta(tensors):
        return without_numbers(_norm_of_all, float(norm_type), *tensors)
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
    """Scale all gradients, in place, so that their common `norm_type`-norm (default 2.0) is at most `max_norm`; returns
    the norm before, a 0-d tensor.

    `parameters` is one tensor or several; those without a gradient do not count. RuntimeError for a norm that is not
    finite, with `error_if_nonfinite`. `foreach` says how PyTorch computes it; the numbers are the same.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> w.grad = tg.tensor([3.0, 4.0])
    >>> tg.nn.utils.clip_grad_norm_([w], max_norm=1.0)
    tensor(5.)
    >>> w.grad
    tensor([0.6000, 0.8000])
    """
    parameters = _tensors(parameters)
    total = get_total_norm(_gradients(parameters, "linalg_vector_norm"), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale all gradients, in place, by ``max_norm / (total_norm + 1e-6)`` where that is below 1: `total_norm` is a 0-d
    tensor that ``get_total_norm`` has given.

    `parameters` is one tensor or several; those without a gradient stay so. `foreach` says how PyTorch computes it.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> w.grad = tg.tensor([3.0, 4.0])
    >>> tg.nn.utils.clip_grads_with_norm_([w], 1.0, tg.tensor(10.0))
    >>> w.grad
    tensor([0.3000, 0.4000])
    """
    if any_meta(_tensors(parameters)):  # gradients without numbers stay what they are
        return
    factor = clamp(computed(float, max_norm) / (total_norm + 1e-6), max=1.0)
    for gradient in _gradients(parameters, "mul_"):
        _store(gradient, gradient * factor)


@functools.wraps(clip_grad_norm_)
def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """The old name of ``clip_grad_norm_``, of which PyTorch warns (FutureWarning); see there.

    >>> import tracegrad as tg
    >>> import warnings
    >>> w = tg.nn.Parameter(tg.ones(1))
    >>> with warnings.catch_warnings(record=True):
    ...     norm = tg.nn.utils.clip_grad_norm([w], 1.0)
    >>> norm
    tensor(0.)
    """
    warn_user(
        "`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(*args, **kwargs)


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Bring all elements of all gradients into ±clip_value, in place.

    `parameters` is one tensor or several; those without a gradient stay so. `foreach` says how PyTorch computes it; the
    numbers are the same.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> w.grad = tg.tensor([3.0, -0.5])
    >>> tg.nn.utils.clip_grad_value_([w], 1.0)
    >>> w.grad
    tensor([ 1.0000, -0.5000])
    """
    bound = computed(float, clip_value)
    for gradient in _gradients(parameters, "clamp_min_"):
        _store(gradient, clamp(gradient, -bound, bound))
