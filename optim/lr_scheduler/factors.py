"""Plans that multiply the rate: by a function of the step, at certain steps, or along a line or a power."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..optimizer import Optimizer
from .base import ClosedForm, LRScheduler, load_callable, require_optimizer, saved_callable


class _ByFunction(LRScheduler):
    """Plans with a user's function for each group, which is not saved (the attributes of a callable object are)."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        require_optimizer(optimizer)
        groups = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            lr_lambda = [lr_lambda] * groups
        if len(lr_lambda) != groups:
            raise ValueError(
                f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}; give one function, or one for each group"
            )
        self.lr_lambdas: list[Callable[[int], float]] = list(lr_lambda)
        self._check_functions()
        super().__init__(optimizer, last_epoch)

    def _check_functions(self) -> None:
        """LambdaLR finds out when it calls them, as PyTorch's does."""

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and the functions, which are given again to a new scheduler."""
        return self._saved(lr_lambdas=[saved_callable(function) for function in self.lr_lambdas])

    def _holders(self) -> Iterator[Any]:
        yield self
        yield from (function for function in self.lr_lambdas if hasattr(function, "__dict__"))

    def _take_over(self, state: dict[str, Any]) -> None:
        saved = state.pop("lr_lambdas")
        super()._take_over(state)
        for function, attributes in zip(self.lr_lambdas, saved, strict=True):
            load_callable(function, attributes)


class LambdaLR(_ByFunction):
    """The first rate times ``lr_lambda(epoch)``; one function, or one for each group (ValueError for another number).

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tg.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> optimizer.step(); scheduler.step()
    >>> optimizer.param_groups[0]["lr"]
    0.5
    """

    def _rates(self) -> list[Any]:
        return [base * factor(self.last_epoch) for factor, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_ByFunction):
    """At each step the rate times ``lr_lambda(epoch)``; one function, or one for each group (ValueError for another
    number).

    TypeError for what cannot be called.

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tg.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def _check_functions(self) -> None:
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(
                    f"lr_lambda should be a function, but got {type(function).__name__}; for a constant factor use "
                    "ExponentialLR"
                )

    def _rates(self) -> list[Any]:
        if self._is_initial:
            return super()._rates()
        groups = self.optimizer.param_groups
        return [group["lr"] * factor(self.last_epoch) for factor, group in zip(self.lr_lambdas, groups, strict=True)]

    def next_rate(self, rate: Any) -> Any:
        return rate


class StepLR(ClosedForm):
    """Times `gamma` every `step_size` steps.

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tg.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for _ in range(4):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step(); scheduler.step()
    [1.0]
    [1.0]
    [0.5]
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: Any) -> Any:
        turns = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return rate * self.gamma if turns else rate

    def rate_at(self, base: Any, epoch: int) -> Any:
        return base * self.gamma ** (epoch // self.step_size)


class MultiStepLR(ClosedForm):
    """Times `gamma` (default 0.1) at each of the `milestones` (a step that is listed twice counts twice).

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tg.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 3], gamma=0.5)
    >>> for _ in range(3):
    ...     optimizer.step(); scheduler.step()
    ...     print(scheduler.get_last_lr())
    [0.5]
    [0.5]
    [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: Any) -> Any:
        times = self.milestones.get(self.last_epoch)
        return rate if times is None else rate * self.gamma**times

    def rate_at(self, base: Any, epoch: int) -> Any:
        return base * self.gamma ** bisect_right(sorted(self.milestones.elements()), epoch)


class ConstantLR(ClosedForm):
    """Times `factor` (default 1/3) until step `total_iters` (5), the full rate from there on.

    ValueError for a factor outside [0, 1].

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tg.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> for _ in range(2):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step(); scheduler.step()
    [0.5]
    [0.5]
    >>> scheduler.get_last_lr()
    [1.0]
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError(f"Constant multiplicative factor expected to be between 0 and 1. It is {factor}.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: Any) -> Any:
        if self.last_epoch == 0:
            return rate * self.factor
        return rate * (1.0 / self.factor) if self.last_epoch == self.total_iters else rate

    def rate_at(self, base: Any, epoch: int) -> Any:
        return base * (self.factor + (epoch >= self.total_iters) * (1 - self.factor))


class LinearLR(ClosedForm):
    """Times a factor that goes from `start_factor` to `end_factor` in `total_iters` steps: a warm-up.

    ValueError for a start outside of (0, 1] or an end outside of [0, 1].

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tg.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> optimizer.step(); scheduler.step()
    >>> optimizer.param_groups[0]["lr"]
    0.75
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1. "
                f"It is {start_factor}."
            )
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError(f"Ending multiplicative factor expected to be between 0 and 1. It is {end_factor}.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: Any) -> Any:
        if self.last_epoch == 0:
            return rate * self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return rate
        rise = self.end_factor - self.start_factor
        return rate * (1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise))

    def rate_at(self, base: Any, epoch: int) -> Any:
        rise = (self.end_factor - self.start_factor) * min(self.total_iters, epoch)
        return base * (self.start_factor + rise / self.total_iters)


class ExponentialLR(ClosedForm):
    """Times `gamma` at each step.

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tg.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> for _ in range(3):
    ...     optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.125]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: Any) -> Any:
        return rate if self._is_initial else rate * self.gamma

    def rate_at(self, base: Any, epoch: int) -> Any:
        return base * self.gamma**epoch


class PolynomialLR(ClosedForm):
    """Times ``(1 - epoch / total_iters) ** power``, down to 0; `total_iters` is 5 and `power` 1.0 unless given.

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = tg.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=2, power=2.0)
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step()
    ...     print(scheduler.get_last_lr())
    [0.25]
    [0.0]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def next_rate(self, rate: Any) -> Any:
        if self._is_initial or self.last_epoch > self.total_iters:
            return rate
        left, before = 1.0 - self.last_epoch / self.total_iters, 1.0 - (self.last_epoch - 1) / self.total_iters
        return rate * (left / before) ** self.power

    def rate_at(self, base: Any, epoch: int) -> Any:
        return base * (1.0 - min(self.total_iters, epoch) / self.total_iters) ** self.power
