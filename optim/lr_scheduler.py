"""Learning rates that follow a plan. Each ``scheduler.step()`` sets ``lr`` of the optimizer's groups.

As in PyTorch most plans are chainable: a step computes the next rate from the present one, so that two schedulers on
one optimizer combine, and rates set by hand are kept. A compiled training step takes the new rate without recompiling.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..autograd.tensor import Tensor
from ..ops.array import eager
from ..ops.core import current
from .optimizer import Optimizer


def _set_rate(group: Any, rate: Any) -> None:
    """A rate that is a tensor keeps its memory."""
    if isinstance(group["lr"], Tensor):
        eager().write(group["lr"], current().constant(float(rate), group["lr"].dtype))
    else:
        group["lr"] = rate


def _require_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _for_each_group(name: str, value: Any, optimizer: Optimizer) -> list[Any]:
    """`value` for every group; a list or tuple must have one value for each."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(f"expected {groups} values for {name}, got {len(value)}")
    return list(value)


class LRScheduler:
    """Base of the plans. A subclass says in `next_rate` how a group's rate goes on, or overrides ``get_lr``.

    `last_epoch` counts the steps, from 0 after the constructor; `base_lrs` are the rates at the start. With
    ``last_epoch=n`` the plan is resumed: the groups must hold "initial_lr" (KeyError if not).
    """

    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        _require_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", float(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0. Load the optimizer's state first."
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._is_initial = True
        self.step()
        self._is_initial = False

    def step(self, epoch: int | None = None) -> None:
        """Go on by one step; with `epoch`, to that one."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self._set_rates(self.get_lr() if epoch is None else self.rates_at(epoch))

    def _set_rates(self, rates: Iterable[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            _set_rate(group, rate)
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def get_lr(self) -> list[Any]:
        """The rates for `last_epoch`, computed from the present ones."""
        rates = zip(self.optimizer.param_groups, self.base_lrs, strict=True)
        return [self.next_rate(float(group["lr"]), base) for group, base in rates]

    def next_rate(self, rate: float, base: float) -> float:
        """The rate at `last_epoch` of a group that has `rate` now and started with `base`."""
        raise NotImplementedError

    def rates_at(self, epoch: int) -> list[Any]:
        """The rates for ``step(epoch)``, where a plan does not say better: those of one step on."""
        return self.get_lr()

    def get_last_lr(self) -> list[Any]:
        """The rates of the groups after the last step."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, to be saved."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict()`` gave."""
        self.__dict__.update(state_dict)


class _Closed(LRScheduler):
    """A plan that gives the rate of any epoch at once, by `rate_at`."""

    def rate_at(self, base: float, epoch: int) -> float:
        raise NotImplementedError

    def rates_at(self, epoch: int) -> list[Any]:
        return [self.rate_at(base, epoch) for base in self.base_lrs]


class LambdaLR(LRScheduler):
    """The first rate times ``lr_lambda(epoch)``; one function, or one for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        _require_optimizer(optimizer)
        self.lr_lambdas: list[Callable[[int], float]] = _for_each_group("lr_lambda", lr_lambda, optimizer)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        return [base * factor(self.last_epoch) for base, factor in zip(self.base_lrs, self.lr_lambdas, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Without the functions, which are given again to a new scheduler."""
        return {key: value for key, value in super().state_dict().items() if key != "lr_lambdas"}


class MultiplicativeLR(LambdaLR):
    """At each step the rate times ``lr_lambda(epoch)``."""

    def get_lr(self) -> list[Any]:
        rates = [float(group["lr"]) for group in self.optimizer.param_groups]
        if self._is_initial:
            return rates
        return [rate * factor(self.last_epoch) for rate, factor in zip(rates, self.lr_lambdas, strict=True)]


class StepLR(_Closed):
    """Times `gamma` every `step_size` steps."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: float, base: float) -> float:
        turns = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return rate * self.gamma if turns else rate

    def rate_at(self, base: float, epoch: int) -> float:
        return base * self.gamma ** (epoch // self.step_size)


class MultiStepLR(_Closed):
    """Times `gamma` at each of the `milestones`."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: float, base: float) -> float:
        times = self.milestones[self.last_epoch]
        return rate * self.gamma**times if times else rate

    def rate_at(self, base: float, epoch: int) -> float:
        return base * self.gamma ** sum(times for place, times in self.milestones.items() if place <= epoch)


class ConstantLR(_Closed):
    """Times `factor` until step `total_iters`."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: float, base: float) -> float:
        if self.last_epoch == 0:
            return rate * self.factor
        return rate * (1.0 / self.factor) if self.last_epoch == self.total_iters else rate

    def rate_at(self, base: float, epoch: int) -> float:
        return base if epoch >= self.total_iters else base * self.factor


class LinearLR(_Closed):
    """Times a factor that goes from `start_factor` to `end_factor` in `total_iters` steps: a warm-up."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: float, base: float) -> float:
        if self.last_epoch == 0:
            return rate * self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return rate
        rise = self.end_factor - self.start_factor
        return rate * (1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def rate_at(self, base: float, epoch: int) -> float:
        done = min(self.total_iters, epoch) / self.total_iters
        return base * (self.start_factor + (self.end_factor - self.start_factor) * done)


class ExponentialLR(_Closed):
    """Times `gamma` at each step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: float, base: float) -> float:
        return rate if self._is_initial else rate * self.gamma

    def rate_at(self, base: float, epoch: int) -> float:
        return base * self.gamma**epoch


class PolynomialLR(_Closed):
    """Times (1 - epoch / total_iters) to the `power`, down to 0."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: float, base: float) -> float:
        if self._is_initial or self.last_epoch > self.total_iters:
            return rate
        left, before = 1.0 - self.last_epoch / self.total_iters, 1.0 - (self.last_epoch - 1) / self.total_iters
        return rate * (left / before) ** self.power

    def rate_at(self, base: float, epoch: int) -> float:
        return base * (1.0 - min(self.total_iters, epoch) / self.total_iters) ** self.power


class CosineAnnealingLR(_Closed):
    """From the first rate to `eta_min` along half a cosine in `T_max` steps, and back (Loshchilov & Hutter 2017)."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: float, base: float) -> float:
        if self._is_initial:
            return rate
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # from the bottom the ratio below is 0 / 0
            return rate + (base - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
        now, before = (1 + math.cos(math.pi * epoch / self.T_max) for epoch in (self.last_epoch, self.last_epoch - 1))
        return now / before * (rate - self.eta_min) + self.eta_min

    def rate_at(self, base: float, epoch: int) -> float:
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * epoch / self.T_max)) / 2


class ReduceLROnPlateau:
    """Times `factor` when ``step(metric)`` has seen no better metric for more than `patience` steps.

    Better is lower (`mode` "max": higher) by more than `threshold`, which is a part of the best one ("rel") or an
    amount ("abs"). After a reduction `cooldown` steps do not count; no rate falls below `min_lr`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        _require_optimizer(optimizer)
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.optimizer = optimizer
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.factor, self.patience, self.cooldown, self.eps = factor, patience, cooldown, eps
        self.min_lrs = _for_each_group("min_lr", min_lr, optimizer)
        self.best = math.inf if mode == "min" else -math.inf
        self.last_epoch = self.cooldown_counter = self.num_bad_epochs = 0
        self._last_lr = [group["lr"] for group in optimizer.param_groups]

    def step(self, metrics: Any, epoch: int | None = None) -> None:
        """Look at a new value of the metric (a number or a 0-d tensor)."""
        value = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        better = self._is_better(value)
        self.best = value if better else self.best
        self.num_bad_epochs = 0 if better else self.num_bad_epochs + 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _is_better(self, value: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "abs":
            return sign * value > sign * self.best + self.threshold
        return sign * value > sign * self.best * (1.0 + sign * self.threshold)

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            rate = float(group["lr"])
            lower = max(rate * self.factor, least)
            if rate - lower > self.eps:
                _set_rate(group, lower)

    def get_last_lr(self) -> list[Any]:
        """The rates of the groups after the last step."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, to be saved."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict()`` gave."""
        self.__dict__.update(state_dict)
