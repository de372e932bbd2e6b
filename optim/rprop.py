"""Resilient backpropagation (Riedmiller & Braun 1993), step for step as PyTorch computes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tensors.tensor import Tensor
from .elementwise import Elementwise, Functions, Reading, Values
from .optimizer import ParamsT
from .options import check_at_least_zero
from .state import filled_like


class Rprop(Elementwise):
    """Steps by the gradient's sign, each element with a size of its own: larger while the sign stays, smaller after.

    Sizes begin at `lr`, are multiplied by one of `etas` (smaller, larger) and kept within `step_sizes`; where the sign
    has changed, one step is left out. ValueError for a rate below 0, or `etas` that are not below and above 1.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer = tg.optim.Rprop([w], lr=0.25)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w.tolist()
    [0.75, 0.75]
    """

    reads = frozenset("etas step_sizes".split())
    safe_ranges = {}
    later_options = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}
    per_parameter = {"step": True, "prev": True, "step_size": True}

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}; one must be in (0, 1), the other above 1")
        options = {"lr": lr, "etas": etas, "step_sizes": step_sizes}
        choices = {"foreach": foreach, "maximize": maximize, "differentiable": differentiable, "capturable": capturable}
        super().__init__(params, {**options, **choices})

    def initial(self, p: Tensor, group: Any, key: str) -> np.ndarray:
        if key == "step_size":
            return filled_like(p, float(dict.__getitem__(group, "lr")))
        return super().initial(p, group, key)

    def numbers(self, read: Reading) -> dict[str, Any]:
        read.count()
        factors = {"smaller": read.number("etas", 0), "larger": read.number("etas", 1)}
        bounds = {"least": read.number("step_sizes", 0), "most": read.number("step_sizes", 1)}
        return {"negated": bool(read.choice("maximize")), "decay": None, "nothing": 0.0, **factors, **bounds}

    @staticmethod
    def formula(f: Functions, by: Any, g: Any, s: Values) -> Values:
        size, product = s["step_size"], g * s["prev"]
        turned = product < 0
        size = f.where(product > 0, size * by.larger, f.where(turned, size * by.smaller, size))
        size = f.minimum(f.maximum(size, by.least), by.most)
        g = f.where(turned, by.nothing, g)
        return {"step_size": size, "prev": g, "p": s["p"] - f.sign(g) * size}
