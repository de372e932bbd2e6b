"""Modules called with other parameters and buffers than their own."""

from __future__ import annotations

from typing import Any

from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_user
from ..module import Module

__all__ = ["functional_call"]

Place = tuple[Any, str]  # a registry of a module, and the name there


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: tuple[Any, ...] | Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """``module(*args, **kwargs)`` with these tensors, by dotted name, in the place of its parameters and buffers.

    `args` that are no tuple are one argument. With `tie_weights` a tensor that the module has under several names is
    replaced under all. What the call rebinds is put into the dict. With `strict` RuntimeError unless all tensors are
    given, and no others; ValueError for different tensors for one that is tied.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Linear(2, 1, bias=False)
    >>> tg.nn.utils.stateless.functional_call(layer, {"weight": tg.ones(1, 2)}, tg.tensor([[3.0, 4.0]]))
    tensor([[7.]])
    """
    warn_user(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
    )
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    values = _tied(module, parameters_and_buffers) if tie_weights else dict(parameters_and_buffers)
    if strict:
        _check_keys(module, values)
    places = {name: place for name in values if (place := _place(module, name)) is not None}
    before = [(place, dict.__getitem__(*place)) for place in places.values()]
    try:
        try:
            _put([(place, values[name]) for name, place in places.items()])
            return module(*given, **(kwargs or {}))
        finally:
            _keep_rebound(module, parameters_and_buffers)
            _put(before)
    finally:  # once more: an interrupt may have ended the block above
        _put(before)


def _put(entries: list[tuple[Place, Any]]) -> None:
    for (registry, key), tensor in entries:
        if dict.get(registry, key) is not tensor:
            registry[key] = tensor


def _keep_rebound(module: Module, tensors: dict[str, Tensor]) -> None:
    """Let `tensors` hold what the call has put into the places of the module that had them."""
    for name in tensors:
        place = _place(module, name)
        if place is not None:
            tensors[name] = dict.__getitem__(*place)


def _place(module: Module, name: str) -> Place | None:
    path, _, key = name.rpartition(".")
    owner = module.get_submodule(path)
    for registry in (owner._parameters, owner._buffers):
        if dict.__contains__(registry, key):
            return registry, key
    return None


def _names_of(module: Module) -> dict[str, Tensor]:
    """All parameters and buffers, under each of their names."""
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _tied(module: Module, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The given tensors, under all names of what they replace."""
    names = _names_of(module)
    groups: dict[int, list[str]] = {}
    for name, tensor in names.items():
        groups.setdefault(id(tensor), []).append(name)
    found = dict(tensors)
    for group in groups.values():
        given = [name for name in group if name in tensors]
        if len({id(tensors[name]) for name in given}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(given)}, which are tied. Consider using "
                "tie_weights=False"
            )
        if given:
            found.update(dict.fromkeys(group, tensors[given[0]]))
    return found


def _check_keys(module: Module, values: dict[str, Tensor]) -> None:
    names = set(_names_of(module))
    lines = [
        f"{what} key(s): {', '.join(map(repr, sorted(keys)))}."
        for what, keys in (("Unexpected", set(values) - names), ("Missing", names - set(values)))
        if keys
    ]
    if lines:
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t" + "\n\t".join(lines))
