"""An optimizer's step as a function of tensors alone: what it writes is what the function returns.

Optimizers that are built alike have one function, whichever parameters they update: so a program that makes an
optimizer in each call (the inner loop of meta-learning) needs no program for each of them. The function computes by
the class's own `update`, on copies that it makes; numbers among the options are tensors, so that others make no other
function.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from ..ops.exposure import owner_of
from ..ops.identity import copy
from ..ops.types import DType, float32, float64
from ..tensors.operands import PLAIN_TENSORS
from ..tensors.tensor import Tensor, make
from ..tracing.watch import Entries, as_number, counter, watcher
from .declared import OPTIMIZER
from .numbers import is_number
from .options import Options, are_within
from .repeated import repeated
from .state import complete, entry_of, is_needed, store

_PLAIN = frozenset((bool, int, str, type(None), DType))
_OWN = OPTIMIZER.apart | {"defaults"}  # what an optimizer holds of itself
_STEPPING = ("_step", "_update_all", "_step_group", "_update_one")  # defined once: by `Optimizer`
_DTYPES = (float32.numpy, float64.numpy)
_now = counter(("count", "options", "memories"))
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

    #: How the latest step was one: until something that is counted changes, later ones have other gradients only.
    _latest_call: KnownStep | None = None

    def step_as_call(self) -> StepCall | None:
        """The step about to be made; None where the optimizer has to make it by itself. State that it will need is
        made, as the step would. To be asked of classes that no program has changed."""
        known = self._latest_call
        again = None if known is None else known.call_of(self)
        if again is not None:
            return again
        kind: Any = type(self)
        call, known = _call_of(self) if _is_usual(kind) else (None, None)
        object.__setattr__(self, "_latest_call", known)
        return call


class KnownStep:
    """What a step has been that was a call, but for the gradients."""

    def __init__(self, optimizer: Any, form: StepForm, numbers: Sequence[Tensor], made: _Made) -> None:
        self._of = weakref.ref(optimizer)
        self._form, self._numbers, self._at, self._without = form, tuple(numbers), made.at, made.without
        self._parameters = [each.parameter for each in made.members]
        self._written = tuple([t for each in made.members for t in (each.parameter, *dict.values(each.state))])
        self._owners = frozenset([owner_of(tensor.ndarray) for tensor in self._written])

    def call_of(self, optimizer: Any) -> StepCall | None:
        """The step that `optimizer` is about to make; None if that may be of another form."""
        if self._of() is not optimizer or self._at != _now() or any(p.grad is not None for p in self._without):
            return None
        gradients: list[Any] = [p.grad for p in self._parameters]
        return self.call(gradients) if all(map(_is_plain, gradients)) else None

    def call(self, gradients: Sequence[Tensor]) -> StepCall | None:
        """The call with these gradients; None if a write shows in what is read after it."""
        if len(self._owners) < len(self._written):
            return None
        if not self._owners.isdisjoint([owner_of(gradient.ndarray) for gradient in gradients]):
            return None
        return StepCall(self._form, (*self._numbers, *gradients, *self._written), self._written)


@functools.lru_cache(maxsize=256)
def _is_usual(kind: type) -> bool:
    """True for classes that say by `update` alone what a step is. To be asked of those that no program has changed."""
    return all(sum(name in vars(base) for base in kind.__mro__) == 1 for name in _STEPPING)


def _call_of(optimizer: Any) -> tuple[StepCall | None, KnownStep | None]:
    if not optimizer.__dict__.keys() <= _OWN or optimizer.defaults.get("differentiable"):
        return None, None
    if not all(are_within(group, optimizer.safe_ranges) for group in optimizer.param_groups):
        return None, None
    numbers: list[Tensor] = []
    try:
        made = _made(optimizer)
        groups = tuple([_options(group, numbers, optimizer.reads) for group in optimizer.param_groups])
    except _Unlike:
        return None, None
    members = tuple([(each.group, tuple(dict.keys(each.state))) for each in made.members])
    known = KnownStep(optimizer, StepForm(type(optimizer), groups, members), numbers, made)
    return known.call([each.gradient for each in made.members]), known


def _options(group: Any, numbers: list[Tensor], reads: Set[str]) -> tuple[tuple[str, Hashable], ...]:
    """A group's options by name; those that are numbers other than 0 go to `numbers`."""
    if dict.get(group, "capturable") or not reads <= dict.keys(group):
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


