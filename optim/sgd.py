"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ops.array import eager
from ..ops.identity import copy
from ..tensors.tensor import Tensor
from ..tracing.watch import Entries, declare_read, declare_transient
from .in_numpy import in_numpy, sgd
from .moments import check_moment
from .optimizer import Optimizer, Options, check_at_least_zero, check_fused, state_tensor


class SGD(Optimizer):
    """``p -= lr * g``, with momentum (``v = momentum * v + (1 - dampening) * g``), Nesterov's look-ahead, L2 decay.

    The formulas are PyTorch's: the first step with momentum starts from the gradient itself, without dampening.
    `fused` is described in `Optimizer`; RuntimeError for ``fused=True`` together with `foreach` or `differentiable`.
    """

    per_parameter = {"momentum_buffer": False}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_at_least_zero(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_fused(fused, foreach, differentiable)
        options = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        choices = {"nesterov": nesterov, "maximize": maximize, "foreach": foreach, "differentiable": differentiable}
        super().__init__(params, {**options, **choices, "fused": fused})

    @in_numpy(sgd)
    def update(self, p: Tensor, gradient: Tensor, state: Entries, options: Options) -> None:
        d = -gradient if options.choice("maximize") else gradient
        if not options.is_zero("weight_decay"):
            d = d + p * options.number("weight_decay")
        if not options.is_zero("momentum"):
            velocity = self._velocity(p, d, state, options)
            d = d + velocity * options.number("momentum") if options.choice("nesterov") else velocity
        eager().write(p, p - d * options.number("lr"))

    def _velocity(self, p: Tensor, d: Tensor, state: Entries, options: Options) -> Tensor:
        started = declare_read("momentum_buffer is there", lambda: dict.get(state, "momentum_buffer") is not None)
        if not started:
            declare_transient("the first step with momentum makes momentum_buffer")
            state["momentum_buffer"] = buffer = copy(d)
            return buffer
        velocity = state_tensor(state, "momentum_buffer", p)
        check_moment("momentum_buffer", velocity, d, exactly=False)
        kept = velocity * options.number("momentum")
        eager().write(velocity, kept + d * (1 - options.number("dampening")))
        return velocity
