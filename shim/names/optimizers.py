"""Names of ``torch.optim.optimizer`` that optimizers written for PyTorch import."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from ...optim.hooks import _global_optimizer_post_hooks, _global_optimizer_pre_hooks
from ...tape.grad_mode import set_grad_enabled
from ...tensors.tensor import Tensor

__all__ = [
    "ParamsT",
    "_get_value",
    "_global_optimizer_post_hooks",
    "_global_optimizer_pre_hooks",
    "_stack_if_compiling",
    "_use_grad_for_differentiable",
    "_view_as_real",
    "params_t",
    "required",
]


class _RequiredParameter:
    """Singleton class representing a required parameter for an Optimizer."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()
ParamsT = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
params_t = ParamsT


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """Let a ``step`` run with gradients only where the optimizer's ``differentiable`` says so."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults["differentiable"]):
            return func(self, *args, **kwargs)

    return step


def _get_value(x: Any) -> Any:
    return x.item() if isinstance(x, Tensor) else x


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    if any(param.is_complex() for param in params):
        raise NotImplementedError("complex parameters in an optimizer of the program's own: use torch.view_as_real()")


def _stack_if_compiling(x: Any) -> Any:
    return x
