"""What is compiled: a module's call and its derivatives. No word of PyTorch."""

from __future__ import annotations

from typing import Any

import tracegrad as tg

from ..steps import requiring_of


def step_of(module: Any) -> Any:
    """The function ``step(args, kwargs, cotangents)`` that gives the result and the gradients of all inputs."""

    def step(args: Any, kwargs: Any, cotangents: Any) -> Any:
        module.zero_grad()
        result = module(*args, **kwargs)
        outputs = requiring_of([result])
        if outputs:
            tg.autograd.backward(outputs, cotangents)
        inputs = requiring_of([args, kwargs])
        return result, [x.grad for x in inputs], [p.grad for p in module.parameters()]

    return step
