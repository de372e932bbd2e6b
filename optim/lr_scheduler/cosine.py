"""Plans along a cosine (Loshchilov & Hutter 2017), with and without restarts."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from .base import ClosedForm, LRScheduler, refuse_inside


def _between(low: float, high: Any, place: float) -> Any:
    """From `high` at place 0 to `low` at place pi, along a cosine."""
    return low + (high - low) * (1 + math.cos(place)) / 2


class CosineAnnealingLR(ClosedForm):
    """From the first rate to `eta_min` along half a cosine in `T_max` steps, and back.

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tg.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    >>> for _ in range(4):
    ...     optimizer.step(); scheduler.step()
    >>> optimizer.param_groups[0]["lr"]
    0.0
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Any]:
        groups = self.optimizer.param_groups
        if self._is_initial:
            return super()._rates()
        if self._step_count == 1 and self.last_epoch > 0:
            place = self.last_epoch * math.pi / self.T_max
            return [_between(self.eta_min, base, place) for base, _ in zip(self.base_lrs, groups, strict=True)]
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # at the bottom the ratio below would be 0 / 0
            up = 1 - math.cos(math.pi / self.T_max)
            pairs = zip(self.base_lrs, groups, strict=True)
            return [group["lr"] + (base - self.eta_min) * up / 2 for base, group in pairs]
        return super()._rates()

    def next_rate(self, rate: Any) -> Any:
        if self._is_initial:
            return rate
        now, before = (1 + math.cos(math.pi * epoch / self.T_max) for epoch in (self.last_epoch, self.last_epoch - 1))
        return now / before * (rate - self.eta_min) + self.eta_min

    def rate_at(self, base: Any, epoch: int) -> Any:
        return _between(self.eta_min, base, math.pi * epoch / self.T_max)


class CosineAnnealingWarmRestarts(LRScheduler):
    """From the first rate to `eta_min` along half a cosine in `T_0` steps, then from the start again.

    Each round is `T_mult` times as long as the one before. ``step(epoch)`` takes fractions, for steps within an epoch.
    ValueError for a `T_0` below 1, a `T_mult` below 1, or ones that are no integers.

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tg.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step()
    >>> optimizer.param_groups[0]["lr"]
    1.0
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}; it is the length of the first round")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}; it lengthens the rounds")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Any]:
        return [_between(self.eta_min, base, math.pi * self.T_cur / self.T_i) for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on by one step; with `epoch`, an int or float from 0 on (ValueError below), to that one."""
        refuse_inside()
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur = self.T_cur + 1
            if self.T_cur >= self.T_i:
                self.T_cur = self.T_cur % self.T_i
                self.T_i = self.T_i * self.T_mult
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._set_rates(self._inside_step(self.get_lr))

    def _go_to(self, epoch: float) -> None:
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}; the plan starts at 0")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:  # the rounds before make a geometric series
            done = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**done - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**done
