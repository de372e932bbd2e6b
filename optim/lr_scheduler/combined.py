"""Schedulers that are made of schedulers: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, option_values, refuse_inside, set_option
from .plateau import ReduceLROnPlateau


class _Combined(LRScheduler):
    """What both share: the parts, which are saved with it."""

    _schedulers: Sequence[LRScheduler]

    def _check(self, schedulers: Sequence[Any], optimizer: Any) -> None:
        """ValueError or TypeError for parts that do not fit together."""
        name = type(self).__name__
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute; pass schedulers")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {i}. Step it by itself."
                )
            if optimizer is not scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer; the parts as their own dicts."""
        return self._saved(_schedulers=[scheduler.state_dict() for scheduler in self._schedulers])

    def _holders(self) -> Iterator[Any]:
        yield self
        for scheduler in self._schedulers:
            yield from scheduler._holders()

    def _take_over(self, state: dict[str, Any]) -> None:
        parts = state.pop("_schedulers")
        super()._take_over(state)
        for scheduler, saved in zip(self._schedulers, parts, strict=True):
            scheduler.load_state_dict(saved)


class SequentialLR(_Combined):
    """One scheduler after the other; `milestones` are the steps at which the next one begins, from its own step 0.

    ValueError if there are not one fewer milestones than schedulers, or schedulers of different optimizers.

    >>> import tracegrad as tg
    >>> plans, optimizer = tg.optim.lr_scheduler, tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> warm_up = plans.ConstantLR(optimizer, factor=0.5, total_iters=10)
    >>> decay = plans.ExponentialLR(optimizer, gamma=0.25)
    >>> scheduler = plans.SequentialLR(optimizer, [warm_up, decay], milestones=[2])
    >>> for _ in range(4):
    ...     print(scheduler.get_last_lr())
    ...     optimizer.step(); scheduler.step()
    [0.5]
    [0.5]
    [1.0]
    [0.25]
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got {len(schedulers)} schedulers and {len(milestones)} milestones"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # The constructors of the parts have all taken their first step: back to the start, then the first part's.
        for group in optimizer.param_groups:
            set_option(group, "lr", group["initial_lr"])
        self.recursive_undo()
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take back the first step of `sched` (default: of all parts), through combined ones."""
        combined = self if sched is None else sched
        if hasattr(combined, "_schedulers"):
            for scheduler in combined._schedulers:
                self.recursive_undo(scheduler)
        elif hasattr(combined, "last_epoch"):
            combined.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]  # as in PyTorch there is no epoch to go to
        """Go on by one step."""
        refuse_inside()
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Combined):
    """All schedulers at each step, one on the rate of the other.

    >>> import tracegrad as tg
    >>> plans, optimizer = tg.optim.lr_scheduler, tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> parts = [plans.ConstantLR(optimizer, factor=0.5), plans.ExponentialLR(optimizer, gamma=0.5)]
    >>> scheduler = plans.ChainedScheduler(parts)
    >>> optimizer.step(); scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler."
            )
        optimizer = optimizer or schedulers[0].optimizer
        self._check(schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = option_values(optimizer, "lr")

    def step(self) -> None:  # type: ignore[override]
        """Go on by one step."""
        refuse_inside()
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = option_values(self.optimizer, "lr")
