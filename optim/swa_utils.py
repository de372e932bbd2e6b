"""Averages of a model's parameters over training: stochastic weight averaging, and exponential moving averages."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..functional.arithmetic import lerp
from ..nn.module import Module
from ..nn.normalization import BatchNorm
from ..tape.grad_mode import no_grad
from ..tensors.creation import tensor
from ..tensors.device import require_cpu
from ..tensors.tensor import Tensor
from ..tracing.user_warning import warn_user
from ..tracing.watch import as_number
from .lr_scheduler.base import LRScheduler, for_each_group
from .optimizer import Optimizer

if TYPE_CHECKING:
    from ..tensors.calling.annotations import DeviceLike

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Any], Tensor]
MultiAverage = Callable[[Sequence[Tensor], Sequence[Tensor], Any], None]


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """A function that moves a list of averages by ``1 - decay`` of the way to the present values, in place: a
    `multi_avg_fn` of `AveragedModel`.

    `decay` is 0.999 unless given; ValueError for one outside [0, 1].

    >>> import tracegrad as tg
    >>> average, current = [tg.zeros(2)], [tg.ones(2)]
    >>> tg.optim.swa_utils.get_ema_multi_avg_fn(0.75)(average, current, None)
    >>> average
    [tensor([0.2500, 0.2500])]
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Sequence[Tensor], current_param_list: Sequence[Tensor], _: Any) -> None:
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            if average.dtype.is_floating_point:
                average.copy_(lerp(average, current, 1 - decay))
            else:
                average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> MultiAverage:
    """A function that takes one more value into a list of equally weighted averages, in place: a `multi_avg_fn` of
    `AveragedModel`.

    >>> import tracegrad as tg
    >>> average, current = [tg.zeros(2)], [tg.ones(2)]
    >>> tg.optim.swa_utils.get_swa_multi_avg_fn()(average, current, 3)
    >>> average
    [tensor([0.2500, 0.2500])]
    """

    @no_grad()
    def swa_update(
        averaged_param_list: Sequence[Tensor], current_param_list: Sequence[Tensor], num_averaged: Any
    ) -> None:
        share = 1 / (num_averaged + 1)
        if isinstance(share, Tensor):
            share = as_number(share)
        for average, current in zip(averaged_param_list, current_param_list, strict=True):
            average.copy_(average + (current - average) * share)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """A function that gives ``decay * average + (1 - decay) * current``: an `avg_fn` of `AveragedModel`.

    `decay` is 0.999 unless given; ValueError for one outside [0, 1].

    >>> import tracegrad as tg
    >>> tg.optim.swa_utils.get_ema_avg_fn(0.75)(tg.zeros(2), tg.ones(2), 3)
    tensor([0.2500, 0.2500])
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Average:
    """A function that gives ``average + (current - average) / (n_averaged + 1)``, the equally weighted average of one
    value more: an `avg_fn` of `AveragedModel`.

    >>> import tracegrad as tg
    >>> tg.optim.swa_utils.get_swa_avg_fn()(tg.zeros(2), tg.ones(2), 3)
    tensor([0.2500, 0.2500])
    """

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of `model` whose parameters are averages of those that `update_parameters` has seen.

    The first update copies; later ones average equally, by ``avg_fn(average, current, n_averaged)`` for each parameter,
    or by ``multi_avg_fn(averages, currents, n_averaged)`` in place for lists of one dtype. With `use_buffers` buffers
    are averaged as well; without, they are copied. AssertionError for both functions; RuntimeError for a device that is
    not the CPU.

    >>> import tracegrad as tg
    >>> model = tg.nn.Linear(1, 1, bias=False)
    >>> averaged = tg.optim.swa_utils.AveragedModel(model)
    >>> for value in (1.0, 3.0):
    ...     _ = tg.nn.init.constant_(model.weight, value)
    ...     averaged.update_parameters(model)
    >>> averaged.module.weight.item(), int(averaged.n_averaged)
    (2.0, 2)
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: DeviceLike | None = None,
        avg_fn: Average | None = None,
        multi_avg_fn: MultiAverage | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        require_cpu(device)
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", tensor(0))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of `model` in."""
        of_own, of_model = (
            [each.detach() for each in itertools.chain(m.parameters(), m.buffers() if self.use_buffers else ())]
            for m in (self.module, model)
        )
        if self.n_averaged == 0:
            for average, current in zip(of_own, of_model, strict=False):
                average.copy_(current)
        else:
            self._average(of_own, of_model)
        if not self.use_buffers:
            for kept, current in zip(self.module.buffers(), model.buffers(), strict=True):
                kept.detach().copy_(current.detach())
        self.n_averaged += 1

    def _average(self, averages: Sequence[Tensor], currents: Sequence[Tensor]) -> None:
        pairs = list(zip(averages, currents, strict=False))
        if self.multi_avg_fn is None:
            mean = self.avg_fn or get_swa_avg_fn()
            for average, current in pairs:
                average.copy_(mean(average, current, self.n_averaged))
            return
        for dtype in dict.fromkeys(average.dtype for average, _ in pairs):
            group = [pair for pair in pairs if pair[0].dtype is dtype]
            self.multi_avg_fn([average for average, _ in group], [current for _, current in group], self.n_averaged)


