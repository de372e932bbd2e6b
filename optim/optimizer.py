"""What optimizers share: parameter groups, state, and how both are read by a recording.

Options and state live in dicts that compiled functions watch, so `group["lr"] = 0.01` takes effect at the next call
without recompiling anything, and a loaded state is found.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..ops.array import eager
from ..ops.core import current, switch
from ..ops.memory import aligned_empty
from ..tape.grad_mode import enable_grad, no_grad
from ..tensors.tensor import Tensor, forget_gradients, make, unrecorded
from ..tracing.counted import Counted
from ..tracing.eager_server import serve_or_fuse
from ..tracing.watch import (
    Entries,
    WatchedList,
    as_number,
    changes,
    declare_kind,
    declare_number,
    declare_read,
    watcher,
)
from .declared import OPTIMIZER
from .in_numpy import form_of
from .loading import loaded_groups, loaded_state


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


class Options:
    """One group's options for one step, read in a way that recordings keep: numbers as data, choices as guards."""

    def __init__(self, group: dict[str, Any], index: int) -> None:
        self._group = group
        self._where = f"param_groups[{index}]"
        self._numbers: dict[tuple[str, int | None], Any] = {}

    def number(self, key: str, item: int | None = None) -> Any:
        """The option as a number that may change between calls (with `item`: one of a tuple, as in betas)."""
        if (key, item) not in self._numbers:
            value = _option(self._group, key, item)
            name = key if item is None else f"{key}_{item}"
            get = functools.partial(_number_of, self._group, key, item)
            kind = declare_read(f"{name} as a tensor", functools.partial(_tensor_of, self._group, key, item))
            self._numbers[key, item] = value if kind is not None else declare_number(name, get)
        return self._numbers[key, item]

    def choice(self, key: str) -> Any:
        """The option as a fact that the program depends on (nesterov, amsgrad, maximize)."""
        return declare_read(f"{self._where}[{key!r}]", lambda: dict.get(self._group, key))

    def is_zero(self, key: str) -> bool:
        """Whether a number is exactly zero, which leaves a term out."""
        return bool(declare_read(f"{self._where}[{key!r}] == 0", lambda: not _is_nonzero(dict.get(self._group, key))))


def _entry(optimizer: Optimizer, p: Tensor) -> Any:
    return dict.get(optimizer.state, p)


def _parameters_of(group: dict[str, Any]) -> list[Tensor]:
    """Past what `Entries` declares: who else reads the groups is told by their own fact in a recording."""
    params: list[Tensor] = dict.__getitem__(group, "params")
    return params


def _option(group: dict[str, Any], key: str, item: int | None) -> Any:
    value = dict.__getitem__(group, key)
    return value if item is None else value[item]


def _number_of(group: dict[str, Any], key: str, item: int | None) -> float:
    return float(_option(group, key, item))


def _tensor_of(group: dict[str, Any], key: str, item: int | None) -> Tensor | None:
    value = _option(group, key, item)
    return value if isinstance(value, Tensor) else None


def _is_nonzero(value: Any) -> bool:
    return isinstance(value, Tensor) or value != 0