class _Member(NamedTuple):
    """A parameter that a step updates."""

    group: int
    parameter: Tensor
    gradient: Tensor
    state: Entries


class _Made(NamedTuple):
    """What a step updates once its state is there, and the parameters that have no gradient."""

    members: list[_Member]
    without: list[Tensor]
    at: int  # what is counted by then


def _made(optimizer: Any) -> _Made:
    members: list[_Member] = []
    without: list[Tensor] = []
    for index, group in enumerate(optimizer.param_groups):
        needed = [key for key, when in optimizer.per_parameter.items() if is_needed(group, when)]
        for p in dict.__getitem__(group, "params"):
            gradient = p.grad
            if gradient is None:
                without.append(p)
                continue
            _require_plain(p, gradient)
            entry = entry_of(optimizer, p, group)
            if needed:
                complete(entry, needed, functools.partial(optimizer.initial, p, group))
            members.append(_Member(index, p, gradient, entry))
    at = _now()
    for each in members:
        _require_plain(*dict.values(each.state))
    return _Made(members, without, at)


def _require_plain(*tensors: Any) -> None:
    if not all(map(_is_plain, tensors)):
        raise _Unlike


def _is_plain(tensor: Any) -> bool:
    return type(tensor) in PLAIN_TENSORS and tensor.ndarray.dtype in _DTYPES


# ------------------------------------------------------------------------------------------------------- the function


def _stepped(form: StepForm, given: Sequence[Tensor]) -> list[Tensor] | None:
    kind, groups, members = form
    optimizer: Any = object.__new__(kind)
    tensors = iter(given)
    options = [GivenOptions(dict(group), tensors) for group in groups]
    gradients = [next(tensors) for _ in members]
    written: list[Tensor] = []
    recording, update = watcher(), optimizer.update
    if recording is not None and optimizer.safe_ranges is not None:  # `_call_of` has looked at the options
        update = functools.partial(recording.number_checks.presume, update)
    for (index, names), gradient in zip(members, gradients, strict=True):
        p, state = copy(next(tensors)), Entries()
        dict.update(state, {name: copy(next(tensors)) for name in names})
        try:
            repeated(update, optimizer, options[index])(p, gradient, state, options[index])
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
            if not is_number(value):
                raise _Unlike
            return float(value)
        if (key, item) not in self._numbers:
            self._numbers[key, item] = float(value.ndarray) if watcher() is None else as_number(value)
        return self._numbers[key, item]

    def numbers_of_python(self) -> dict[str, Any]:
        return {name: _as_python(option) for name, option in self.group.items()}

    def choice(self, key: str) -> Any:
        value = self.group.get(key)
        if isinstance(value, Tensor):
            raise _Unlike
        return value

    def is_zero(self, key: str) -> bool:
        value = self.group.get(key)
        return not isinstance(value, Tensor) and value == 0


def _as_python(option: Any) -> Any:
    if isinstance(option, tuple):
        return tuple(map(_as_python, option))
    return float(option.ndarray) if isinstance(option, Tensor) else option


def _value(option: Any, numbers: Iterator[Tensor]) -> Any:
    """An option as `Options` reads it: what stands for a number is the next one of `numbers`."""
    if option is _NUMBER:
        return next(numbers)
    if option and type(option[0]) is type:
        kind, value = option
        return float(value) if kind is float else value
    return tuple([_value(each, numbers) for each in option])
