"""State as it is saved, and taking it over: all of it is checked and converted before any of it is stored."""

from __future__ import annotations

import copy
import functools
import numbers
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from ..ops.array import eager
from ..ops.pointwise import cast
from ..tensors.foreign.values import as_own
from ..tensors.tensor import Tensor, make
from ..tracing.watch import Entries, WatchedList, changes, forbid
from .state import State, as_entries, scalar_state

Groups = Sequence[Mapping[str, Any]]


def packed(optimizer: Any) -> dict[str, Any]:
    """The state and options of `optimizer`, with parameters numbered in order."""
    groups = optimizer.param_groups
    numbers = {id(p): i for i, p in enumerate(p for group in groups for p in group["params"])}
    kept = {key: entry for key, entry in optimizer.state.items() if entry != {}}
    for key in kept:
        if isinstance(key, Tensor) and id(key) not in numbers:
            raise KeyError(
                f"the state of a parameter of shape {list(key.shape)} that is in no param group any more has no number "
                "in a state_dict. Delete it from the optimizer's .state, or add the group again."
            )
    state = {numbers.get(id(k), k): dict(v) if isinstance(v, Entries) else v for k, v in kept.items()}
    options = [{key: value for key, value in group.items() if key != "params"} for group in groups]
    members = [[numbers[id(p)] for p in group["params"]] for group in groups]
    return {"state": state, "param_groups": [{**o, "params": m} for o, m in zip(options, members, strict=True)]}


class LoadedGroups(WatchedList):
    """Groups as an optimizer's ``__setstate__`` gets them from `load_state_dict`: its own ones can take them over."""

    def __init__(self, own: WatchedList, options: Iterable[dict[str, Any]]) -> None:
        super().__init__(map(as_entries, options))
        self._own = own

    def taken_over(self) -> WatchedList:
        """The optimizer's own groups, the same objects, with these options: what has read them finds the new ones."""
        for group, options in zip(self._own, self, strict=True):
            set_options(group, options)
        return self._own


class _Before:
    """An optimizer as it was before its ``__setstate__``, which may be the program's, and raise anything."""

    def __init__(self, optimizer: Any) -> None:
        self._attributes, self._of = dict(optimizer.__dict__), optimizer
        self._options = [(group, dict(dict.items(group))) for group in optimizer.param_groups]

    def put_back(self) -> None:
        """Give it all attributes and options that it had."""
        attributes = self._of.__dict__
        attributes.update(self._attributes)
        for name in attributes.keys() - self._attributes.keys():
            del attributes[name]
        for group, options in self._options:
            dict.clear(group)
            dict.update(group, options)
        changes.options += 1


def load(optimizer: Any, state_dict: Mapping[str, Any]) -> None:
    """`Optimizer.load_state_dict` but for the hooks: all is taken over by ``__setstate__``, or nothing changes."""
    saved = state_dict["param_groups"]
    groups = LoadedGroups(optimizer.param_groups, _loaded_groups(optimizer, saved))
    state = State()
    for parameter, entry in _loaded_state(optimizer, saved, state_dict["state"]):
        state[parameter] = entry
    before = _Before(optimizer)
    try:
        optimizer.__setstate__({"state": state, "param_groups": groups})
    except BaseException:
        before.put_back()
        raise
    finally:
        changes.count += 1


def _steps_like_the_librarys(optimizer: Any) -> bool:
    """Whether no program has defined what a step of this class does, and with it what options and state may be."""
    kind = type(optimizer)
    return all(getattr(f, "__module__", "").startswith(__package__) for f in (kind.step, kind.update, kind._step_group))


def _loaded_groups(optimizer: Any, saved: Any) -> list[dict[str, Any]]:
    """The options of the saved groups, copied; ValueError for another number of groups or of parameters in one, and for
    options that a step of the library's own could only fail with."""
    groups: Groups = optimizer.param_groups
    if not isinstance(saved, (list, tuple)) or not all(isinstance(group, Mapping) for group in saved):
        raise ValueError("loaded state dict has no list of dicts as its param_groups; pass what state_dict() gave")
    if len(saved) != len(groups):
        raise ValueError(
            f"loaded state dict has a different number of parameter groups: {len(saved)}, the optimizer has "
            f"{len(groups)}"
        )
    if any(len(old["params"]) != len(group["params"]) for old, group in zip(saved, groups, strict=True)):
        raise ValueError(
            "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
        )
    checked = optimizer.reads | optimizer.later_options.keys() if _steps_like_the_librarys(optimizer) else ()
    for index, group in enumerate(saved):
        for key in checked:
            if key in group and key in optimizer.defaults:
                _check_option(f"param_groups[{index}][{key!r}]", group[key], optimizer.defaults[key])
    copied = copy.deepcopy([{key: None if key == "params" else value for key, value in g.items()} for g in saved])
    return [_loaded_options(own, group) for own, group in zip(groups, copied, strict=True)]


def _loaded_options(own: Mapping[str, Any], saved: Mapping[str, Any]) -> dict[str, Any]:
    """What a group holds after loading: what is saved, in that order, with its own parameters; names of these, if no
    others are saved."""
    names = {key: own[key] for key in ("param_names",) if key in own and key not in saved}
    return {**saved, "params": own["params"], **names}


