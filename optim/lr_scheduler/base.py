"""What all plans share: counting steps, setting rates, saving, and the warnings about the order of calls."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ...functional.shapes import clone
from ...ops.array import eager
from ...ops.callers.class_homes import home_of
from ...ops.core import current
from ...tensors.tensor import Tensor
from ...tracing.declares import Declares
from ...tracing.user_warning import warn_user
from ...tracing.watch import forbid
from ..optimizer import Optimizer


def set_option(group: Any, key: str, value: Any) -> None:
    """Set ``group[key]``; an option that is a tensor keeps its memory and takes the number."""
    if isinstance(group[key], Tensor):
        eager().write(group[key], current().constant(float(value), group[key].dtype))
    else:
        group[key] = value


def option_values(optimizer: Optimizer, key: str) -> list[Any]:
    """``group[key]`` of all groups; tensors are copied, so that nobody changes an option through the list."""
    return [own(group[key]) for group in optimizer.param_groups]


def own(value: Any) -> Any:
    """`value`, as a copy if it is a tensor."""
    return clone(value) if isinstance(value, Tensor) else value


def refuse_inside() -> None:
    """A step counts in Python: a recording names the line and is not replayed."""
    forbid("a step of a learning-rate scheduler", "Do it outside.")


def require_optimizer(optimizer: Any) -> None:
    """TypeError for anything but an optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer; pass the optimizer whose rates it shall set")


def for_each_group(name: str, value: Any, optimizer: Optimizer) -> list[Any]:
    """`value` for every group; a list or tuple must have one value for each (ValueError)."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [own(value) for _ in range(groups)]
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups: {name} has {len(value)} values, "
            f"param_groups has {groups}. Give one value for all groups, or one for each."
        )
    return [own(each) for each in value]


def saved_callable(function: Any) -> dict[str, Any] | None:
    """What ``state_dict()`` keeps of a user's function: the attributes of a callable object, nothing of a function."""
    return None if function is None or isinstance(function, types.FunctionType) else function.__dict__.copy()


def load_callable(function: Any, saved: Any) -> None:
    """Give a user's callable object the attributes that `saved_callable` kept."""
    if saved is None:
        return
    if not isinstance(saved, dict) or not hasattr(function, "__dict__"):
        raise ValueError(f"loaded state dict has {saved!r} as the attributes of {function!r}, which cannot take them")
    function.__dict__.update(saved)


_COMMON = ("base_lrs", "last_epoch", "_step_count", "_last_lr")
_KINDS: tuple[tuple[type, ...], ...] = (
    (bool, np.bool_),
    (int, float, np.number, Tensor),
    (list, tuple),
    (dict,),
    (str,),
)


def _kind(value: Any) -> int | None:
    return next((i for i, kinds in enumerate(_KINDS) if isinstance(value, kinds)), None)


def _check_kind(key: str, current: Any, value: Any) -> None:
    """ValueError where a number, a list, a dict or a text would be replaced by something of another kind."""
    fits = _kind(current) in (None, _kind(value))
    if fits and isinstance(current, (list, tuple)):
        members = {_kind(member) for member in current}
        fits = len(members) != 1 or members == {None} or {_kind(member) for member in value} <= members
    if not fits:
        raise ValueError(f"loaded state dict has {value!r} as {key!r}, where the scheduler has {current!r}")


