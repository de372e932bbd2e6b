"""What optimizers share: parameter groups, state, and how both are read by a recording.

Options and state live in dicts that compiled functions watch, so `group["lr"] = 0.01` takes effect at the next call
without recompiling anything, and a loaded state is found.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..ops.array import eager
from ..ops.core import current, switch
from ..tape.anomaly import CHECKS_ALL
from ..tape.grad_mode import enable_grad, no_grad
from ..tensors.calling.nonfinite import check_written
from ..tensors.device import remaking
from ..tensors.meta.meta_tensor import any_meta, without_numbers
from ..tensors.tensor import Tensor, forget_gradients
from ..tracing.eager_server import serve_or_fuse
from ..tracing.entries import EntryRead
from ..tracing.user_warning import warn_user
from ..tracing.watch import Entries, WatchedList, changes, declare_kind, declare_read, forbid, watcher
from .as_function import StepsAsCalls
from .complex_parameters import in_parts
from .declared import OPTIMIZER
from .groups import members_of
from .hooks import StepHooks, register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from .in_numpy import Form, form_of
from .loading import LoadedGroups, load, packed
from .options import Options, add_options, check_capturable, check_fused_parameter, presumption, require_options
from .repeated import repeated
from .sparse_rows import has_sparse_gradients, without_places
from .state import State, as_groups, as_state, complete, entry_of, filled_like, is_needed, makes_state, scalar_state

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

#: What optimizers take: parameters, groups of them with options, or pairs of a name and a parameter.
ParamsT: TypeAlias = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


class _Required:
    """An option without a default: each group must give it."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


def _entry(optimizer: Optimizer, p: Tensor) -> Any:
    return dict.get(optimizer.state, p)


def _parameters_of(group: dict[str, Any]) -> list[Tensor]:
    """Past what `Entries` declares: who else reads the groups is told by their own fact in a recording."""
    params: list[Tensor] = dict.__getitem__(group, "params")
    return params


_Step = TypeVar("_Step", bound=Callable[..., Any])


def _hooked(step: _Step) -> _Step:
    """`step` with the optimizer's hooks around it, which see the arguments as they were given."""

    @functools.wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        return self.with_step_hooks(step, args, kwargs)

    return hooked  # type: ignore[return-value]


