"""Adam and AdamW (Kingma & Ba 2015; Loshchilov & Hutter 2019), step for step as PyTorch computes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ops.arithmetic import maximum
from ..ops.elementary import sqrt
from ..tensors.tensor import Tensor
from ..tracing.watch import Entries
from .in_numpy import adam, in_numpy
from .numbers import reciprocal_root
from .optimizer import Optimizer, ParamsT
from .options import Options, check_at_least_zero, check_betas, check_fused, check_kinds_of_betas
from .state import check_moment, counted, state_tensor, store


class Adam(Optimizer):
    """Steps of size `lr` along the mean gradient over its root mean square, both exponentially weighted (Kingma & Ba
    2015).

    ``m = b1 * m + (1 - b1) * g; v = b2 * v + (1 - b2) * g ** 2; p -= lr * (m / (1 - b1 ** t)) / (sqrt(v / (1 - b2 **
    t)) + eps)`` with ``betas = (b1, b2)``. Defaults: `lr` 1e-3, `betas` (0.9, 0.999), `eps` 1e-8, `weight_decay` 0,
    `amsgrad` False (True divides by the largest v so far). `weight_decay` is added to the gradient (L2); with
    `decoupled_weight_decay`, and in AdamW, it shrinks the parameters instead. `maximize` goes the other way. State of
    each parameter: `step`, `exp_avg`, `exp_avg_sq` and `max_exp_avg_sq`, of its shape and type. `fused` is described in
    `Optimizer`; `foreach` and `capturable` change no number.

    RuntimeError for ``fused=True`` together with `foreach` or `differentiable`, ValueError for options below 0, betas
    outside of [0, 1), and a float beside a tensor as betas.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer = tg.optim.Adam([w], lr=0.25)
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.7500, 0.7500])
    """

    refusal = "Adam does not support sparse gradients, please consider SparseAdam instead"
    reads = frozenset("lr betas eps weight_decay".split())
    safe_ranges = {"betas": (0.0, 1.0)}
    later_options = {
        "amsgrad": False, "maximize": False, "foreach": None, "capturable": False,
        "differentiable": False, "decoupled_weight_decay": False, "fused": None,
    }  # fmt: skip
    per_parameter = {"step": True, "exp_avg": True, "exp_avg_sq": True, "max_exp_avg_sq": "amsgrad"}

    def __init__(
        self,
        params: ParamsT,
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
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps)
        check_betas(betas)
        check_at_least_zero(weight_decay=weight_decay)
        check_kinds_of_betas(betas, foreach, capturable)
        check_fused(fused, foreach, differentiable)
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        choices = {"maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable}
        newer = {"fused": fused, "decoupled_weight_decay": decoupled_weight_decay}
        super().__init__(params, {**options, **choices, **newer})

    @in_numpy(adam)
    def update(self, p: Tensor, gradient: Tensor, state: Entries, options: Options) -> None:
        mean, square = state_tensor(state, "exp_avg", p), state_tensor(state, "exp_avg_sq", p)
        check_moment("exp_avg", mean, gradient, exactly=True)
        check_moment("exp_avg_sq", square, gradient, exactly=False)
        beta1, beta2 = options.number("betas", 0), options.number("betas", 1)
        step = counted(state_tensor(state, "step", p))
        g = -gradient if options.choice("maximize") else gradient
        value = p
        if not options.is_zero("weight_decay"):
            decay = options.number("weight_decay")
            if options.choice("decoupled_weight_decay"):
                value = p * (1 - options.number("lr") * decay)
            else:
                g = g + p * decay
        store(mean, mean + (g - mean) * (1 - beta1))
        store(square, square * beta2 + (g * (1 - beta2)) * g)
        rate = options.number("lr") / (1 - beta1**step)
        peak = self._peak(square, p, state, options)
        # PyTorch divides by the root of the correction. Its reciprocal costs less and differs in the last bit.
        root = sqrt(peak) * reciprocal_root(1 - beta2**step) + options.number("eps")
        store(p, value - (mean * rate) / root)

    def _peak(self, square: Tensor, p: Tensor, state: Entries, options: Options) -> Tensor:
        if not options.choice("amsgrad"):
            return square
        peak = state_tensor(state, "max_exp_avg_sq", p)
        store(peak, maximum(peak, square))
        return peak


class AdamW(Adam):
    """`Adam` whose weight decay shrinks the parameters directly, apart from the gradient: ``p *= 1 - lr *
    weight_decay`` before the step (Loshchilov & Hutter 2019).

    `weight_decay` is 0.01 unless given; all else is as in `Adam`.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer = tg.optim.AdamW([w], lr=0.25, weight_decay=0.5)
    >>> w.square().sum().backward()
    >>> optimizer.step()
    >>> w.detach()
    tensor([0.6250, 0.6250])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True  # what is loaded may be Adam's