class Optimizer(Counted):
    """Base of all optimizers. `params` is an iterable of tensors or of dicts (groups with options of their own).

    A subclass has `defaults` and an `update(parameter, gradient, state, options)`.

    The option `fused` tells how steps of eager programs run. True: as one call of C, once one has been recorded; by
    numpy, with one warning, where there is no C compiler. None, the default: so where gradients come out of compiled
    programs (``tg.compile(model)``), and only for the library's own optimizers. False in any group, or
    ``foreach=True``: by numpy. What a step means is the same; no program is made for other values of options.
    Difference: PyTorch's None is False on a CPU.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.ones(2))
    >>> optimizer = tg.optim.SGD([w], lr=0.25, fused=True)
    >>> for _ in range(3):
    ...     optimizer.zero_grad()
    ...     w.sum().backward()
    ...     optimizer.step()
    >>> w.tolist()
    [0.25, 0.25]
    """

    #: What a parameter's state holds, "step" or tensors of its shape: always (True), perhaps (False), by option.
    per_parameter: Mapping[str, bool | str] = {}
    _declares = OPTIMIZER

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got a Tensor. "
                "Pass [tensor], or model.parameters()."
            )
        object.__setattr__(self, "_opt_called", False)  # all attributes are there from the beginning
        object.__setattr__(self, "_recorded", False)
        self.defaults = defaults
        self.state = State()
        self.param_groups: list[Entries] = WatchedList()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list; pass model.parameters() of a model that has some")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    # What schedulers ask for: whether step() was called since the first of them was made, and whether it still is the
    # one of that time. A replayed step does not come by here, so one that was recorded counts as called.
    _opt_called = False
    _recorded = False
    _watched_step: Any = None

    #: The step as a program of its own, once it is one (`fused`).
    fused_step: Any = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """A subclass may define its own step(), which is noted, too."""
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _noting(cls.__dict__["step"])  # type: ignore[method-assign]

    def watch_steps(self) -> None:
        """From now on `has_stepped` and `step_is_replaced` tell what happened; only the first call begins."""
        if self._watched_step is None:
            self._note_step(called=False)
            object.__setattr__(self, "_watched_step", (self.__dict__.get("step"),))

    def has_stepped(self) -> bool:
        """Whether step() was called since `watch_steps`."""
        return self._opt_called or self._recorded

    def step_is_replaced(self) -> bool:
        """Whether step was set on this object since `watch_steps`."""
        return self._watched_step is not None and self.__dict__.get("step") is not self._watched_step[0]

    def _note_step(self, called: bool = True) -> None:
        # Past __setattr__: no compiled function depends on it.
        object.__setattr__(self, "_opt_called", called)
        if called and watcher() is not None:
            object.__setattr__(self, "_recorded", True)

    def __setattr__(self, name: str, value: Any) -> None:
        changes.count += 1  # a new `state` or other `param_groups` concern compiled steps
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        changes.count += 1

    def add_param_group(self, group: dict[str, Any]) -> None:
        """Add parameters with options; what `group` leaves out comes from the defaults."""
        params = group["params"]
        members = [params] if isinstance(params, Tensor) else [p[1] if isinstance(p, tuple) else p for p in params]
        for p in members:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor; pass the leaf, or detach() it")
        known = {id(p) for g in self.param_groups for p in g["params"]}
        if known & {id(p) for p in members}:
            raise ValueError("some parameters appear in more than one parameter group; each may be in one only")
        self.param_groups.append(Entries({**self.defaults, **group, "params": WatchedList(members)}))
        changes.count += 1

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients: ``.grad = None``, or zeros in place."""
        for group in self.param_groups:
            if set_to_none and watcher() is None:
                forget_gradients(_parameters_of(group))
                continue
            for p in _parameters_of(group):
                if set_to_none:
                    p.grad = None
                elif p.grad is not None:
                    gradient = p.grad.detach()
                    eager().write(gradient, current().constant(0, gradient.dtype))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have a gradient; `closure` recomputes the loss first and is returned."""
        self._note_step()
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        serve_or_fuse(self._update_all, self._update_all, (), {})
        return loss

    def lacks_state(self) -> bool:
        """Whether a parameter that has a gradient has no state yet, so that the next step makes it."""
        known = dict.keys(self.state)
        return any(p._grad is not None and p not in known for g in self.param_groups for p in _parameters_of(g))

    def _update_all(self) -> None:
        declare_kind("options")
        declare_read("number of param_groups", lambda: len(self.param_groups))
        with no_grad():
            for index, group in enumerate(self.param_groups):
                self._step_group(group, index)

    def _step_group(self, group: Entries, index: int) -> None:
        declare_read(f"param_groups[{index}]['params']", lambda: tuple(map(id, _parameters_of(group))))
        options = Options(group, index)
        in_numpy = form_of(self.update) if watcher() is None and not switch.stack else None
        needed = [key for key, when in self.per_parameter.items() if _is_needed(group, when)]
        for p in _parameters_of(group):
            gradient = p.grad
            if gradient is not None:
                entry = self.state.of(p)
                declare_read("optimizer state", functools.partial(_entry, self, p))
                _complete(entry, p, needed)
                if in_numpy is None or not in_numpy(self, p, gradient, entry, group):
                    self.update(p, gradient, entry, options)

    def update(self, p: Tensor, gradient: Tensor, state: Entries, options: Options) -> None:
        """One parameter's update, in place."""
        raise NotImplementedError

    # -------------------------------------------------------------------------------------------------------- saving

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles are made of: all attributes but the compiled step, which belongs to this object."""
        return {name: value for name, value in self.__dict__.items() if name != "fused_step"}

    def state_dict(self) -> dict[str, Any]:
        """Options and state, parameters numbered in order; as PyTorch lays it out."""
        numbers = {id(p): i for i, p in enumerate(p for g in self.param_groups for p in g["params"])}
        return {
            "state": {
                numbers.get(id(p), p): dict(entry) if isinstance(entry, Entries) else entry
                for p, entry in self.state.items()
                if (id(p) in numbers or not isinstance(p, Tensor)) and entry != {}
            },
            "param_groups": [
                {**{k: v for k, v in g.items() if k != "params"}, "params": [numbers[id(p)] for p in g["params"]]}
                for g in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what ``state_dict()`` gave here or in PyTorch (with tensors of tracegrad), or change nothing.

        Tensors become the state themselves, converted where the parameters have another type: the next step writes to
        them (give a deepcopy to keep what was saved). A `step` may be a number. ValueError for groups or state that do
        not fit. Difference: PyTorch looks at the groups' sizes only, and fails at the next step.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        saved = state_dict["param_groups"]
        groups = loaded_groups(self.param_groups, saved, self.defaults)
        state = State()
        for parameter, entry in loaded_state(self.param_groups, saved, state_dict["state"], self.per_parameter):
            state[parameter] = entry
        self.state = state
        for group, options in zip(self.param_groups, groups, strict=True):
            group.update(options)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def _noting(step: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(step)
    def noted(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self._note_step()
        return step(self, *args, **kwargs)

    return noted


def _is_needed(group: Entries, when: bool | str) -> bool:
    return bool(dict.get(group, when)) if isinstance(when, str) else when


def _complete(state: Entries, p: Tensor, needed: Iterable[str]) -> None:
    """Make a parameter's state, as zeros that might always have been there; KeyError for one that holds only a part.

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
    unrecorded(_add_zeros, state, p, lacking)


