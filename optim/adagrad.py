"""Adagrad (Duchi, Hazan & Singer 2011), step for step as PyTorch computes it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..ops.elementary import sqrt
from ..tensors.tensor import Tensor
from ..tracing.watch import Entries
from .elementwise import Elementwise, Functions, Reading, Values, gradient_numbers
from .optimizer import ParamsT
from .options import Options, check_at_least_zero, check_fused
from .sparse_rows import Rows
from .state import complete, counted, filled_like, state_tensor


class Adagrad(Elementwise):
    """Steps of size `lr` along the gradient over the root of the sum of its squares.

    The sum begins with `initial_accumulator_value`, and is there from the beginning; `lr_decay` makes the rate
    ``lr / (1 + (step - 1) * lr_decay)``. `weight_decay` is added to the gradient (L2). ValueError for options below 0;
    RuntimeError for ``fused=True`` together with `foreach` or `differentiable`.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer = tg.optim.Adagrad([w], lr=0.5)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w.tolist()
    [0.5, 0.5]
    """

    reads = frozenset("lr lr_decay eps weight_decay".split())
    safe_ranges = {"lr_decay": (0.0, 1e9)}
    later_options = {"foreach": None, "maximize": False, "differentiable": False, "fused": None}
    per_parameter = {"step": True, "sum": True}
    takes_sparse = True

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        start = initial_accumulator_value
        check_at_least_zero(
            lr=lr, lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=start, eps=eps
        )
        options = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        choices = {"foreach": foreach, "maximize": maximize, "differentiable": differentiable, "fused": fused}
        check_fused(fused, foreach, differentiable)
        super().__init__(params, {**options, "initial_accumulator_value": start, **choices})
        for group in self.param_groups:
            for p in group["params"]:
                complete(self.state.of(p), self.per_parameter, functools.partial(self.initial, p, group))

    def initial(self, p: Tensor, group: Any, key: str) -> np.ndarray:
        if key == "sum":
            return filled_like(p, float(self.defaults["initial_accumulator_value"]))
        return super().initial(p, group, key)

    def update_sparse(self, p: Tensor, gradient: Any, state: Entries, options: Options) -> None:
        if options.choice("fused"):
            raise RuntimeError("`fused` does not support sparse grad or complex param")
        if not options.is_zero("weight_decay"):
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        count = counted(state_tensor(state, "step", p))
        rows = Rows(-gradient if options.choice("maximize") else gradient)
        rows.add_to(state["sum"], rows.values * rows.values)
        rate = options.number("lr") / (1 + (count - 1) * options.number("lr_decay"))
        rows.add_to(p, rows.values / (sqrt(rows.of(state["sum"])) + options.number("eps")) * -rate)

    def numbers(self, read: Reading) -> dict[str, Any]:
        rate = read.number("lr") / (1 + (read.count() - 1) * read.number("lr_decay"))
        return {**gradient_numbers(read), "rate": rate, "eps": read.number("eps")}

    @staticmethod
    def formula(f: Functions, by: Any, g: Any, s: Values) -> Values:
        total = s["sum"] + g * g
        return {"sum": total, "p": s["p"] - g / (f.sqrt(total) + by.eps) * by.rate}