def set_options(group: Entries, options: dict[str, Any]) -> None:
    """Make these the entries of a group, in their order."""
    options = dict(dict.items(options))
    if list(dict.keys(group)) == list(options):
        group.update(options)
        return
    forbid("loading options of an optimizer in another order", "Load them outside.")
    # Without bytecode in between, so that no interrupt finds the group empty.
    steps = functools.partial(dict.clear, group), functools.partial(dict.update, group, options)
    list(map(methodcaller("__call__"), steps))
    changes.options += 1


def _check_option(where: str, value: Any, default: Any) -> None:
    """An option has the kind that the optimizer's own has."""
    fits = True
    if isinstance(default, tuple) and all(map(_is_number, default)):
        fits = isinstance(value, (tuple, list)) and len(value) == len(default) and all(map(_is_number, value))
    elif _is_number(default):
        fits = _is_number(value) or isinstance(value, (bool, np.bool_))
    elif isinstance(default, bool):
        fits = value is None or isinstance(value, (bool, np.bool_)) or (_is_number(value) and np.ndim(value) == 0)
    if not fits:
        raise ValueError(f"loaded state dict has {_described(value)} as {where}, where {default!r} is the default")


def _is_number(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.ndarray.size == 1
    return isinstance(value, (numbers.Real, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor {value.dtype!r}{list(value.shape)}"
    return f"{value!r} ({type(value).__name__})" if isinstance(value, (str, int, float)) else type(value).__name__


def _loaded_state(optimizer: Any, saved_groups: Any, saved: Any) -> Iterator[tuple[Any, Any]]:
    """(parameter, state) of what is saved; ValueError for a state that is none of such a parameter.

    The optimizer says what an entry that is not empty holds (`per_parameter`, `scalars`, `shape_of`). What it lacks is
    missed by the next step, as in PyTorch; a number that becomes a tensor is missed here, with KeyError.
    """
    if not isinstance(saved, Mapping):
        raise ValueError(f"loaded state dict has a {type(saved).__name__} as its state, not a dict")
    groups = optimizer.param_groups
    names = (name for group in saved_groups for name in group["params"])
    places = (p for group in groups for p in group["params"])
    by_name = dict(zip(names, places, strict=True))
    is_checked = _steps_like_the_librarys(optimizer)
    scalars = frozenset() if optimizer.keeps_numbers else optimizer.scalars & optimizer.per_parameter.keys()
    for name, entry in saved.items():
        if name not in by_name:
            yield name, copy.deepcopy(entry)  # as in PyTorch: state that belongs to no parameter is kept as it is
            continue
        p = by_name[name]
        where = f"the state of parameter {name}"
        if not isinstance(entry, Mapping):
            raise ValueError(f"loaded state dict has a {type(entry).__name__} as {where}, not a dict")
        if entry:
            entry = {key: _own(value) for key, value in entry.items()}
            if scalars - entry.keys():
                raise KeyError(min(scalars - entry.keys()))
            if is_checked:
                _check_entry(where, entry, p, optimizer)
        yield p, Entries({key: _converted(value, p, key, scalars) for key, value in entry.items()})


def _own(value: Any) -> Any:
    """Another library's tensor as a copy: its owner goes on with the memory."""
    own = as_own(value)
    return own if own is value else make(eager().peek(own).copy())


def _check_entry(where: str, entry: Mapping[str, Any], p: Tensor, optimizer: Any) -> None:
    for key, when in optimizer.per_parameter.items():
        if key not in entry:
            continue
        shape = optimizer.shape_of(key, p)
        if key in optimizer.scalars:
            _check_number(where, key, entry[key])
        elif not isinstance(entry[key], Tensor):
            if entry[key] is not None or when is not False:
                raise ValueError(
                    f"loaded state dict has {_described(entry[key])} as {key!r} in {where}, where a tensor of the "
                    f"parameter's shape {list(shape)} is expected; make one with tracegrad.tensor(data)"
                )
        elif entry[key].shape != shape:
            raise ValueError(
                f"loaded state dict doesn't match the size of optimizer's parameter: {key!r} in {where} has shape "
                f"{list(entry[key].shape)}, the parameter has {list(shape)}"
            )


def _check_number(where: str, key: str, number: Any) -> None:
    if not _is_number(number) or (isinstance(number, Tensor) and number.dtype.category == 0):
        raise ValueError(
            f"loaded state dict has {_described(number)} as {key!r} in {where}; a number or a tensor of one number is "
            "expected"
        )


def _converted(value: Any, p: Tensor, key: Any = None, scalars: Container[str] = ()) -> Any:
    """`value` as state: tensors themselves where they have the parameter's type (any, for the count of steps)."""
    if isinstance(value, Tensor):
        if key == "step":
            return value if not value.ndarray.ndim else make(eager().peek(value).copy().reshape(()))
        return cast(value.detach(), p.dtype) if p.dtype.is_floating_point and value.dtype is not p.dtype else value
    if key in scalars and _is_number(value):
        return make(scalar_state(value))
    if isinstance(value, Mapping):
        return {inner: _converted(part, p, inner) for inner, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_converted(part, p) for part in value])
    return copy.deepcopy(value)