def _add_zeros(state: Entries, p: Tensor, keys: list[str]) -> None:
    made = {key: make(_zeros_like(p) if key != "step" else np.zeros((), np.float32)) for key in keys}
    try:
        dict.update(state, made)
    finally:
        changes.options += 1


def _zeros_like(p: Tensor) -> np.ndarray:
    zeros = aligned_empty(p.ndarray.shape, p.ndarray.dtype)
    zeros.fill(0)
    return zeros


def counted(step: Tensor) -> Any:
    """Count one step; returns the new count as a number."""
    eager().write(step, step + 1)
    return as_number(step)


def state_tensor(state: Entries, key: str, p: Tensor) -> Tensor:
    """``state[key]``, of p's shape; ``"step"`` is a 0-d float32 tensor."""
    if watcher() is not None:
        dict.__getitem__(state, key).label = f"{p.label or 'parameter'}.{key}"
    tensor: Tensor = declare_read(
        f"state[{key!r}] of {p.label or 'a parameter'}", functools.partial(dict.get, state, key)
    )
    return tensor


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """RuntimeError in PyTorch's words for choices that contradict ``fused=True``."""
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`; leave one of them out")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_at_least_zero(**numbers: float) -> None:
    """ValueError in PyTorch's words for a negative (or NaN) option."""
    words = {
        "lr": "learning rate",
        "eps": "epsilon value",
        "weight_decay": "weight_decay value",
        "momentum": "momentum value",
    }
    for name, value in numbers.items():
        if not isinstance(value, Tensor) and not value >= 0.0:
            raise ValueError(f"Invalid {words.get(name, name)}: {value}; it must be at least 0")
