"""Adam and AdamW (Kingma & Ba 2015; Loshchilov & Hutter 2019), step for step as PyTorch computes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..ops.arithmetic import maximum
from ..ops.array import eager
from ..ops.elementary import sqrt
from ..tensors.tensor import Tensor
from ..tracing.watch import Entries
from .in_numpy import adam, in_numpy
from .moments import check_moment
from .optimizer import Optimizer, Options, check_at_least_zero, check_fused, counted, state_tensor


class Adam(Optimizer):
    """Steps of size `lr` along the mean gradient over its root mean square, both exponentially weighted.

    `weight_decay` is added to the gradient (L2); AdamW shrinks the parameters instead. `fused` is described in
    `Optimizer`; RuntimeError for ``fused=True`` together with `foreach` or `differentiable`.
    """

    decoupled = False
    per_parameter = {"step": True, "exp_avg": True, "exp_avg_sq": True, "max_exp_avg_sq": "amsgrad"}

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}; it must be in [0, 1)")
        check_fused(fused, foreach, differentiable)
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        choices = {"maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable}
        super().__init__(params, {**options, **choices, "fused": fused})

    @in_numpy(adam)
    def update(self, p: Tensor, gradient: Tensor, state: Entries, options: Options) -> None:
        mean, square = state_tensor(state, "exp_avg", p), state_tensor(state, "exp_avg_sq", p)
        check_moment("exp_avg", mean, gradient, exactly=True)
        check_moment("exp_avg_sq", square, gradient, exactly=False)
        step = counted(state_tensor(state, "step", p))
        lr, beta1, beta2 = options.number("lr"), options.number("betas", 0), options.number("betas", 1)
        g = -gradient if options.choice("maximize") else gradient
        value = p
        if not options.is_zero("weight_decay"):
            decay = options.number("weight_decay")
            if self.decoupled:
                value = p * (1 - lr * decay)
            else:
                g = g + p * decay
        eager().write(mean, mean + (g - mean) * (1 - beta1))
        eager().write(square, square * beta2 + (g * (1 - beta2)) * g)
        peak = self._peak(square, p, state, options)
        # PyTorch divides by the root of the correction. Its reciprocal costs less and differs in the last bit.
        root = sqrt(peak) * (1 - beta2**step) ** -0.5 + options.number("eps")
        eager().write(p, value - (mean * (lr / (1 - beta1**step))) / root)

    def _peak(self, square: Tensor, p: Tensor, state: Entries, options: Options) -> Tensor:
        if not options.choice("amsgrad"):
            return square
        peak = state_tensor(state, "max_exp_avg_sq", p)
        eager().write(peak, maximum(peak, square))
        return peak


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly (default 0.01), apart from the gradient."""

    decoupled = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **choices: Any,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **choices)
