"""``functorch``: what was a package before it was ``torch.func``, with modules as functions of tuples."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from ...func.derivatives import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp
from ...func.functionalizing import functionalize
from ...func.mapping import vmap
from ...func.modules import functional_call, stack_module_state
from ...nn.module import Module
from ...tensors.tensor import Tensor

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "make_functional",
    "make_functional_with_buffers",
    "vjp",
    "vmap",
]


class FunctionalModuleWithBuffers(Module):
    """A module as a function of its parameters, its buffers and what it is called with."""

    def __init__(self, stateless_model: Module) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = tuple(name for name, _ in stateless_model.named_parameters())
        self.buffer_names = tuple(name for name, _ in stateless_model.named_buffers())

    def forward(self, params: Iterable[Tensor], buffers: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        names = (*self.param_names, *self.buffer_names)
        state = dict(zip(names, (*params, *buffers), strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """A module without buffers as a function of its parameters and what it is called with."""

    def forward(self, params: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        return super().forward(params, (), *args, **kwargs)


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> Any:
    """``(function, parameters)`` of a copy of `model`; RuntimeError if it has buffers."""
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
        )
    function = FunctionalModule(copy.deepcopy(model))
    return function, _parameters(function, disable_autograd_tracking)


def make_functional_with_buffers(model: Module, disable_autograd_tracking: bool = False) -> Any:
    """``(function, parameters, buffers)`` of a copy of `model`."""
    function = FunctionalModuleWithBuffers(copy.deepcopy(model))
    return function, _parameters(function, disable_autograd_tracking), tuple(function.stateless_model.buffers())


def _parameters(function: FunctionalModuleWithBuffers, untracked: bool) -> tuple[Tensor, ...]:
    found = tuple(function.stateless_model.parameters())
    return tuple(p.requires_grad_(False) for p in found) if untracked else found


def combine_state_for_ensemble(models: Sequence[Module]) -> Any:
    """``(function, parameters, buffers)`` of models of one make, their states stacked."""
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    parameters, buffers = stack_module_state(list(models))
    function = FunctionalModuleWithBuffers(copy.deepcopy(models[0]))
    return function, tuple(p.detach() for p in parameters.values()), tuple(buffers.values())
