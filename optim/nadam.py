"""NAdam (Dozat 2016), step for step as PyTorch computes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensors.tensor import Tensor
from .elementwise import Elementwise, Functions, Reading, Values, gradient_numbers
from .numbers import above_zero
from .optimizer import ParamsT
from .options import check_at_least_zero, check_betas
from .state import scalar_state


class NAdam(Elementwise):
    """Adam with Nesterov's look-ahead, whose momentum grows at a pace given by `momentum_decay`.

    `weight_decay` is added to the gradient (L2), or shrinks the parameters where `decoupled_weight_decay` is on.
    ValueError for options below 0, or betas outside of [0, 1).

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer = tg.optim.NAdam([w], lr=0.1)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> [round(x, 4) for x in w.tolist()]
    [0.8944, 0.8944]
    """

    captured = "params, mu_products and state_steps"
    reads = frozenset("lr betas eps weight_decay momentum_decay".split())
    safe_ranges = {"betas": (0.0, 0.9999999), "momentum_decay": (0.0, 1e3)}
    later_options = {
        "maximize": False, "foreach": None, "capturable": False,
        "differentiable": False, "decoupled_weight_decay": False,
    }  # fmt: skip
    per_parameter = {"step": True, "mu_product": True, "exp_avg": True, "exp_avg_sq": True}
    scalars = frozenset({"step", "mu_product"})

    def __init__(
        self,
        params: ParamsT,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps)
        check_betas(betas)
        check_at_least_zero(weight_decay=weight_decay, momentum_decay=momentum_decay)
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay}
        choices = {"maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable}
        super().__init__(params, {**options, "decoupled_weight_decay": decoupled_weight_decay, **choices})

    def initial(self, p: Tensor, group: Any, key: str) -> np.ndarray:
        return scalar_state(1) if key == "mu_product" else super().initial(p, group, key)

    def numbers(self, read: Reading) -> dict[str, Any]:
        step, lr, pace = read.count(), read.number("lr"), read.number("momentum_decay")
        beta1, beta2 = read.number("betas", 0), read.number("betas", 1)
        decoupled = bool(read.choice("decoupled_weight_decay")) and not read.is_zero("weight_decay")
        momentum = beta1 * (1.0 - 0.5 * (0.96 ** (step * pace)))
        following = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * pace)))
        product = read.scale("mu_product", momentum)
        return {
            **gradient_numbers(read, decoupled),
            "shrink": 1 - lr * read.number("weight_decay") if decoupled else None,
            "first": 1 - beta1,
            "kept": beta2,
            "second": 1 - beta2,
            "correction": 1 - beta2**step,
            "eps": read.number("eps"),
            "of_gradient": lr * (1.0 - momentum) / above_zero(1.0 - product),
            "of_mean": lr * following / (1.0 - product * following),
        }

    @staticmethod
    def formula(f: Functions, by: Any, g: Any, s: Values) -> Values:
        mean = s["exp_avg"] + (g - s["exp_avg"]) * by.first
        square = s["exp_avg_sq"] * by.kept + (g * by.second) * g
        root = f.sqrt(square / by.correction) + by.eps
        p = s["p"] if by.shrink is None else s["p"] * by.shrink
        p = p - g * by.of_gradient / root - mean * by.of_mean / root
        return {"exp_avg": mean, "exp_avg_sq": square, "p": p}
