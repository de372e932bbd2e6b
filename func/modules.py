"""Modules as functions of their parameters and buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..functional.joining import stack
from ..nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Module
from ..tensors.tensor import Tensor


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``module(*args, **kwargs)`` with other tensors in the place of the named parameters and buffers.

    `args` is a tuple, or one argument. What is one tensor under several names is replaced under all of them if
    `tie_weights`. With `strict`, RuntimeError unless all names are there and no others; ValueError for a name that
    comes in two dicts, AttributeError for one of a module that is not there. Compiled functions are re-recorded.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Linear(2, 1)
    >>> tg.func.functional_call(layer, {"weight": tg.ones(1, 2), "bias": tg.zeros(1)}, tg.ones(2))
    tensor([2.])
    """
    values = _merged(parameter_and_buffer_dicts)
    if strict:
        _require_all(module, values)
    if tie_weights:
        values = _tied(module, values)
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    return _with_replaced(module, values, positional, kwargs or {})


def _merged(given: Any) -> dict[str, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    if not isinstance(given, (list, tuple)):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got " + str(type(given))
        )
    if not all(isinstance(each, Mapping) for each in given):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for each in given for name in each]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise ValueError(
            f"{sorted(repeated)} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    return {name: value for each in given for name, value in each.items()}


def _entries(module: Module) -> dict[str, tuple[Any, str]]:
    """The registry and the key of each parameter and buffer, by its whole name."""
    found = {}
    for prefix, owner in module.named_modules(remove_duplicate=False):
        for registry in (owner._parameters, owner._buffers):
            for name, value in registry.items():
                if value is not None:
                    found[f"{prefix}.{name}" if prefix else name] = (registry, name)
    return found


def _require_all(module: Module, values: Mapping[str, Any]) -> None:
    known = _entries(module)
    missing, unexpected = [n for n in known if n not in values], [n for n in values if n not in known]
    if missing or unexpected:
        parts = [f"Unexpected key(s): {', '.join(map(repr, unexpected))}."] * bool(unexpected)
        parts += [f"Missing key(s): {', '.join(map(repr, missing))}."] * bool(missing)
        raise RuntimeError("\n\t".join([f"Error(s) in reparametrizing for {type(module).__name__}:", *parts]))


def _tied(module: Module, values: Mapping[str, Any]) -> dict[str, Any]:
    """`values`, and the same for other names of the tensors that they replace."""
    names: dict[int, list[str]] = {}
    for name, (registry, key) in _entries(module).items():
        names.setdefault(id(registry[key]), []).append(name)
    found = dict(values)
    for group in names.values():
        given = [name for name in group if name in values]
        if len({id(values[name]) for name in given}) > 1:
            raise ValueError(f"functional_call got different values for {given}, which are tied: give one of them")
        found.update((name, values[given[0]]) for name in group if given)
    return found


def _with_replaced(module: Module, values: Mapping[str, Any], args: Any, kwargs: Mapping[str, Any]) -> Any:
    """``module(*args, **kwargs)`` with the named tensors in the module's registries; put back twice, as in
    `ops.core.interpreted`."""
    known = _entries(module)
    places = [known[name] if name in known else _attributes(module, name) for name in values]
    before = [(place, key, place.get(key, _ABSENT)) for place, key in places]
    try:
        try:
            for (place, key), value in zip(places, values.values(), strict=True):
                _put(place, key, value)
            return module(*args, **kwargs)
        finally:
            _put_all(before)
    finally:
        _put_all(before)


def _put_all(entries: Sequence[tuple[Any, str, Any]]) -> None:
    for place, key, value in reversed(entries):
        _put(place, key, value)


_ABSENT = object()


def _put(place: Any, key: str, value: Any) -> None:
    """Rebind or delete an entry of a registry, which compiled functions notice: those that do it are re-recorded."""
    if place.get(key, _ABSENT) is value:
        return
    if value is _ABSENT:
        del place[key]
    else:
        place[key] = value


def _attributes(module: Module, name: str) -> tuple[Any, str]:
    """Where a name that is no parameter and no buffer is kept for the length of the call."""
    *path, key = name.split(".")
    owner: Any = module
    for part in path:
        if part not in owner._modules:
            raise AttributeError(f"{type(owner).__name__} has no attribute `{part}`")
        owner = owner._modules[part]
    return owner._buffers, key


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and the buffers of models of one class, each along a new first axis: for `vmap` over models.

    Stacked parameters are leaves that require gradients. RuntimeError for no models, models of several classes, or in
    several modes.

    >>> import tracegrad as tg
    >>> params, buffers = tg.func.stack_module_state([tg.nn.Linear(2, 3) for _ in range(5)])
    >>> params["weight"].shape
    tracegrad.Size([5, 3, 2])
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    params = _stacked([dict(model.named_parameters()) for model in models])
    return params, _stacked([dict(model.named_buffers()) for model in models])


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Let all batch normalisations below `root` use the statistics of each batch alone, in place; returns `root`.

    >>> import tracegrad as tg
    >>> tg.func.replace_all_batch_norm_modules_(tg.nn.BatchNorm1d(3)).running_mean is None
    True
    """
    for module in root.modules():
        if isinstance(module, (BatchNorm1d, BatchNorm2d, BatchNorm3d)):
            module.track_running_stats = False
            module.running_mean = module.running_var = module.num_batches_tracked = None
    return root


def _stacked(states: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, first in states[0].items():
        tensors: list[Tensor] = [state[name] for state in states]
        if all(tensor.is_leaf for tensor in tensors):
            found[name] = stack([tensor.detach() for tensor in tensors]).requires_grad_(first.requires_grad)
        else:
            found[name] = stack(tensors)
    return found