class LRScheduler:
    """Base of the plans. A subclass says in ``get_lr`` what the rates are at `last_epoch`.

    `last_epoch` counts the steps, from 0 after the constructor; `base_lrs` are the rates at the start. With
    ``last_epoch=n`` the plan is resumed: the groups must hold "initial_lr" (KeyError if not). TypeError if `optimizer`
    is none. Call ``step()`` after the optimizer's, outside of the compiled function.

    >>> import tracegrad as tg
    >>> class Halving(tg.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base * 0.5**self.last_epoch for base in self.base_lrs]
    >>> optimizer = tg.optim.SGD([tg.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = Halving(optimizer)
    >>> for _ in range(3):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.125]
    """

    _declares = Declares(attributes=True)

    _is_initial = False
    _get_lr_called_within_step = False
    _last_lr: list[Any]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        require_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0. Load the optimizer's state first, or leave last_epoch out for a fresh run."
                )
        self.base_lrs = option_values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        optimizer.watch_steps()
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def step(self, epoch: int | None = None) -> None:
        """Go on by one step. With `epoch` (deprecated, as in PyTorch): to that one, by the closed form if there is one.

        Warns when the first step comes before the optimizer's first one. Difference: an optimizer that was already
        part of a compiled function when its first scheduler was made gets no such warning.
        """
        refuse_inside()
        if self._step_count == 1:
            self._warn_of_wrong_order()
        self._step_count += 1
        if epoch is not None:
            warn_of_epoch()
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
        self._set_rates(self._inside_step(self.get_lr if closed is None else closed))

    def _set_rates(self, rates: Iterable[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_option(group, "lr", rate)
        self._last_lr = option_values(self.optimizer, "lr")

    def get_lr(self) -> list[float | Tensor]:
        """The rates for `last_epoch`. It belongs to ``step()``: for the present rates ask ``get_last_lr()``."""
        if not self._get_lr_called_within_step:
            warn_user(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`; `get_lr()` "
                "computes the next one.",
            )
        return self._rates()

    def _rates(self) -> list[Any]:
        return [self.next_rate(rate) for rate in option_values(self.optimizer, "lr")]

    def next_rate(self, rate: Any) -> Any:
        """The rate at `last_epoch` of a group that has `rate` now."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its rates are: define get_lr()")

    def get_last_lr(self) -> list[float | Tensor]:
        """The rates of the groups after the last step."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer, to be saved."""
        return self._saved()

    def _saved(self, **instead: Any) -> dict[str, Any]:
        """Everything but the optimizer; what is saved as something else stands at the end, as in PyTorch."""
        kept = {key: value for key, value in self.__dict__.items() if key != "optimizer" and key not in instead}
        return {**kept, **instead}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what ``state_dict()`` gave, or change nothing: TypeError, ValueError if it is none."""
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        kept = [(holder, dict(holder.__dict__)) for holder in self._holders()]
        try:
            self._take_over(dict(state_dict))
        except BaseException:
            for holder, attributes in kept:
                holder.__dict__.clear()
                holder.__dict__.update(attributes)
            raise

    def _holders(self) -> Iterator[Any]:
        """All objects whose attributes a loaded state sets."""
        yield self

    def _take_over(self, state: dict[str, Any]) -> None:
        """Set the attributes; what is raised here undoes all of them."""
        ours = home_of(type(self)).startswith(__package__)  # what users' plans keep may change its kind
        for key, value in state.items():
            if ours or key in _COMMON:
                _check_kind(key, self.__dict__.get(key), value)
        self.__dict__.update(state)

    def _inside_step(self, rates: Callable[[], Any]) -> Any:
        try:
            self._get_lr_called_within_step = True
            return rates()
        finally:
            self._get_lr_called_within_step = False

    def _warn_of_wrong_order(self) -> None:
        if self.optimizer.step_is_replaced():
            text = (
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. "
                "Please make sure that `optimizer.step()` is called before `lr_scheduler.step()`."
            )
        elif not self.optimizer.has_stepped():
            text = (
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first rate of the plan is "
                "skipped. Call `optimizer.step()` first, then `lr_scheduler.step()`."
            )
        else:
            return
        warn_user(text)


# PyTorch's old name, for isinstance and for subclasses.
class _LRScheduler(LRScheduler):
    pass


class ClosedForm(LRScheduler):
    """A plan that gives the rate of any epoch at once, by `rate_at`."""

    def rate_at(self, base: Any, epoch: int) -> Any:
        """The rate at `epoch` of a group that started with `base`."""
        raise NotImplementedError

    def _get_closed_form_lr(self) -> list[Any]:
        return [self.rate_at(base, self.last_epoch) for base in self.base_lrs]


def warn_of_epoch() -> None:
    """The warning for ``step(epoch)``."""
    warn_user(
        "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please "
        "use `scheduler.step()` to step the scheduler; with an epoch the closed form is used instead of the chainable "
        "one, where available."
    )
