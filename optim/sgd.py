"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from ..functional.sparse.structure import coalesce
from ..ops.identity import copy
from ..tensors.tensor import Tensor
from ..tracing.watch import Entries, declare_read, declare_transient
from .in_numpy import in_numpy, sgd
from .optimizer import Optimizer, ParamsT
from .options import Options, check_at_least_zero, check_fused
from .sparse_rows import Rows
from .state import check_moment, state_tensor, store


class SGD(Optimizer):
    """``p -= lr * g``, with momentum (``v = momentum * v + (1 - dampening) * g``), Nesterov's look-ahead, L2 decay.

    Defaults: `lr` 1e-3, `momentum`, `dampening` and `weight_decay` 0, `nesterov` False; `maximize` goes the other way.
    The formulas are PyTorch's: the first step with momentum starts from the gradient itself, without dampening. State
    of each parameter, with momentum: `momentum_buffer`. Sparse gradients are taken. `fused` is described in
    `Optimizer`; `foreach` changes no number.

    RuntimeError for ``fused=True`` together with `foreach` or `differentiable`, ValueError for options below 0 and for
    `nesterov` without momentum or with dampening.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer = tg.optim.SGD([w], lr=0.25, momentum=0.5)
    >>> for _ in range(2):
    ...     optimizer.zero_grad()
    ...     w.sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [0.375, 0.375]
    """

    reads = frozenset("lr momentum dampening weight_decay".split())
    safe_ranges = {}
    later_options = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": False}
    per_parameter = {"momentum_buffer": False}
    state_option = "momentum"
    takes_sparse = True

    def __init__(
        self,
        params: ParamsT,
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
        store(p, p - d * options.number("lr"))

    def update_sparse(self, p: Tensor, gradient: Any, state: Entries, options: Options) -> None:
        if options.choice("fused"):
            raise RuntimeError("`_fused_sgd` does not support sparse gradients")
        d = -gradient if options.choice("maximize") else gradient
        if not options.is_zero("weight_decay"):
            d = d + p * options.number("weight_decay")  # refused, in PyTorch's words
        if not options.is_zero("momentum"):
            velocity = self._sparse_velocity(d, state, options)
            d = d + velocity * options.number("momentum") if options.choice("nesterov") else velocity
        rows = Rows(d)
        rows.add_to(p, rows.values * -options.number("lr"))

    def _sparse_velocity(self, d: Any, state: Entries, options: Options) -> Any:
        """The momentum as a sparse tensor with all places that gradients have had."""
        before = state.get("momentum_buffer")
        if before is None:
            velocity = d.detach().clone()
        else:
            velocity = coalesce(before * options.number("momentum") + d * (1 - options.number("dampening")))
        state["momentum_buffer"] = velocity
        return velocity

    def _velocity(self, p: Tensor, d: Tensor, state: Entries, options: Options) -> Tensor:
        started = declare_read("momentum_buffer is there", lambda: dict.get(state, "momentum_buffer") is not None)
        if not started:
            declare_transient("the first step with momentum makes momentum_buffer")
            state["momentum_buffer"] = buffer = copy(d)
            return buffer
        velocity = state_tensor(state, "momentum_buffer", p)
        check_moment("momentum_buffer", velocity, d, exactly=False)
        kept = velocity * options.number("momentum")
        store(velocity, kept + d * (1 - options.number("dampening")))
        return velocity
