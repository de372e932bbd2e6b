"""What a callable is, found without asking it: a ``__getattr__`` of the program answers to any name."""

from __future__ import annotations

import functools
import types
from typing import Any

from .classes import is_a

METHODS = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)  # from which no class inherits
#: What has a name of its own.
NAMED = (types.FunctionType, *METHODS, type)


def function_of(called: Any) -> types.FunctionType | None:
    """The Python function that a call of `called` runs, for functions and bound methods; None for all others."""
    if is_a(called, types.MethodType):
        called = called.__func__
    return called if is_a(called, types.FunctionType) else None


def asked(called: Any) -> Any:
    """What can be asked for attributes in place of `called`: the method that an object's class has for calls of it."""
    if is_a(called, (*NAMED, functools.partial)):
        return called
    return types.MethodType(type(called).__call__, called)


def owner_of(called: Any) -> Any:
    """What a method is bound to; None for all that is no bound method."""
    return called.__self__ if type(called) in METHODS else None


def name_of(called: Any) -> str:
    """The name of a function, method or class; that of the class for other objects."""
    inner = called.func if is_a(called, functools.partial) else called
    return str((inner if is_a(inner, NAMED) else type(inner)).__name__)
