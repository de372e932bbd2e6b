"""Adadelta (Zeiler 2012), step for step as PyTorch computes it."""

from __future__ import annotations

from typing import Any

from .elementwise import Elementwise, Functions, Reading, Values, gradient_numbers
from .optimizer import ParamsT
from .options import check_at_least_zero


class Adadelta(Elementwise):
    """Steps along the gradient, scaled by the root mean square of past steps over that of past gradients.

    Both means forget by `rho`; `eps` is added below the roots. `weight_decay` is added to the gradient (L2). ValueError
    for options below 0, or `rho` above 1.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer = tg.optim.Adadelta([w], rho=0.75, eps=0.25)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> [round(x, 4) for x in w.tolist()]
    [0.2929, 0.2929]
    """

    reads = frozenset("lr rho eps weight_decay".split())
    safe_ranges = {}
    later_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}
    per_parameter = {"step": True, "square_avg": True, "acc_delta": True}

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}; it must be in [0, 1]")
        check_at_least_zero(eps=eps, weight_decay=weight_decay)
        options = {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay}
        choices = {"maximize": maximize, "capturable": capturable, "foreach": foreach, "differentiable": differentiable}
        super().__init__(params, {**options, **choices})

    def numbers(self, read: Reading) -> dict[str, Any]:
        read.count()
        kept = read.number("rho")
        means = {"kept": kept, "gain": 1 - kept, "eps": read.number("eps")}
        return {**gradient_numbers(read), **means, "lr": read.number("lr")}

    @staticmethod
    def formula(f: Functions, by: Any, g: Any, s: Values) -> Values:
        square = s["square_avg"] * by.kept + (g * by.gain) * g
        step = f.sqrt(s["acc_delta"] + by.eps) / f.sqrt(square + by.eps) * g
        steps = s["acc_delta"] * by.kept + (step * by.gain) * step
        return {"square_avg": square, "acc_delta": steps, "p": s["p"] - step * by.lr}
