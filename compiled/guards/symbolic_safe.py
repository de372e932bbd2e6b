"""Which functions may be recorded on stand-ins for numbers: those whose code is known to treat one as a number.

The package's own code, numpy and Python's arithmetic do, and so does a program that asks for no type and no identity.
Other libraries' code may not: functions that reach it keep their numbers as guards.
"""

from __future__ import annotations

import dis
import functools
import itertools
import types
from collections.abc import Iterable
from typing import Any

from ...ops.callers.class_homes import home_of
from ...ops.callers.source_files import is_user_file
from ..common.classes import is_a
from .bytecode import global_names
from .value_kinds import is_users

_Caching = type(functools.lru_cache(lambda: None))
# Python's functions that tell a stand-in from a number.
_TELLING = frozenset(
    {"type", "id", "eval", "exec", "compile", "vars", "dir", "locals", "globals", "__import__", "input", "open"}
)
# Methods whose result Python wants to be a number of its own.
_RESULT_IS_CHECKED = frozenset(
    {"__float__", "__int__", "__index__", "__complex__", "__bool__", "__len__", "__length_hint__", "__hash__"}
)
_MODULES = frozenset(
    "abc builtins collections contextlib copy dataclasses enum functools itertools math numbers numpy operator "
    "tracegrad types typing warnings weakref".split()
)


def is_symbolic_safe(codes: Iterable[types.CodeType], objects: Iterable[Any]) -> bool:
    """True if the code that was found, and whatever it reaches, treats stand-ins as numbers."""
    return all(map(_is_known_code, codes)) and all(map(_is_known, objects))


@functools.lru_cache(maxsize=1024)
def _is_known_code(code: types.CodeType) -> bool:
    imported = [str(i.argval) for i in dis.get_instructions(code) if i.opname == "IMPORT_NAME"]
    if any(name.partition(".")[0] not in _MODULES for name in imported if name):
        return False
    if code.co_name in _RESULT_IS_CHECKED and "len" not in code.co_names:  # what len() gives is one of Python's own
        return False
    return _TELLING.isdisjoint(global_names(code)) and not _names_methods_of_numbers(code)


def _names_methods_of_numbers(code: types.CodeType) -> bool:
    """``float.is_integer`` and the like take floats and nothing else."""
    names = list(dis.get_instructions(code))
    return any(
        a.opname == "LOAD_GLOBAL" and a.argval in ("float", "int") and b.opname in ("LOAD_ATTR", "LOAD_METHOD")
        for a, b in itertools.pairwise(names)
    )


def _is_known(value: Any) -> bool:
    if is_a(value, _Caching):
        return False  # it would keep stand-ins for later calls
    if is_a(value, types.ModuleType):
        return is_listed(value.__name__) or is_users(value)
    if is_a(value, types.FunctionType):
        # Not `__module__`: what wraps a user's function (no_grad) has that of the function.
        return is_listed(value.__globals__.get("__name__")) or is_user_file(value.__code__.co_filename)
    if is_a(value, types.BuiltinFunctionType):
        return value.__name__ not in _TELLING and is_listed(value.__module__)
    if is_a(value, type):
        return value is not type and (is_listed(home_of(value)) or is_users(value))
    return is_listed(home_of(type(value))) or is_users(type(value))


def is_listed(module: str | None) -> bool:
    """True for a module whose code treats stand-ins as numbers."""
    return (module or "builtins").lstrip("_").partition(".")[0] in _MODULES
