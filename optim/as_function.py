"""An optimizer's step as a function of tensors alone: what it writes is what the function returns.

Optimizers that are built alike have one function, whichever parameters they update: so a program that makes an
optimizer in each call (the inner loop of meta-learning) needs no program for each of them. The function computes by
the class's own `update`, on copies that it makes; numbers among the options are tensors, so that others make no other
function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ops.exposure import owner_of
from ..ops.identity import copy
from ..ops.types import DType, float32, float64
from ..tensors.operands import PLAIN_TENSORS
from ..tensors.tensor import Tensor, make
from ..tracing.watch import Entries, as_number, watcher
from .declared import OPTIMIZER
from .options import Options
from .state import complete, is_needed, store

_PLAIN = frozenset((bool, int, str, type(None), DType))
_OWN = OPTIMIZER.apart | {"defaults"}  # what an optimizer holds of itself
_STEPPING = ("_step", "_update_all", "_step_group", "_update_one")  # defined once: by `Optimizer`
_NUMBER = object()  # in a key, for an option that is a number other than 0


class _Unlike(Exception):
    """The step is no such function."""


class StepForm(NamedTuple):
    """What optimizers have in common that are built alike."""

    kind: Any  # the optimizers' class
    groups: tuple[tuple[tuple[str, Hashable], ...], ...]  # options by name
    members: tuple[tuple[int, tuple[str, ...]], ...]  # of each parameter with a gradient: its group, names of its state

    def function(self) -> Callable[..., list[Tensor] | None]:
        """What all steps of this form are: ``function(*call.given)`` gives what goes to ``call.written``.

        None, with nothing done, where a step makes state of its own (the first one with momentum).
        """

        def step(*given: Tensor) -> list[Tensor] | None:
            return _stepped(self, given)

        step.__name__ = step.__qualname__ = self.kind.__name__
        return step


class StepCall(NamedTuple):
    """One step of an optimizer of this form: the tensors that its function takes, and those that its results go to."""

    form: StepForm
    given: tuple[Tensor, ...]
    written: tuple[Tensor, ...]

    def write(self, new: Sequence[Tensor]) -> None:
        """Put the function's results in their places; nothing is differentiated meanwhile."""
        for target, value in zip(self.written, new, strict=True):
            store(target, value)


class StepsAsCalls:
    """The part of `Optimizer` that gives a step as a call of such a function."""

    def step_as_call(self) -> StepCall | None:
        """The step about to be made; None where the optimizer has to make it by itself. State that it will need is
        made, as the step would."""
        return _call_of(self) if _is_usual(type(self)) else None


def _is_usual(kind: type) -> bool:
    """True for classes that say by `update` alone what a step is."""
    return all(sum(name in vars(base) for base in kind.__mro__) == 1 for name in _STEPPING)


def _call_of(optimizer: Any) -> StepCall | None:
    if not optimizer.__dict__.keys() <= _OWN or optimizer.defaults.get("differentiable"):
        return None
    numbers: list[Tensor] = []
    try:
        groups = tuple([_options(group, numbers) for group in optimizer.param_groups])
        members, written, gradients = _members(optimizer)
    except _Unlike:
        return None
    owners = {owner_of(tensor.ndarray) for tensor in written}
    if len(owners) < len(written) or not owners.isdisjoint(owner_of(gradient.ndarray) for gradient in gradients):
        return None  # a write shows in what is read after it
    return StepCall(StepForm(type(optimizer), groups, tuple(members)), (*numbers, *gradients, *written), tuple(written))


def _options(group: Any, numbers: list[Tensor]) -> tuple[tuple[str, Hashable], ...]:
    """A group's options by name; those that are numbers other than 0 go to `numbers`."""
    if dict.get(group, "capturable"):
        raise _Unlike
    return tuple([(name, _option(value, numbers)) for name, value in dict.items(group) if name != "params"])


def _option(value: Any, numbers: list[Tensor]) -> Hashable:
    if type(value) is float:
        if not value:
            return float, repr(value)  # -0.0 is not 0.0
        numbers.append(make(np.array(value, np.float64)))
        return _NUMBER
    if type(value) is tuple:
        return tuple([_option(each, numbers) for each in value])
    if type(value) in _PLAIN:
        return type(value), value
    raise _Unlike


def _members(optimizer: Any) -> tuple[list[Any], list[Tensor], list[Tensor]]:
    """What has a gradient, with the tensors that a step writes, and the gradients."""
    members: list[Any] = []
    written: list[Tensor] = []
    gradients: list[Tensor] = []
    for index, group in enumerate(optimizer.param_groups):
        needed = [key for key, when in optimizer.per_parameter.items() if is_needed(group, when)]
        for p in dict.__getitem__(group, "params"):
            gradient = p.grad
            if gradient is None:
                continue
            _require_plain(p, gradient)
            entry = optimizer.state.of(p)
            if needed:
                complete(entry, needed, functools.partial(optimizer.initial, p, group))
            state = tuple(dict.values(entry))
            _require_plain(*state)
            members.append((index, tuple(dict.keys(entry))))
            gradients.append(gradient)
            written += (p, *state)
    return members, written, gradients


def _require_plain(*tensors: Any) -> None:
    for tensor in tensors:
        if type(tensor) not in PLAIN_TENSORS or tensor.type_.dtype not in (float32, float64):
            raise _Unlike


# ------------------------------------------------------------------------------------------------------- the function


def _stepped(form: StepForm, given: Sequence[Tensor]) -> list[Tensor] | None:
    kind, groups, members = form
    optimizer: Any = object.__new__(kind)
    tensors = iter(given)
    options = [GivenOptions(dict(group), tensors) for group in groups]
    gradients = [next(tensors) for _ in members]
    written: list[Tensor] = []
    for (index, names), gradient in zip(members, gradients, strict=True):
        p, state = copy(next(tensors)), Entries()
        dict.update(state, {name: copy(next(tensors)) for name in names})
        try:
            optimizer.update(p, gradient, state, options[index])
        except _Unlike:
            return None
        if tuple(dict.keys(state)) != names:
            return None
        written += (p, *dict.values(state))
    return written


class GivenOptions(Options):
    """The options of a group in such a function: nothing is declared, since all is in the form or among tensors."""

    def __init__(self, options: dict[str, Hashable], numbers: Iterator[Tensor]) -> None:
        super().__init__({name: _value(option, numbers) for name, option in options.items()}, 0)

    def number(self, key: str, item: int | None = None) -> Any:
        value = self.group[key] if item is None else self.group[key][item]
        if not isinstance(value, Tensor):
            return float(value)
        if (key, item) not in self._numbers:
            self._numbers[key, item] = float(value.ndarray) if watcher() is None else as_number(value)
        return self._numbers[key, item]

    def choice(self, key: str) -> Any:
        value = self.group.get(key)
        if isinstance(value, Tensor):
            raise _Unlike
        return value

    def is_zero(self, key: str) -> bool:
        value = self.group.get(key)
        return not isinstance(value, Tensor) and value == 0


def _value(option: Any, numbers: Iterator[Tensor]) -> Any:
    """An option as `Options` reads it: what stands for a number is the next one of `numbers`."""
    if option is _NUMBER:
        return next(numbers)
    if option and type(option[0]) is type:
        kind, value = option
        return float(value) if kind is float else value
    return tuple([_value(each, numbers) for each in option])
