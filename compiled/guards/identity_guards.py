"""Whether code can tell a plain value, or a container, from an equal one that is another object.

``x is y`` can, unless one side is known to be something of which there is one only: None, a class, a member of an
enumeration, a sentinel object. Where it can, guards compare identities, and no number is an input.
"""

from __future__ import annotations

import decimal
import dis
import enum
import functools
import itertools
import operator
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..common.classes import is_a
from ..common.exactness import Same
from ..common.pytree import leaves
from ..symbolic.number import value_of
from .bytecode import global_names, instructions
from .reachability import Reach
from .sources import MISSING
from .states import state
from .value_kinds import CONTAINERS, items_of

_NUMBERS = (float, complex, np.inexact)
_BY_NAME = frozenset({"is_", "is_not"})
_SEARCHING = frozenset(
    "contains countOf indexOf index count remove eq ne get setdefault pop add discard fromkeys update union difference "
    "intersection issubset issuperset isdisjoint getitem setitem delitem hash set frozenset dict Counter sort sorted "
    "min max bisect bisect_left bisect_right insort".split()
)
_COMPARING = frozenset(
    "CONTAINS_OP COMPARE_OP BINARY_SUBSCR STORE_SUBSCR DELETE_SUBSCR BUILD_SET BUILD_MAP SET_ADD SET_UPDATE MAP_ADD "
    "DICT_UPDATE DICT_MERGE BUILD_CONST_KEY_MAP MATCH_KEYS".split()
)
_FUNCTIONS = (operator.is_, operator.is_not, id)
_VARIABLES = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")

Operand = tuple[Any, ...]  # a constant's value; or the name of a variable, and of the attributes that lead on


def compares(reach: Reach) -> bool:
    """True if code that was found may compare containers, or look for something in one, be it by its hash."""
    return any(map(_compares, reach.codes))


@functools.lru_cache(maxsize=1024)
def _compares(code: types.CodeType) -> bool:
    names = {i.opname for i in dis.get_instructions(code)}
    return not names.isdisjoint(_COMPARING) or not _SEARCHING.isdisjoint(code.co_names)


def meets_nan(reach: Reach, arguments: list[Any]) -> bool:
    """True if a nan is among the values: ``in``, ``==`` and look-ups of containers ask for its identity."""
    values = (source.now() for source, _ in reach.places if not source.is_of_library)
    items = (item for container in reach.objects.values() for item in _items_of(container))
    return any(map(_is_nan, (*values, *items, *(leaf for _, leaf in leaves(arguments)))))


def _items_of(value: Any) -> Iterable[Any]:
    if not is_a(value, CONTAINERS):
        return ()
    items = items_of(value)
    return itertools.chain.from_iterable(items) if is_a(value, dict) else items


def _is_nan(value: Any) -> bool:
    """True for a number that is not equal to itself."""
    value = value_of(value)
    return is_a(value, decimal.Decimal) and value.is_nan() or is_a(value, _NUMBERS) and bool(value != value)


def asks_identity(reach: Reach) -> bool:
    """True if code that was found asks which object a value is that may be a number, a text or a container."""
    if any(value is function for value in reach.objects.values() for function in _FUNCTIONS):
        return True
    if any(not _BY_NAME.isdisjoint(code.co_names) or "id" in global_names(code) for code in reach.codes):
        return True
    return any(not _is_single(operand, reach) for code in reach.codes for operand in _compared(code))


@functools.lru_cache(maxsize=1024)
def _compared(code: types.CodeType) -> tuple[Operand | None, ...]:
    """The right operand of each ``is``; None if it is no constant, and no variable from outside."""
    found = instructions(code)
    asked = (position for position, i in enumerate(found) if i.opname == "IS_OP")
    return tuple(_operand(found[:at]) for at in asked if not _is_of_records(code, found[at - 1]))


def _is_of_records(code: types.CodeType, loaded: dis.Instruction) -> bool:
    """True for ``self is other`` in the ``__eq__`` that dataclasses write from Python 3.13 on: no number is `self`."""
    written = code.co_name == "__eq__" and code.co_filename == "<string>"
    return written and loaded.argval == ("self", "other") == code.co_varnames[:2]


def _operand(before: list[dis.Instruction]) -> Operand | None:
    """What the last of these instructions have loaded."""
    names: list[str] = []
    if before[-1].opname in _ATTRIBUTES and before[-1].argval == "__class__":
        return ("constant", None)  # a class, as in the methods that dataclasses write
    for instruction in reversed(before):
        if instruction.opname == "LOAD_CONST":
            return ("constant", instruction.argval) if not names else None
        if instruction.opname in _VARIABLES:
            return ("variable", instruction.argval, *reversed(names))
        if instruction.opname not in _ATTRIBUTES:
            return None
        names.append(instruction.argval)
    return None


def _is_single(operand: Operand | None, reach: Reach) -> bool:
    """True if the operand is surely a value of which there is one object only."""
    if operand is None:
        return False
    kind, what, *names = operand
    if kind == "constant":
        return what is None or what is Ellipsis or what is NotImplemented or is_a(what, bool)
    if any(what in code.co_cellvars for code in reach.codes):
        return False  # a variable of the call itself
    values = [source.now() for source, _ in reach.places if source.is_variable and source.describe() == what]
    return bool(values) and all(_leads_to_one(value, names) for value in values if value is not MISSING)


def _leads_to_one(value: Any, names: list[str]) -> bool:
    for name in names:
        if not is_a(value, (type, types.ModuleType)):
            return False
        value = getattr(value, name, MISSING)
    return is_a(value, enum.Enum) or (value is not MISSING and is_a(state(value), Same))
