"""Checkpointed calls that are one operation: a `Function` whose `backward` calls its function again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..autograd.function import Function
from ..autograd.random_state import RandomState
from ..tape.engine import running
from ..tape.grad_mode import enable_grad, no_grad
from ..tape.reverse import backward
from ..tensors import autocasting
from ..tensors.tensor import Tensor
from ..tracing.user_warning import warn_user
from .recomputation import AsThen, within


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn where no tensor among `inputs` requires gradients.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import check_backward_validity
    >>> check_backward_validity([tg.ones(1, requires_grad=True), 2])
    """
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        warn_user("None of the inputs have requires_grad=True. Gradients will be None")


def detach_variable(inputs: Any) -> tuple[Any, ...]:
    """The arguments, a tuple, tensors detached with the flags that they had; RuntimeError for what is no tuple.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import detach_variable
    >>> detach_variable((tg.ones(1, requires_grad=True), 2))
    (tensor([1.], requires_grad=True), 2)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs)


class CheckpointFunction(Function):
    """What ``checkpoint(function, *args, use_reentrant=True)`` applies: ``apply(function, preserve_rng_state, *args)``.

    The function is called without being recorded, and once more by the backward pass, with detached arguments; a
    backward pass of its own goes through what that returns, as far as it requires gradients.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import CheckpointFunction
    >>> x = tg.tensor([1.0, 2.0], requires_grad=True)
    >>> CheckpointFunction.apply(lambda x: x * x, True, x).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """What the function returns."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.random, ctx.modes = RandomState() if preserve_rng_state else None, autocasting.state.modes
        # Tensors are kept as what may be freed, and as what hooks of saved tensors are shown.
        ctx.inputs = [None if isinstance(x, Tensor) else x for x in args]
        ctx.tensor_indices = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.tensor_indices))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *args: Any) -> tuple[Any, ...]:
        """The gradients of the arguments; those of what else the function reads are added to it on the way."""
        if running.sweep is not None and running.sweep.to_inputs:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.inputs)
        for i, tensor in zip(ctx.tensor_indices, ctx.saved_tensors, strict=True):
            inputs[i] = tensor
        detached = detach_variable(tuple(inputs))
        with enable_grad():
            returned = within(AsThen(ctx.random, ctx.modes), lambda: ctx.run_function(*detached))
        outputs = (returned,) if isinstance(returned, Tensor) else returned
        tracked = [i for i, out in enumerate(outputs) if isinstance(out, Tensor) and out.requires_grad]
        if not tracked:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([outputs[i] for i in tracked], [args[i] for i in tracked])
        return (None, None, *(x.grad if isinstance(x, Tensor) else None for x in detached))
