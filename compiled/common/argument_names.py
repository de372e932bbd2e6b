"""What the user calls things: arguments and variables."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...tensors.tensor import Tensor
from .callables import asked, function_of
from .classes import is_a
from .pytree import Path


def argument_names(function: Callable[..., Any], args: tuple[Any, ...]) -> list[str]:
    """What the function calls the arguments that are given by position."""
    try:
        bound = inspect.signature(asked(function)).bind_partial(*args)
    except (TypeError, ValueError):
        return [f"arg{i}" for i in range(len(args))]
    names: list[str] = []
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        names += [f"{name}{i}" for i in range(len(value))] if kind is inspect.Parameter.VAR_POSITIONAL else [name]
    return names


def name_of_argument(names: list[str], path: Path) -> str:
    """The name of the leaf at `path` in ``(args, kwargs)``."""
    return "_".join(map(str, (names[path[1]], *path[2:]) if path[0] == 0 else path[1:]))


def name_captured(function: Callable[..., Any]) -> None:
    """Call tensors that the function sees as variables what the user calls them."""
    for name, value in visible_variables(function):
        if is_a(value, Tensor) and value.label is None:
            value.label = name


def visible_variables(function: Callable[..., Any]) -> list[tuple[str, Any]]:
    """Closure cells that are filled, and the globals that the code names."""
    inner = function_of(function)
    if inner is None:
        return []
    code = inner.__code__
    cells = zip(code.co_freevars, inner.__closure__ or (), strict=True)
    enclosing = [(name, cell.cell_contents) for name, cell in cells if _is_filled(cell)]
    return enclosing + [(name, inner.__globals__[name]) for name in code.co_names if name in inner.__globals__]


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:  # an empty cell: the variable is assigned later
        return False
