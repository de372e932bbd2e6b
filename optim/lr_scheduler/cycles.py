"""Plans that drive the rate up and down, and momentum (SGD) or the first beta (Adam) the other way."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..optimizer import Optimizer
from .base import LRScheduler, for_each_group, load_callable, require_optimizer, saved_callable, set_option

# How the height of a cycle changes: a function of gamma and of the count that the second entry names.
_SCALES: dict[str, tuple[Callable[[float, float], float], str]] = {
    "triangular": (lambda gamma, cycle: 1.0, "cycle"),
    "triangular2": (lambda gamma, cycle: 1 / 2.0 ** (cycle - 1), "cycle"),
    "exp_range": (lambda gamma, iteration: gamma**iteration, "iterations"),
}


class _MomentumCycle(LRScheduler):
    """What both share: the momentum of each group, which is called momentum or is the first of the betas."""

    cycle_momentum: bool
    use_beta1: bool

    def _start_momentum(self, base: list[Any], top: list[Any], fresh: bool) -> None:
        """The cycle begins at the top."""
        if not fresh:
            return
        for group, low, high in zip(self.optimizer.param_groups, base, top, strict=True):
            self._set_momentum(group, high)
            group["max_momentum"] = high
            group["base_momentum"] = low

    def _find_momentum(self) -> None:
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled; pass "
                "cycle_momentum=False"
            )
        self.use_beta1 = "betas" in defaults

    def _set_momentum(self, group: Any, value: Any) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_MomentumCycle):
    """From `base_lr` to `max_lr` and back, again and again (Smith 2017); momentum from `max_momentum` down and back.

    A cycle has `step_size_up` steps up and `step_size_down` (default: as many) down. `mode` says what becomes of its
    height: "triangular" keeps it, "triangular2" halves it after each cycle, "exp_range" multiplies it by `gamma` at
    each step; `scale_fn` replaces the mode, as a function of the cycle or of the step (`scale_mode` "iterations").
    ValueError for an unknown mode, and for an optimizer that has neither momentum nor betas to cycle.

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> scheduler = tg.optim.lr_scheduler.CyclicLR(optimizer, base_lr=1.0, max_lr=2.0, step_size_up=2)
    >>> for _ in range(2):
    ...     optimizer.step(); scheduler.step()
    >>> optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["momentum"]
    (2.0, 0.8)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        require_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = for_each_group("base_lr", base_lr, optimizer)
        self.max_lrs = for_each_group("max_lr", max_lr, optimizer)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in _SCALES and scale_fn is None:
            raise ValueError(f"mode is invalid and scale_fn is None: {mode!r}; modes are {', '.join(_SCALES)}")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._find_momentum()
            self.base_momentums = for_each_group("base_momentum", base_momentum, optimizer)
            self.max_momentums = for_each_group("max_momentum", max_momentum, optimizer)
            self._start_momentum(self.base_momentums, self.max_momentums, fresh=last_epoch == -1)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs, strict=True):
                set_option(group, "lr", rate)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is None and self.mode in _SCALES:
            self.scale_mode = _SCALES[self.mode][1]

    def scale_fn(self, x: float) -> float:
        """The height of cycle number `x` (from 1), or at step `x`, as a part of the first one's."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return _SCALES[self.mode][0](self.gamma, x)

    def _rates(self) -> list[Any]:
        done = self.last_epoch / self.total_size
        cycle = math.floor(1 + done)
        x = 1.0 + done - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        count = cycle if self.scale_mode == "cycle" else self.last_epoch
        if self.cycle_momentum:
            limits = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
            for group, low, high in limits:
                self._set_momentum(group, high - (high - low) * height * self.scale_fn(count))
        rates = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height * self.scale_fn(count) for low, high in rates]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and `scale_fn` (of a callable object the attributes are kept)."""
        return self._saved(_scale_fn_custom=saved_callable(self._scale_fn_custom))

    def _holders(self) -> Iterator[Any]:
        yield self
        if hasattr(self._scale_fn_custom, "__dict__"):
            yield self._scale_fn_custom

    def _take_over(self, state: dict[str, Any]) -> None:
        saved = state.pop("_scale_fn_custom")
        super()._take_over(state)
        load_callable(self._scale_fn_custom, saved)
        if self._scale_fn_custom is None and self.mode not in _SCALES:
            raise ValueError(f"loaded state dict has the mode {self.mode!r}; it must be one of {sorted(_SCALES)}")
        self._init_scale_fn()