@no_grad()
def update_bn(loader: Iterable[Tensor | Sequence[Any]], model: Module, device: DeviceLike | None = None) -> None:
    """Make the running statistics of the model's batch norms those of the data that `loader` gives.

    Each batch is a tensor, or a list or tuple that begins with one; all batches have one weight. The model is in
    training mode meanwhile, and nothing is recorded for gradients. A `device` other than the CPU is refused.

    >>> import tracegrad as tg
    >>> model = tg.nn.BatchNorm1d(1)
    >>> tg.optim.swa_utils.update_bn([tg.tensor([[1.0], [3.0]]), tg.tensor([[5.0], [7.0]])], model)
    >>> model.running_mean, model.running_var
    (tensor([4.]), tensor([2.]))
    """
    require_cpu(device)
    norms = [module for module in model.modules() if isinstance(module, BatchNorm)]
    if not norms:
        return
    kept = [module.momentum for module in norms]
    was_training = model.training
    model.train()
    for module in norms:
        module.reset_running_stats()
        module.momentum = None
    for batch in loader:
        model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for module, momentum in zip(norms, kept, strict=True):
        module.momentum = momentum
    model.train(was_training)


def _linear_anneal(t: float) -> float:
    return t


def _cosine_anneal(t: float) -> float:
    return (1 - math.cos(math.pi * t)) / 2


class SWALR(LRScheduler):
    """Rates that go to `swa_lr` within `anneal_epochs` steps and stay there, along a cosine or a line.

    `swa_lr` is one rate or one for each group. ValueError for another strategy, or a number of steps below 0.

    >>> import tracegrad as tg
    >>> optimizer = tg.optim.SGD([tg.nn.Parameter(tg.ones(1))], lr=1.0)
    >>> scheduler = tg.optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> for _ in range(3):
    ...     optimizer.step()
    ...     scheduler.step()
    ...     print(scheduler.get_last_lr())
    [0.75]
    [0.5]
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for rate, group in zip(for_each_group("swa_lr", swa_lr, optimizer), optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """How much of the way is gone at the fraction `t` of the time."""
        return _cosine_anneal(t) if self._anneal_strategy == "cos" else _linear_anneal(t)

    def get_lr(self) -> list[float | Tensor]:
        """The rates for the present step."""
        if not self._get_lr_called_within_step:
            warn_user(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
            )
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = (self.anneal_func(max(0, min(1, s / max(1, self.anneal_epochs)))) for s in (step - 1, step))
        return [self._rate(group["lr"], group["swa_lr"], before, now) for group in self.optimizer.param_groups]

    def _rate(self, rate: Any, final: Any, before: float, now: float) -> Any:
        start = final if before == 1 else (rate - before * final) / (1 - before)
        return final * now + start * (1 - now)
