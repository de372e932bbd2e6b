"""Signatures of the package's own functions, as they are asked for while it is imported: some thousand times, of the
same function as a method, as a function and by decorators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any


@functools.cache
def parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function, kept until the import has ended (`forget_parameters`)."""
    return inspect.signature(function).parameters


def forget_parameters() -> None:
    """Let go what `parameters_of` has kept, which is a megabyte."""
    parameters_of.cache_clear()


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's parameters; of a plain function without making its signature."""
    if type(function) is not FunctionType or hasattr(function, "__wrapped__"):
        return tuple(inspect.signature(function).parameters)
    code = function.__code__
    count, named = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names, starred = code.co_varnames[:count], iter(code.co_varnames[named:])
    several = (next(starred),) if code.co_flags & inspect.CO_VARARGS else ()
    others = (next(starred),) if code.co_flags & inspect.CO_VARKEYWORDS else ()
    return (*names, *several, *code.co_varnames[count:named], *others)
