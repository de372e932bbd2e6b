"""Averaged stochastic gradient descent (Polyak & Juditsky 1992), step for step as PyTorch computes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.types import get_default_dtype
from ..tensors.tensor import Tensor
from .elementwise import Elementwise, Functions, Reading, Values, gradient_numbers
from .numbers import as_float, choose, rounded
from .optimizer import ParamsT
from .options import check_at_least_zero
from .state import scalar_state


class ASGD(Elementwise):
    """Gradient descent whose rate falls, and the mean of the parameters from step `t0` on (``state[p]["ax"]``).

    The rate is ``lr / (1 + lambd * lr * step) ** alpha``; parameters shrink by `lambd` times the rate. `weight_decay`
    is added to the gradient (L2). ValueError for a rate or a decay below 0.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer = tg.optim.ASGD([w], lr=0.5, lambd=0)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w.tolist(), optimizer.state[w]["ax"].tolist()
    ([0.5, 0.5], [0.5, 0.5])
    """

    captured = "params, mus, etas, and state_steps"
    reads = frozenset("lr lambd alpha t0 weight_decay".split())
    safe_ranges = {"lr": (0.0, 1e9), "lambd": (0.0, 1e9), "alpha": (0.0, 1.0)}
    later_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}
    per_parameter = {"step": True, "eta": True, "mu": True, "ax": True}
    scalars = frozenset({"step", "eta", "mu"})

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, weight_decay=weight_decay)
        options = {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay}
        choices = {"foreach": foreach, "maximize": maximize, "differentiable": differentiable, "capturable": capturable}
        super().__init__(params, {**options, **choices})

    def initial(self, p: Tensor, group: Any, key: str) -> np.ndarray:
        if key == "eta":
            return scalar_state(as_float("lr", dict.__getitem__(group, "lr")))
        return scalar_state(1) if key == "mu" else super().initial(p, group, key)

    def numbers(self, read: Reading) -> dict[str, Any]:
        step, lr, shrinking = read.count(), read.number("lr"), read.number("lambd")
        eta, share = read.scalar("eta"), read.scalar("mu")
        falling = _falling_by_steps if read.choice("foreach") else _falling
        read.store("eta", falling(read, step, lr, shrinking * lr))
        averaged = step - read.number("t0")
        read.store("mu", rounded(1 / choose(averaged > 1, lambda: averaged, 1.0), get_default_dtype()))
        means = {"share": share, "is_mean": share != 1}
        return {**gradient_numbers(read), "shrink": 1 - shrinking * eta, "rate": eta, **means}

    @staticmethod
    def formula(f: Functions, by: Any, g: Any, s: Values) -> Values:
        p = s["p"] * by.shrink - g * by.rate
        return {"p": p, "ax": f.choose(by.is_mean, s["ax"] + (p - s["ax"]) * by.share, p)}


def _falling(read: Reading, step: Any, lr: Any, shrinking: Any) -> Any:
    """The rate after a step. A state that was loaded may be of a larger type than the numbers that go there."""
    return rounded(lr / ((1 + shrinking * step) ** read.number("alpha")), get_default_dtype())


def _falling_by_steps(read: Reading, step: Any, lr: Any, shrinking: Any) -> Any:
    """The same with `foreach`, which computes with the tensor that counts: each result is rounded to its type."""
    kept = read.dtype("step")
    base = rounded(1 + rounded(rounded(shrinking, kept) * step, kept), kept)
    power = rounded(base ** read.number("alpha"), kept)
    return rounded(rounded(1 / power, kept) * rounded(lr, kept), kept)