class Optimizer(StepHooks, StepsAsCalls):
    """Base of all optimizers. `params` is an iterable of tensors or of dicts (groups with options of their own).

    A subclass has `defaults` and an `update(parameter, gradient, state, options)`.

    The option `fused` tells how steps of eager programs run. True: as one call of C, once one has been recorded; by
    numpy, with one warning, where there is no C compiler. None, the default: so where gradients come out of compiled
    programs (``tg.compile(model)``), and only for the library's own optimizers. False in any group, or
    ``foreach=True``: by numpy. What a step means is the same; no program is made for other values of options.
    Difference: PyTorch's None is False on a CPU. A step writes to the parameters' memory; methods of tensors that a
    program has replaced (``Tensor.add_``) are not called, as in PyTorch with `foreach` or `fused`.

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

    #: What a parameter's state holds: always (True), perhaps (False), by option.
    per_parameter: Mapping[str, bool | str] = {}
    state_option: str | None = None  # the option without which there is no state at all
    #: Options that each step reads, and those that came with later versions: groups without these get them when loaded.
    reads: frozenset[str] = frozenset()
    later_options: Mapping[str, Any] = {}
    #: Options with the ends between which (without the last) Python refuses no number of a step; None: not known.
    safe_ranges: Mapping[str, tuple[float, float]] | None = None
    captured = "params and state_steps"  # what `capturable` would have on a device, in the words of PyTorch's error
    #: Which of these are numbers, 0-d tensors (`scalar_state`); the others have the parameter's shape.
    scalars: frozenset[str] = frozenset({"step"})
    #: Whether a complex parameter's parts are updated as numbers of their own; otherwise `update` gets it as it is.
    updates_parts = True
    #: Whether there is an `update_sparse`, and what is said where there is none.
    takes_sparse = False
    takes_dense = True
    #: Whether numbers of a loaded state stay numbers, as its own are; otherwise they become tensors.
    keeps_numbers = False
    refusal = "{name} does not support sparse gradients"
    _declares = OPTIMIZER

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got a Tensor. "
                "Pass [tensor], or model.parameters()."
            )
        # All attributes are there from the beginning.
        is_new = "param_groups" not in self.__dict__
        dict.update(self.__dict__, _opt_called=False, _recorded=False, _in_making=is_new)
        self.make_hooks()
        try:
            self._begin_with(list(params), defaults)
        finally:
            dict.pop(self.__dict__, "_in_making")

    def _begin_with(self, groups: list[Any], defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state = State()
        self.param_groups: list[Entries] = WatchedList()
        if not groups:
            raise ValueError("optimizer got an empty parameter list; pass model.parameters() of a model that has some")
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Take what a pickle holds, one of PyTorch's class of that name, too, or what `load_state_dict` has read."""
        kept = dict(state)
        if "state" in kept:
            kept["state"] = as_state(kept["state"])
        if "param_groups" in kept:
            groups = kept["param_groups"]
            kept["param_groups"] = groups.taken_over() if isinstance(groups, LoadedGroups) else as_groups(groups)
        marks = {} if "_opt_called" in self.__dict__ else {"_opt_called": False, "_recorded": False}
        super().__setstate__({**marks, **kept})
        for group in self.__dict__.get("param_groups", ()):
            add_options(group, self.later_options)

    # What schedulers ask for: whether step() was called since the first of them was made, and whether it still is the
    # one of that time. A replayed step does not come by here, so one that was recorded counts as called.
    _opt_called = False
    _recorded = False
    _watched_step: Any = None

    #: True within the first `__init__`, where nothing is counted: until it ends, guards look at each call (`declared`).
    _in_making = False

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
        changes.count += not self._in_making  # a new `state` or other `param_groups` concern compiled steps
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        changes.count += 1

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options; what `param_group` leaves out comes from the defaults.

        Pairs of a name and a parameter (``model.named_parameters()``) give the group `param_names`. TypeError for what
        is no dict, no tensor, or a set; ValueError for a tensor that is no leaf, a parameter of another group, names
        in some groups only, and an option without a default that is left out.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        members, names = members_of(param_group["params"])
        for p in members:
            self._check_parameter(p)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
        if len({id(p) for p in members}) < len(members):
            warn_user(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
            )
        named = {"param_names": names} if names else {}
        given = {**{k: v for k, v in param_group.items() if k != "params"}, **named}
        self._check_apart(members, "param_names" in given)
        options = {**given, **{k: v for k, v in self.defaults.items() if k not in given}}
        group = Entries({"params": WatchedList(members), **options})
        if self._in_making and watcher() is None:
            list.append(self.param_groups, group)
        else:
            self.param_groups.append(group)
            changes.count += 1

    def _check_parameter(self, p: Any) -> None:
        if not isinstance(p, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
        if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor; pass the leaf, or detach() it")

    def _check_apart(self, members: list[Tensor], named: bool) -> None:
        """No parameter is in another group, and all groups have names or none has."""
        if any(("param_names" in group) != named for group in self.param_groups):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"{'with names' if named else 'without names'} to the optimizer"
            )
        known = {id(p) for g in self.param_groups for p in g["params"]}
        if known & {id(p) for p in members}:
            raise ValueError("some parameters appear in more than one parameter group; each may be in one only")

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
                    gradient: Any = p.grad.detach()
                    if gradient.is_sparse:
                        p.grad = without_places(gradient)  # type: ignore[assignment]
                        continue
                    eager().write(gradient, current().constant(0, gradient.dtype))

    @_hooked
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update all parameters that have a gradient; `closure` recomputes the loss first and is returned."""
        return self._step(closure)

    def _step(self, closure: Callable[[], Any] | None = None) -> Any:
        self._note_step()
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if remaking.alive and any_meta(p for group in self.param_groups for p in _parameters_of(group)):
            without_numbers(self._update_all)
        elif has_sparse_gradients(self.param_groups):
            self._require_takes_sparse()
            self._update_all()
        else:
            serve_or_fuse(self._update_all, self._update_all, (), {})
        return loss

    def _require_takes_sparse(self) -> None:
        forbid("a step with sparse gradients", "They have as many rows as there are places.")
        if not self.takes_sparse:
            raise RuntimeError(self.refusal.format(name=type(self).__name__))
        if self.defaults.get("differentiable") and any(p.is_leaf for g in self.param_groups for p in _parameters_of(g)):
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation: leave differentiable out"
            )

    def lacks_state(self) -> bool:
        """Whether a parameter that has a gradient has no state yet, so that the next step makes it."""
        groups, known = [group for group in self.param_groups if makes_state(self, group)], dict.keys(self.state)
        return any(p._grad is not None and p not in known for g in groups for p in _parameters_of(g))

    def _update_all(self) -> None:
        declare_kind("options")
        declare_read("number of param_groups", lambda: len(self.param_groups))
        with enable_grad() if self.defaults.get("differentiable") else no_grad():
            for index, group in enumerate(self.param_groups):
                self._step_group(group, index)
        if CHECKS_ALL:
            check_written(f"{type(self).__name__}.step()", (p for g in self.param_groups for p in _parameters_of(g)))

    def _step_group(self, group: Entries, index: int) -> None:
        members = EntryRead.of(group, "params", lambda: tuple(map(id, _parameters_of(group))))
        declare_read(f"param_groups[{index}]['params']", members)
        require_options(group, self.reads)
        options = Options(group, index)
        plain = watcher() is None and not switch.stack and not self.defaults.get("differentiable")
        in_numpy = form_of(self.update) if plain else None
        needed = [key for key, when in self.per_parameter.items() if is_needed(group, when)]
        presuming = presumption(group, index, self.safe_ranges)
        for p in _parameters_of(group):
            gradient = p.grad
            if gradient is not None:
                if not (self.takes_dense or gradient.is_sparse):
                    raise RuntimeError(self.refusal)
                check_capturable(options, self.captured)
                entry = entry_of(self, p, group)
                declare_read("optimizer state", EntryRead.of(self.state, p, _entry, self, p).found_in(self))
                complete(entry, needed, functools.partial(self.initial, p, group))
                update = repeated(presuming(functools.partial(self._update_one, in_numpy, options)), self, options)
                if p.dtype.is_complex:
                    check_fused_parameter(options, p)
                if p.dtype.is_complex and self.updates_parts:
                    in_parts(update, p, gradient, entry)
                else:
                    update(p, gradient, entry)

    def _update_one(self, in_numpy: Form | None, options: Options, p: Tensor, gradient: Tensor, state: Entries) -> None:
        if gradient.is_sparse:
            self.update_sparse(p, gradient, state, options)
        elif in_numpy is None or not in_numpy(self, p, gradient, state, options.group):
            self.update(p, gradient, state, options)

    def initial(self, p: Tensor, group: Any, key: str) -> np.ndarray:
        """What the state of `p` begins with under `key`: zeros, or 0 for one of `scalars`."""
        return scalar_state(0) if key in self.scalars else filled_like(p)

    def shape_of(self, key: str, p: Tensor) -> tuple[int, ...]:
        """The shape of what the state of `p` has under `key`, where that is a tensor."""
        return tuple(p.ndarray.shape)

    def update(self, p: Tensor, gradient: Tensor, state: Entries, options: Options) -> None:
        """One parameter's update, in place."""
        raise NotImplementedError

    def update_sparse(self, p: Tensor, gradient: Any, state: Entries, options: Options) -> None:
        """The same with a sparse gradient, for optimizers with `takes_sparse`."""
        raise NotImplementedError

    # -------------------------------------------------------------------------------------------------------- saving

    def state_dict(self) -> dict[str, Any]:
        """Options and state, parameters numbered in order; as PyTorch lays it out. Hooks run before and after.

        KeyError for the state of a parameter whose group has been removed.
        """
        return self.with_state_dict_hooks(functools.partial(packed, self))

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what ``state_dict()`` gave here or in PyTorch (with its tensors or numpy's), or change nothing.

        Tensors become the state themselves, converted where the parameters have another type: the next step writes to
        them (give a deepcopy to keep what was saved). A `step` may be a number. ``__setstate__`` gets both, and adds
        options that were not there when the state was saved; a step raises KeyError for one that it misses.

        ValueError for groups of other sizes. Difference: ValueError also for options and state of another kind or shape
        than the steps of the library's own optimizers can take; PyTorch fails at the next step.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        self.with_load_hooks(functools.partial(load, self), state_dict)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"] if i else [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def _noting(step: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(step)
    def noted(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        self._note_step()
        return self.with_step_hooks(step, args, kwargs)

    return noted
