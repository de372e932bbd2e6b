"""tracegrad's counterparts of PyTorch's functions, modules, dtypes and other names: what has the same path."""

from __future__ import annotations

import functools
import importlib
import types
from collections.abc import Callable
from typing import Any

import torch

import tracegrad as tg

from .torch_database import OpInfo

#: Where the database's functions are looked for.
NAMESPACES = (
    "torch", "torch.Tensor", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special",
    "torch.signal.windows", "torch.nn.init",
)  # fmt: skip
SEED = 42


class Absent(Exception):
    """tracegrad has nothing of that name."""


def at_path(path: str) -> Any:
    """What tracegrad has under ``torch``'s path "torch.linalg.norm"; Absent if it has nothing."""
    found: Any = tg
    for name in path.split(".")[1:]:
        try:
            found = getattr(found, name)
        except AttributeError:
            raise Absent(path) from None
    return found


@functools.cache
def _paths() -> dict[int, str]:
    """The paths of PyTorch's public functions by their ids."""
    paths: dict[int, str] = {}
    for namespace in NAMESPACES:
        module = _resolved(namespace)
        for name in dir(module):
            value = getattr(module, name, None)
            if callable(value) and name[:1] != "_" or name[:2] == "__":
                paths.setdefault(id(value), f"{namespace}.{name}")
    return paths


def _resolved(path: str) -> Any:
    found: Any = torch
    for name in path.split(".")[1:]:
        found = getattr(found, name)
    return found


def counterpart(function: Any, path: str = "") -> Callable[..., Any]:
    """tracegrad's function for PyTorch's `function`; Absent if there is none.

    A function of the database's own (a lambda around an operator) is the same code with tracegrad in torch's place. A
    preferred `path` is taken where it leads to `function`.
    """
    if isinstance(function, functools.partial):
        arguments = {name: translated(value) for name, value in function.keywords.items()}
        return functools.partial(counterpart(function.func), *map(translated, function.args), **arguments)
    if isinstance(function, types.FunctionType) and _is_of_database(function):
        return _rebound(function)
    if getattr(function, "__module__", None) in ("_operator", "operator"):
        return function
    for candidate in (path, _paths().get(id(function), "")):
        try:
            if candidate and _resolved(candidate) is function:
                return at_path(candidate)
        except AttributeError:
            continue
    raise Absent(getattr(function, "__qualname__", repr(function)))


def _is_of_database(function: Any) -> bool:
    return (getattr(function, "__module__", None) or "").startswith("torch.testing.")


#: By their ids, with the functions themselves: an entry makes new ones for each dtype, and ids are given away again.
_rebound_functions: dict[int, tuple[Any, Any]] = {}


def _rebound(function: types.FunctionType) -> Callable[..., Any]:
    """A function of the database's with tracegrad in PyTorch's place."""
    if function.__name__ == "wrapper_set_seed":
        return _seeded
    if id(function) not in _rebound_functions:
        scope: dict[str, Any] = {"__builtins__": __builtins__}
        closure = tuple(types.CellType() for _ in function.__closure__ or ())
        copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, closure)
        copy.__kwdefaults__ = function.__kwdefaults__
        _rebound_functions[id(function)] = copy, function
        for name in _names(function.__code__) & set(function.__globals__):
            scope[name] = _or_missing(function.__globals__[name])
        for cell, old in zip(closure, function.__closure__ or (), strict=True):
            cell.cell_contents = _or_missing(old.cell_contents)
    return _rebound_functions[id(function)][0]


def _seeded(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    tg.manual_seed(SEED)
    return function(*args, **kwargs)


def _names(code: types.CodeType) -> set[str]:
    nested = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return set(code.co_names).union(*map(_names, nested))


class _Missing:
    """In the place of what tracegrad lacks: Absent when it is used."""

    def __init__(self, absent: Absent) -> None:
        self._absent = absent

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise self._absent

    def __getattr__(self, name: str) -> Any:
        raise self._absent


def _or_missing(value: Any) -> Any:
    try:
        return translated(value)
    except Absent as absent:
        return _Missing(absent)


def translated(value: Any) -> Any:
    """`value` of PyTorch's as tracegrad has it: modules, functions, dtypes, devices; other values as they are."""
    if value is torch.Tensor:
        return tg.Tensor
    if isinstance(value, type) and value.__module__ == "torch.optim.lr_scheduler":
        return at_path(f"{value.__module__}.{value.__name__}")
    if isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] == "torch":
        return _module(value)
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return at_path(str(value))
    if isinstance(value, torch.device):
        return tg.device(str(value))
    if callable(value) and not isinstance(value, (type, OpInfo)):  # of an entry, its name is asked
        if id(value) in _paths() or _is_of_database(value) or isinstance(value, functools.partial):
            return counterpart(value)
    return value


def _module(module: types.ModuleType) -> Any:
    if module.__name__.startswith("torch.testing"):
        return module
    try:
        return at_path(module.__name__)
    except Absent:
        try:
            return importlib.import_module(module.__name__.replace("torch", "tracegrad", 1))
        except ImportError:
            raise Absent(module.__name__) from None