def _phases(ends: Sequence[float], rates: Sequence[str], momentums: Sequence[str]) -> list[dict[str, Any]]:
    """One dict a phase: where it ends, and the keys of its group's rates and momentums at both ends."""
    return [
        {"end_step": end, "start_lr": start, "end_lr": to, "start_momentum": start_momentum, "end_momentum": momentum}
        for end, start, to, start_momentum, momentum in zip(
            ends, rates, rates[1:], momentums, momentums[1:], strict=False
        )
    ]


class OneCycleLR(_MomentumCycle):
    """Up to `max_lr` and down to almost nothing, once (Smith & Topin 2018); momentum the other way. Step it each batch.

    The first `pct_start` of all steps go from ``max_lr / div_factor`` to `max_lr`, the others down to the first rate
    divided by `final_div_factor`, along a cosine or a line (`anneal_strategy`). With `three_phase` the way down to the
    first rate takes as long as the way up. `total_steps`, or `epochs` and `steps_per_epoch`, tell the length;
    ValueError for neither, for one more step than that, and for arguments out of range.

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.Adam([tg.zeros(1, requires_grad=True)])
    >>> scheduler = tg.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.5, total_steps=4, pct_start=0.5)
    >>> optimizer.step(); scheduler.step()
    >>> optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["betas"]
    (0.5, (0.85, 0.999))
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        require_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._schedule_phases = self._plan(pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        max_lrs = for_each_group("max_lr", max_lr, optimizer)
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, max_lrs, strict=True):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._find_momentum()
            top = for_each_group("max_momentum", max_momentum, optimizer)
            base = for_each_group("base_momentum", base_momentum, optimizer)
            self._start_momentum(base, top, fresh=last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def _plan(self, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
        up, last = float(pct_start * self.total_steps) - 1, self.total_steps - 1
        if not three_phase:
            return _phases((up, last), ("initial_lr", "max_lr", "min_lr"), _DOWN_AND_UP)
        down = float(2 * pct_start * self.total_steps) - 2
        rates = ("initial_lr", "max_lr", "initial_lr", "min_lr")
        return _phases((up, down, last), rates, (*_DOWN_AND_UP, "max_momentum"))

    def _anneal(self, start: Any, end: Any, part: float) -> Any:
        """The value at `part` (0 to 1) of the way from `start` to `end`."""
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)
        return (end - start) * part + start

    def _phase(self) -> tuple[dict[str, Any], float]:
        """The phase of `last_epoch`, and how much of it is done."""
        begin = 0.0
        for phase in self._schedule_phases[:-1]:
            if self.last_epoch <= phase["end_step"]:
                break
            begin = phase["end_step"]
        else:
            phase = self._schedule_phases[-1]
        return phase, (self.last_epoch - begin) / (phase["end_step"] - begin)

    def _rates(self) -> list[Any]:
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is {self.total_steps}"
            )
        phase, part = self._phase()
        groups = self.optimizer.param_groups
        rates = [self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], part) for group in groups]
        if self.cycle_momentum:
            for group in groups:
                start, end = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._anneal(start, end, part))
        return rates


_DOWN_AND_UP = ("max_momentum", "base_momentum", "max_momentum")


def _total_steps(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    """The length of the cycle; ValueError if it is not given or not a positive integer."""
    if total_steps is not None:
        return _positive("total_steps", total_steps)
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return _positive("epochs", epochs) * _positive("steps_per_epoch", steps_per_epoch)


def _positive(name: str, value: Any) -> int:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")
    return value
