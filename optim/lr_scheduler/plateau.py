"""The plan that looks at a metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, option_values, refuse_inside, require_optimizer, set_option, warn_of_epoch


class ReduceLROnPlateau(LRScheduler):
    """Times `factor` when ``step(metric)`` has seen no better metric for more than `patience` steps.

    Better is lower (`mode` "max": higher) by more than `threshold`, which is a part of the best one ("rel") or an
    amount ("abs"). After a reduction `cooldown` steps do not count; no rate falls below `min_lr`. ValueError for
    another mode, and for a `factor` of 1 and more.

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tg.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
    >>> for metric in (3.0, 3.0, 3.0):
    ...     scheduler.step(metric)
    >>> optimizer.param_groups[0]["lr"]
    0.5
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
        if factor >= 1.0:
            raise ValueError(f"Factor should be < 1.0. It is {factor}.")
        require_optimizer(optimizer)
        self.factor = factor
        self.optimizer = optimizer
        listed = isinstance(min_lr, (list, tuple))
        self.default_min_lr = None if listed else min_lr
        self.min_lrs: list[Any] = [*min_lr] if listed else [min_lr] * len(optimizer.param_groups)  # type: ignore[misc]
        if len(self.min_lrs) != len(optimizer.param_groups):
            raise ValueError(
                f"expected {len(optimizer.param_groups)} min_lrs, got {len(self.min_lrs)}; give one, or one for each "
                "group"
            )
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = option_values(optimizer, "lr")
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _init_is_better(self, mode: str, threshold: float, threshold_mode: str) -> None:
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown! It is 'min' or 'max'.")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown! It is 'rel' or 'abs'.")
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Look at a new value of the metric (a number or a tensor with one element)."""
        refuse_inside()
        value = float(metrics)
        if epoch is not None:
            warn_of_epoch()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(value, self.best):
            self.best = value
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = option_values(self.optimizer, "lr")

    @property
    def in_cooldown(self) -> bool:
        """True while steps after a reduction do not count."""
        return self.cooldown_counter > 0

    def _is_better(self, value: float, best: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "abs":
            return sign * value > sign * best + self.threshold
        return sign * value > sign * best * (1.0 + sign * self.threshold)

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}): a group was added. Please set "
                    "`min_lrs` to one value for each group."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            rate = float(group["lr"])
            lower = max(rate * self.factor, least)
            if rate - lower > self.eps:
                set_option(group, "lr", lower)

    def _take_over(self, state: dict[str, Any]) -> None:
        super()._take_over(state)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)
