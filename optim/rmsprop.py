"""RMSprop (Hinton 2012), step for step as PyTorch computes it."""

from __future__ import annotations

from typing import Any

from .elementwise import Elementwise, Functions, Reading, Values, gradient_numbers
from .optimizer import ParamsT
from .options import check_at_least_zero


class RMSprop(Elementwise):
    """Steps of size `lr` along the gradient over its root mean square, which forgets by `alpha`.

    `centered` subtracts the square of the mean gradient; `momentum` (above 0) adds the steps up. `eps` is added to the
    root. `weight_decay` is added to the gradient (L2). ValueError for options below 0.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer = tg.optim.RMSprop([w], lr=0.1, alpha=0.75)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w.tolist()
    [0.800000011920929, 0.800000011920929]
    """

    reads = frozenset("lr alpha eps weight_decay".split())
    safe_ranges = {}
    later_options = {
        "momentum": 0, "centered": False, "foreach": None,
        "maximize": False, "differentiable": False, "capturable": False,
    }  # fmt: skip
    per_parameter = {"step": True, "square_avg": True, "momentum_buffer": "momentum", "grad_avg": "centered"}

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        options = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        choices = {"capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable}
        super().__init__(params, {**options, "weight_decay": weight_decay, **choices})

    def numbers(self, read: Reading) -> dict[str, Any]:
        read.count()
        kept = read.number("alpha")
        return {
            **gradient_numbers(read),
            "lr": read.number("lr"),
            "kept": kept,
            "gain": 1 - kept,
            "eps": read.number("eps"),
            "momentum": None if read.is_zero("momentum") else read.number("momentum"),
            "centered": bool(read.choice("centered")),
        }

    @staticmethod
    def formula(f: Functions, by: Any, g: Any, s: Values) -> Values:
        new = {"square_avg": s["square_avg"] * by.kept + (g * by.gain) * g}
        square = new["square_avg"]
        if by.centered:
            new["grad_avg"] = s["grad_avg"] + (g - s["grad_avg"]) * by.gain
            square = square - new["grad_avg"] * new["grad_avg"]
        direction = g / (f.sqrt(square) + by.eps)
        if by.momentum is not None:
            new["momentum_buffer"] = direction = s["momentum_buffer"] * by.momentum + direction
        return {**new, "p": s["p"] - direction * by.lr}
