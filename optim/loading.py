"""State as it is saved, and taking it over: all of it is checked and converted before any of it is stored."""

from __future__ import annotations

import copy
import functools
import numbers
from collections.abc import Container, Iterator, Mapping, Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from ..ops.array import eager
from ..ops.pointwise import cast
from ..tensors.foreign.values import as_own
from ..tensors.tensor import Tensor, make
from ..tracing.watch import Entries, changes, forbid
from .state import scalar_state

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


def loaded_groups(groups: Groups, saved: Any, defaults: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The options of the saved groups, copied; ValueError if they are no options for these groups."""
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
    for index, group in enumerate(saved):
        for key, default in defaults.items():
            _check_option(f"param_groups[{index}][{key!r}]", group, key, default)
    return [_loaded_options(own, group, defaults) for own, group in zip(groups, saved, strict=True)]


def _loaded_options(own: Mapping[str, Any], saved: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """What a group holds after loading, in this order: its parameters, what is saved, and defaults that are not."""
    params: Any = own["params"]
    loaded = {key: params if key == "params" else copy.deepcopy(value) for key, value in saved.items()}
    kept = {key: value for key, value in own.items() if key in defaults or key == "param_names"}
    return {**loaded, **{key: value for key, value in kept.items() if key not in loaded}}


def set_options(group: Entries, options: dict[str, Any]) -> None:
    """Make these the entries of a group, in their order."""
    if list(dict.keys(group)) == list(options):
        group.update(options)
        return
    forbid("loading options of an optimizer in another order", "Load them outside.")
    # Without bytecode in between, so that no interrupt finds the group empty.
    steps = functools.partial(dict.clear, group), functools.partial(dict.update, group, options)
    list(map(methodcaller("__call__"), steps))
    changes.options += 1


def _check_option(where: str, group: Mapping[str, Any], key: str, default: Any) -> None:
    """An option has the kind that the optimizer's own has; flags, which came with later versions, may be missing."""
    needed = _is_number(default) or (isinstance(default, tuple) and all(map(_is_number, default)))
    if key not in group:
        if needed:
            raise ValueError(f"loaded state dict has no {where}; pass what state_dict() of the same optimizer gave")
        return
    value, fits = group[key], True
    if needed and isinstance(default, tuple):
        fits = isinstance(value, (tuple, list)) and len(value) == len(default) and all(map(_is_number, value))
    elif needed:
        fits = _is_number(value)
    elif isinstance(default, bool):
        fits = value is None or isinstance(value, (bool, int, np.bool_))
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


def loaded_state(optimizer: Any, saved_groups: Any, saved: Any) -> Iterator[tuple[Any, Any]]:
    """(parameter, state) of what is saved; ValueError for a state that is none of such a parameter.

    The optimizer says what an entry that is not empty holds (`per_parameter`, `scalars`, `shape_of`).
    """
    if not isinstance(saved, Mapping):
        raise ValueError(f"loaded state dict has a {type(saved).__name__} as its state, not a dict")
    groups = optimizer.param_groups
    names = (name for group in saved_groups for name in group["params"])
    places = ((p, old) for group, old in zip(groups, saved_groups, strict=True) for p in group["params"])
    by_name = dict(zip(names, places, strict=True))
    for name, entry in saved.items():
        if name not in by_name:
            yield name, copy.deepcopy(entry)  # as in PyTorch: state that belongs to no parameter is kept as it is
            continue
        p, options = by_name[name]
        where = f"the state of parameter {name}"
        if not isinstance(entry, Mapping):
            raise ValueError(f"loaded state dict has a {type(entry).__name__} as {where}, not a dict")
        if entry:
            entry = {key: _own(value) for key, value in entry.items()}
            _check_entry(where, entry, p, options, optimizer)
        scalars = () if optimizer.keeps_numbers else optimizer.scalars
        yield p, Entries({key: _converted(value, p, key, scalars) for key, value in entry.items()})


def _own(value: Any) -> Any:
    """Another library's tensor as a copy: its owner goes on with the memory."""
    own = as_own(value)
    return own if own is value else make(eager().peek(own).copy())


def _check_entry(where: str, entry: Mapping[str, Any], p: Tensor, options: Mapping[str, Any], optimizer: Any) -> None:
    for key, when in optimizer.per_parameter.items():
        shape = optimizer.shape_of(key, p)
        if key not in entry:
            if options.get(when) if isinstance(when, str) else when:
                raise ValueError(f"loaded state dict has no {key!r} in {where}; it has {sorted(map(str, entry))}")
        elif key in optimizer.scalars:
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


def _converted(value: Any, p: Tensor, key: Any = None, scalars: Container[str] = ("step",)) -> Any:
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
