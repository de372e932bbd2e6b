"""RAdam (Liu et al. 2020), step for step as PyTorch computes it."""

from __future__ import annotations

from typing import Any

from .elementwise import Elementwise, Functions, Reading, Values, gradient_numbers
from .numbers import choose, quotient
from .optimizer import ParamsT
from .options import check_at_least_zero, check_betas


class RAdam(Elementwise):
    """Adam that divides by the root mean square only once enough steps make its variance small, and then rectified.

    `weight_decay` is added to the gradient (L2), or shrinks the parameters where `decoupled_weight_decay` is on.
    ValueError for options below 0, or betas outside of [0, 1).

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer = tg.optim.RAdam([w], lr=0.5)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w.tolist()
    [0.5, 0.5]
    """

    reads = frozenset("lr betas eps weight_decay".split())
    safe_ranges = {"betas": (0.0, 1.0)}
    later_options = {
        "foreach": None, "maximize": False, "differentiable": False,
        "decoupled_weight_decay": False, "capturable": False,
    }  # fmt: skip
    per_parameter = {"step": True, "exp_avg": True, "exp_avg_sq": True}

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps)
        check_betas(betas)
        check_at_least_zero(weight_decay=weight_decay)
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        choices = {"maximize": maximize, "foreach": foreach, "capturable": capturable}
        decoupled = {"decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable}
        super().__init__(params, {**options, **choices, **decoupled})

    def numbers(self, read: Reading) -> dict[str, Any]:
        step, lr, beta1, beta2 = read.count(), read.number("lr"), read.number("betas", 0), read.number("betas", 1)
        decoupled = bool(read.choice("decoupled_weight_decay")) and not read.is_zero("weight_decay")
        correction = 1 - beta2**step
        final = 2 / (1 - beta2) - 1
        length = final - 2 * step * beta2**step / correction  # of the mean, in steps
        rectified = length > 5.0

        def rectification() -> Any:
            parts = (length - 4) * (length - 2) * final / ((final - 4) * (final - 2) * length)
            return parts**0.5 * correction**0.5

        return {
            **gradient_numbers(read, decoupled),
            "shrink": 1 - lr * read.number("weight_decay") if decoupled else None,
            "first": 1 - beta1,
            "kept": beta2,
            "second": 1 - beta2,
            "eps": read.number("eps"),
            "rectified": rectified,
            "rate": quotient(lr, 1 - beta1**step) * choose(rectified, rectification, 1.0),
        }

    @staticmethod
    def formula(f: Functions, by: Any, g: Any, s: Values) -> Values:
        mean = s["exp_avg"] + (g - s["exp_avg"]) * by.first
        square = s["exp_avg_sq"] * by.kept + (g * by.second) * g
        root = f.choose(by.rectified, f.sqrt(square) + by.eps, 1.0)
        p = s["p"] if by.shrink is None else s["p"] * by.shrink
        return {"exp_avg": mean, "exp_avg_sq": square, "p": p - mean * by.rate / root}
