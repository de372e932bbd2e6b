"""What is compiled: a call and its gradients. No word of PyTorch, whose modules a compiled function would reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tracegrad as tg


def tensors_of(value: Any) -> list[Any]:
    """The tensors in nested containers, in order."""
    if isinstance(value, tg.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [x for item in value for x in tensors_of(item)] if isinstance(value, (list, tuple)) else []


def requiring_of(value: Any) -> list[Any]:
    """The tensors that require gradients."""
    return [x for x in tensors_of(value) if x.requires_grad]


def step_of(function: Callable[..., Any], processed: Callable[[Any], Any]) -> Callable[..., Any]:
    """The function ``step(args, kwargs, cotangents)`` that gives a result and the gradients by its arguments."""

    def step(args: Any, kwargs: Any, cotangents: Any) -> Any:
        result = function(*args, **kwargs)
        inputs = requiring_of([args, kwargs])
        outputs = requiring_of([processed(result)]) if inputs else []
        if not outputs:
            return result, []
        return result, list(tg.autograd.grad(outputs, inputs, cotangents, allow_unused=True, retain_graph=True))

    return step
