"""What an optimizer keeps for its parameters: made when a step first needs it, read so that recordings find it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..ops.array import eager
from ..ops.memory import aligned_empty
from ..ops.pointwise import cast
from ..ops.types import float64, get_default_dtype
from ..tape.grad_mode import is_recording
from ..tensors.tensor import Tensor, make, unrecorded
from ..tracing.entries import EntryRead
from ..tracing.watch import Entries, WatchedList, as_number, changes, declare_read, watcher
from .in_numpy import form_of
from .numbers import above_zero

#: ``initial(key)``: what a parameter's state begins with under this key.
Initial = Callable[[str], np.ndarray]


class State(Entries):
    """Per-parameter state; a parameter that has none yet gets an empty dict."""

    __slots__ = ()

    def __missing__(self, parameter: Tensor) -> Entries:
        self[parameter] = entry = Entries()
        return entry

    def of(self, parameter: Tensor) -> Entries:
        """The same, for the library's own use: nothing is declared."""
        entry: Entries | None = dict.get(self, parameter)
        return self.__missing__(parameter) if entry is None else entry


def as_entries(entries: Any) -> Entries:
    """A dict of options or state as optimizers keep it."""
    made = Entries()
    dict.update(made, dict(dict.items(entries)))
    return made


def as_state(state: Any) -> State:
    """The state of all parameters, as a pickle holds it."""
    if type(state) is State:
        return state
    made = State()
    dict.update(made, {parameter: as_entries(entry) for parameter, entry in dict.items(state)})
    return made


def as_groups(groups: Any) -> WatchedList:
    """Groups of parameters, as a pickle holds them."""
    if type(groups) is WatchedList:
        return groups
    return WatchedList(as_entries({**group, "params": WatchedList(group["params"])}) for group in groups)


def makes_state(optimizer: Any, group: dict[str, Any]) -> bool:
    """Whether a step has state for this group's parameters: not where the option that it is kept for is 0."""
    # An update of the program may keep what it likes.
    option = None if form_of(optimizer.update) is None else optimizer.state_option
    value = None if option is None else dict.get(group, option)
    return option is None or isinstance(value, Tensor) or bool(value != 0)


def entry_of(optimizer: Any, p: Tensor, group: dict[str, Any]) -> Entries:
    """The state of `p` for the library's own use; where a step has none, a dict that is kept nowhere."""
    found: Entries | None = dict.get(optimizer.state, p)
    if found is not None:
        return found
    return optimizer.state.of(p) if makes_state(optimizer, group) else Entries()


def is_needed(group: Entries, when: bool | str) -> bool:
    return bool(dict.get(group, when)) if isinstance(when, str) else when


def complete(state: Entries, needed: Iterable[str], initial: Initial) -> None:
    """Make a parameter's state, as if it had always been there; KeyError for one that holds only a part.

    It is added at once: wherever an interrupt comes, the state is one that can be saved and loaded.
    """
    lacking = [key for key in needed if not dict.__contains__(state, key)]
    if not lacking:
        return
    if dict.__len__(state):
        raise KeyError(
            f"{lacking[0]}: the state of a parameter that has been updated before does not hold it. An option that "
            "needs it has been switched on since; make a new optimizer, or clear optimizer.state."
        )
    unrecorded(_add, state, lacking, initial)


def _add(state: Entries, keys: list[str], initial: Initial) -> None:
    made = {key: make(initial(key)) for key in keys}
    try:
        dict.update(state, made)
    finally:
        changes.options += 1


def filled_like(p: Tensor, value: float = 0) -> np.ndarray:
    """Memory of the parameter's shape and type, with one number everywhere; in complex numbers, as both parts."""
    memory = aligned_empty(p.ndarray.shape, p.ndarray.dtype)
    memory.fill(complex(value, value) if p.dtype.is_complex else value)
    return memory


def scalar_state(value: float) -> np.ndarray:
    """Memory of one number: float64 where that is the default type, else float32."""
    return np.array(value, np.float64 if get_default_dtype() is float64 else np.float32)


def counted(step: Tensor) -> Any:
    """Count one step; returns the new count as a number."""
    store(step, step + 1)
    return above_zero(as_number(step))


def store(target: Tensor, value: Any) -> None:
    """Write to a parameter or to state; on the tape, where the step itself is differentiated."""
    if is_recording():
        target.copy_(value)
    else:
        eager().write(target, value if value.dtype is target.dtype else cast(value, target.dtype))


def name_state(state: Entries, key: str, p: Tensor) -> None:
    """Give ``state[key]`` the name that it has in a program."""
    dict.__getitem__(state, key).label = f"{p.label or 'parameter'}.{key}"


def state_tensor(state: Entries, key: str, p: Tensor) -> Tensor:
    """``state[key]``, of p's shape; ``"step"`` is a 0-d tensor (`scalar_state`)."""
    if watcher() is not None:
        name_state(state, key, p)
    tensor: Tensor = declare_read(
        f"state[{key!r}] of {p.label or 'a parameter'}", EntryRead.of(state, key, dict.get, state, key)
    )
    return tensor


def check_moment(key: str, moment: Tensor, gradient: Tensor, exactly: bool) -> None:
    """RuntimeError in PyTorch's words for state of another type: exactly the gradient's, or a floating-point one."""
    if exactly and moment.dtype is not gradient.dtype:
        expected, got = moment.dtype.c_name, gradient.dtype.c_name
        raise RuntimeError(
            f"expected dtype {expected} for `end` but got dtype {got}: the "
            f"optimizer's state[{key!r}] has another type than the gradient; convert it with .to()"
        )
    if not moment.dtype.is_floating_point:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {moment.dtype.title}: the optimizer's "
            f"state[{key!r}] is not floating; convert it with .to()"
        )
