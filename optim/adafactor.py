"""Adafactor (Shazeer & Stern 2018), step for step as PyTorch computes it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..functional.linear_algebra import matmul
from ..functional.reductions import mean, norm
from ..ops.arithmetic import maximum
from ..ops.elementary import rsqrt
from ..tensors.limits import finfo
from ..tensors.tensor import Tensor
from ..tracing.watch import Entries
from .complex_parameters import refuse_complex
from .numbers import choose
from .optimizer import Optimizer, ParamsT
from .options import Options, check_lr
from .state import complete, counted, state_tensor, store


class Adafactor(Optimizer):
    """Steps relative to a parameter's size, over a root mean square that matrices keep as one number a row and column.

    The rate of step t is ``max(eps[1], rms(p)) * min(lr, 1 / sqrt(t))``, divided by what the update's root mean square
    exceeds `d` by. Means forget by ``1 - t ** beta2_decay``. ``eps[0]`` (None: that of the dtype) keeps variances above
    0. `weight_decay` shrinks the parameters. ValueError for options out of their range.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2, 2))
    >>> optimizer = tg.optim.Adafactor([w], lr=0.5)
    >>> w.sum().backward()
    >>> optimizer.step()
    >>> w.tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """

    updates_parts = False
    reads = frozenset("lr beta2_decay eps d weight_decay maximize".split())
    safe_ranges = {"beta2_decay": (-1e3, 0.0)}
    later_options = {"foreach": None}
    per_parameter = {"step": False, "row_var": False, "col_var": False, "variance": False}

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        ranges = {
            "beta2_decay should be <= 0": (beta2_decay, beta2_decay <= 0.0),
            "epsilon1 should be >= 0": (eps[0], eps[0] is None or eps[0] >= 0.0),
            "epsilon2 should be >= 0": (eps[1], eps[1] >= 0.0),
            "Clipping threshold d should be >= 1": (d, d >= 1.0),
            "weight_decay should be >= 0": (weight_decay, weight_decay >= 0.0),
        }
        for what, (value, fits) in ranges.items():
            if not fits:
                raise ValueError(f"{what} but is: {value}")
        options = {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay}
        super().__init__(params, {**options, "foreach": foreach, "maximize": maximize})

    def initial(self, p: Tensor, group: Any, key: str) -> np.ndarray:
        made = super().initial(p, group, key)
        return made if key == "step" else np.zeros(self.shape_of(key, p), made.dtype)

    def shape_of(self, key: str, p: Tensor) -> tuple[int, ...]:
        shape = tuple(p.ndarray.shape)
        if key == "row_var":
            return (*shape[:-1], 1)
        return (*shape[:-2], 1, shape[-1]) if key == "col_var" else super().shape_of(key, p)

    def update(self, p: Tensor, gradient: Tensor, state: Entries, options: Options) -> None:
        refuse_complex(self, p)
        needed = ["step", *(["row_var", "col_var"] if p.ndarray.ndim > 1 else ["variance"])]
        complete(state, needed, functools.partial(self.initial, p, options.group))
        g = -gradient if options.choice("maximize") else gradient
        step, lr = counted(state_tensor(state, "step", p)), options.number("lr")
        gain, size = step ** options.number("beta2_decay"), p.ndarray.size
        least = finfo(p.dtype).eps if options.choice("eps")[0] is None else options.number("eps", 0)
        latest = 1 / step**0.5
        rate = choose(lr < latest, lambda: lr, latest)
        rate = maximum(norm(p) / size**0.5, options.number("eps", 1)) * rate
        value = p if options.is_zero("weight_decay") else p * (1 - lr * options.number("weight_decay"))
        variance = self._variance(p, g, state, gain, least)
        update = rsqrt(maximum(variance, least * least)) * g
        excess = maximum(norm(update) / (size**0.5 * options.number("d")), 1.0)
        store(p, value - update * (rate / excess))

    def _variance(self, p: Tensor, g: Tensor, state: Entries, gain: Any, least: Any) -> Any:
        """The mean square of each element's gradients, or its estimate by those of rows and columns."""
        if p.ndarray.ndim < 2:
            variance = state_tensor(state, "variance", p)
            store(variance, variance + (g * g - variance) * gain)
            return variance
        rows, columns = state_tensor(state, "row_var", p), state_tensor(state, "col_var", p)
        store(rows, rows + (mean(g * g, -1, keepdim=True) - rows) * gain)
        store(columns, columns + (mean(g * g, -2, keepdim=True) - columns) * gain)
        return matmul(rows, columns) / maximum(mean(rows, -2, keepdim=True), least)
