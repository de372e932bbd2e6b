"""Putting a module back as it was, where the code of its classes fails halfway."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from ..tensors.tensor import Tensor
from ..tracing.watch import changes
from .calls.state_hooks import hooks_of

T = TypeVar("T")

_OWN_CODE = ("_load_from_state_dict", "set_extra_state", "__setattr__")
_LOADING = ("_load_state_dict_pre_hooks", "_load_state_dict_post_hooks")
_REGISTRIES = ("_parameters", "_buffers", "_modules")


def unchanged_on_error(module: Any, load: Callable[[], T], given: set[int]) -> T:
    """``load()``; if that raises, `module` and all below it have the attributes and the numbers of before.

    Nothing is kept for the library's own classes: loading into these checks everything beforehand. Of other objects
    that a class's own code changes in place, the extra state is put back by the module's own ``set_extra_state``:
    programs see this call, so only modules that were `given` one (their ids) get it, or all where there is other code.
    """
    kept = [_keep(each, given) for each in module.modules()] if _has_code_of_its_own(module, _OWN_CODE) else []
    try:
        return load()
    except BaseException:
        if _has_code_of_its_own(module, ("_load_from_state_dict",)):
            given.update(map(id, module.modules()))
        for restore in reversed(kept):
            restore()
        changes.count += bool(kept)
        changes.modules += bool(kept)
        changes.training += bool(kept)
        raise


def default(method: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method of the library's as one that classes may bring their own of."""
    method.is_default = True  # type: ignore[attr-defined]
    return method


def is_overridden(module: Any, method: str) -> bool:
    """Whether the module's class brings its own `method`, one that is marked as `default`."""
    return not getattr(getattr(type(module), method), "is_default", False)


def _has_code_of_its_own(module: Any, methods: tuple[str, ...]) -> bool:
    return any(
        any(is_overridden(each, method) for method in methods) or any(hooks_of(each, name) for name in _LOADING)
        for each in module.modules()
    )


def _keep(module: Any, given: set[int]) -> Callable[[], None]:
    attributes = dict(module.__dict__)
    registries = {name: dict(module.__dict__[name]) for name in _REGISTRIES}
    left_out = set(module._non_persistent_buffers_set)
    tensors = [(tensor, _numbers(tensor)) for tensor in _tensors(registries)]
    extra = _extra(module)

    def restore() -> None:
        module.__dict__.clear()
        module.__dict__.update(attributes)
        for name, entries in registries.items():
            dict.clear(attributes[name])
            dict.update(attributes[name], entries)
        module._non_persistent_buffers_set.clear()
        module._non_persistent_buffers_set.update(left_out)
        for put_back in extra if id(module) in given else ():
            with suppress(Exception):  # the error that is raised is the one that made this necessary
                put_back()
        for tensor, numbers in tensors:
            _put_back(tensor, numbers)

    return restore


def _tensors(registries: dict[str, dict[str, Any]]) -> list[Tensor]:
    found = (tensor for name in ("_parameters", "_buffers") for tensor in registries[name].values())
    return [tensor for tensor in found if tensor is not None]


def _numbers(tensor: Tensor) -> tuple[np.ndarray, np.ndarray, bool]:
    return tensor.ndarray, tensor.ndarray.copy(), tensor.requires_grad


def _put_back(tensor: Tensor, kept: tuple[np.ndarray, np.ndarray, bool]) -> None:
    shown, numbers, requires_grad = kept
    tensor.requires_grad_(requires_grad)
    if tensor.ndarray is not shown:
        tensor.ndarray = shown
    if shown.tobytes() != numbers.tobytes():
        np.copyto(shown, numbers)
        tensor.buffer.version += 1


def _extra(module: Any) -> list[Callable[[], None]]:
    """What puts the extra state back; nothing for a module that has none, or cannot tell it yet."""
    try:
        before = copy.deepcopy(module.get_extra_state())
    except Exception:
        return []
    return [lambda: module.set_extra_state(before)]
