"""Adamax (Kingma & Ba 2015), step for step as PyTorch computes it."""

from __future__ import annotations

from typing import Any

from .elementwise import Elementwise, Functions, Reading, Values, gradient_numbers
from .optimizer import ParamsT
from .options import check_at_least_zero, check_betas


class Adamax(Elementwise):
    """Adam with a largest gradient, which decays, in the place of the root mean square.

    `betas` are what the mean and the largest gradient keep of themselves at each step; `weight_decay` is added to the
    gradient (L2). ValueError for options below 0, or betas outside of [0, 1).

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer = tg.optim.Adamax([w], lr=0.5)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w.tolist()
    [0.5, 0.5]
    """

    reads = frozenset("lr betas eps weight_decay".split())
    safe_ranges = {"betas": (0.0, 1.0)}
    later_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}
    per_parameter = {"step": True, "exp_avg": True, "exp_inf": True}

    def __init__(
        self,
        params: ParamsT,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps)
        check_betas(betas)
        check_at_least_zero(weight_decay=weight_decay)
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        choices = {"foreach": foreach, "maximize": maximize, "differentiable": differentiable, "capturable": capturable}
        super().__init__(params, {**options, **choices})

    def numbers(self, read: Reading) -> dict[str, Any]:
        beta = read.number("betas", 0)
        rate = read.number("lr") / (1 - beta ** read.count())
        means = {"first": 1 - beta, "kept": read.number("betas", 1), "eps": read.number("eps")}
        return {**gradient_numbers(read), **means, "rate": rate}

    @staticmethod
    def formula(f: Functions, by: Any, g: Any, s: Values) -> Values:
        mean = s["exp_avg"] + (g - s["exp_avg"]) * by.first
        largest = f.maximum(s["exp_inf"] * by.kept, f.absolute(g) + by.eps)
        return {"exp_avg": mean, "exp_inf": largest, "p": s["p"] - mean / largest * by.rate}
