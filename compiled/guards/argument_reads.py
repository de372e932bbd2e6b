"""What a function reads of an argument that is a dict or an object: read from its code.

A batch may carry an id, an object a field that no line looks at; what is not read is no guard. That is so where each
mention of the argument is ``batch["name"]`` or ``example.name``: then nobody else gets hold of the argument, and the
entries with these names are arguments themselves. Any other mention, and the argument is taken as a whole.
"""

from __future__ import annotations

import dis
import functools
import inspect
import re
import types
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..common.classes import is_a
from ..common.pytree import Excerpt
from .bytecode import instructions
from .value_kinds import CONTAINERS, is_changeable, is_optimizer, is_users, own_attributes

# Code that mentions these may look at variables by other ways than their names.
_BY_NAME = frozenset({"locals", "vars", "eval", "exec", "dir", "globals", "sys", "inspect", "gc", "traceback"})
_LOADS = ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW")
# From Python 3.13 on two neighbouring instructions on variables are one, with a pair of names.
_PAIR = re.compile(r"((?:LOAD|STORE)_FAST(?:_BORROW)?)_((?:LOAD|STORE)_FAST(?:_BORROW)?)")
_OTHER_FRAMES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True)
class Reads:
    """The names under which a function reads one argument: keys of a dict, or attributes."""

    are_items: bool
    names: tuple[str, ...]

    def excerpt(self, value: Any) -> Excerpt | None:
        """What is read of `value`; None if that is not all that reading these names means."""
        if self.are_items:
            whole = value if type(value) in (dict, OrderedDict) else {}
        else:
            whole = own_attributes(value) if _is_record(type(value), self.names) else {}
        if any(name not in whole for name in self.names):
            return None
        return Excerpt(value, {name: whole[name] for name in self.names})

    def unread(self, value: Any) -> Any:
        """What tells two arguments apart that have the same excerpt."""
        return [item for item in value.items() if item[0] not in self.names] if self.are_items else value


def _is_record(kind: type, names: tuple[str, ...]) -> bool:
    """True for classes whose objects give what is in their ``__dict__`` for these names, and no more than that; and
    are nothing but their attributes, so that a copy is made of these (no number, text or exception with attributes)."""
    if not all(base is object or is_changeable(base) for base in kind.__mro__):
        return False
    if not is_users(kind) or issubclass(kind, CONTAINERS) or hasattr(kind, "named_modules"):
        return False
    if kind.__getattribute__ is not object.__getattribute__ or is_optimizer(kind) or hasattr(kind, "__del__"):
        return False
    members = [vars(base)[name] for base in kind.__mro__ for name in names if name in vars(base)]
    return not any(hasattr(type(member), "__set__") or hasattr(type(member), "__delete__") for member in members)


def reads_of_arguments(function: Callable[..., Any]) -> dict[Any, Reads]:
    """The arguments of a plain function or method that are read by name only, by position and by keyword."""
    bound = is_a(function, types.MethodType)
    plain = function.__func__ if is_a(function, types.MethodType) else function
    if not is_a(plain, types.FunctionType):
        return {}
    code = plain.__code__
    by_name = _reads(code)
    names = code.co_varnames[bound : code.co_argcount]
    found: dict[Any, Reads] = {i: by_name[name] for i, name in enumerate(names) if name in by_name}
    return {**found, **by_name}


@functools.lru_cache(maxsize=1024)
def _reads(code: types.CodeType) -> dict[str, Reads]:
    if code.co_flags & _OTHER_FRAMES or not _BY_NAME.isdisjoint(code.co_names):
        return {}
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    single = list(_single_instructions(code))
    found = {name: _reads_of(name, single) for name in parameters if name not in code.co_cellvars}
    return {name: reads for name, reads in found.items() if reads is not None}


def _single_instructions(code: types.CodeType) -> Iterator[dis.Instruction]:
    """The instructions, pairs taken apart."""
    for instruction in instructions(code):
        pair = _PAIR.fullmatch(instruction.opname)
        names = zip(pair.groups(), instruction.argval, strict=True) if pair else ()
        yield from (instruction._replace(opname=opname, argval=name) for opname, name in names)
        if not pair:
            yield instruction


def _reads_of(name: str, instructions: list[dis.Instruction]) -> Reads | None:
    """How a variable is read, if each mention of it is a load with a constant key or an attribute right behind."""
    reads: dict[tuple[bool, str], None] = {}
    for i, instruction in enumerate(instructions):
        if not _mentions(instruction, name):
            continue
        read = _read_at(instructions[i : i + 3])
        if read is None:
            return None
        reads[read] = None
    kinds = {are_items for are_items, _ in reads}
    return Reads(kinds.pop(), tuple(key for _, key in reads)) if len(kinds) == 1 else None


def _mentions(instruction: dis.Instruction, name: str) -> bool:
    if "FAST" not in instruction.opname and "CLOSURE" not in instruction.opname:
        return False
    return bool(instruction.argval == name or (is_a(instruction.argval, tuple) and name in instruction.argval))


def _read_at(instructions: list[dis.Instruction]) -> tuple[bool, str] | None:
    """Whether it is an item, and its name; None if the first of the `instructions` is not followed by such a read."""
    load, key, *rest = [*instructions, None, None][:3]
    if load is None or key is None or load.opname not in _LOADS:
        return None
    if key.opname in ("LOAD_ATTR", "LOAD_METHOD"):
        return False, str(key.argval)
    subscript = rest[0] is not None and (rest[0].opname == "BINARY_SUBSCR" or rest[0].argrepr == "[]")
    if key.opname == "LOAD_CONST" and type(key.argval) is str and subscript:
        return True, key.argval
    return None
