"""What code objects mention: names of globals and attributes, modules that they import."""

from __future__ import annotations

import dis
import functools
import sys
import types
from itertools import chain
from typing import Any

from ..common.classes import is_a

_FORMATS = ("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC")  # what f-strings do, up to and from Python 3.13 on
_ASKED_BY = {**dict.fromkeys(_FORMATS, "__format__"), "MATCH_CLASS": "__match_args__"}


# What says nothing of the program.
_NOTHING = frozenset({"CACHE", "COPY_FREE_VARS", "EXTENDED_ARG", "NOP", "PRECALL", "PUSH_NULL"})
_CALLS = (["CALL"], ["CALL_FUNCTION"])  # the latter of Python 3.10
_ASKING_FOR_CLASSES = frozenset({"type", "__class__"})
_NAMES = (["__name__"], ["__qualname__"], ["__module__"])
_WORDS = _ASKING_FOR_CLASSES.union(*_NAMES)
CONVERTING = frozenset({"sum", "float", "int"})  # builtins that read the values of numbers in C
_BY_COMPUTED_NAME = frozenset({"setattr", "__setattr__", "__dict__", "vars"})


def instructions(code: types.CodeType) -> list[dis.Instruction]:
    """The instructions of some code, without those that say nothing of the program."""
    return [i for i in dis.get_instructions(code) if i.opname not in _NOTHING]


@functools.lru_cache(maxsize=1024)
def nested(code: types.CodeType) -> tuple[types.CodeType, ...]:
    """The code and all that is written inside of it."""
    inner = [each for c in code.co_consts if is_a(c, types.CodeType) for each in nested(c)]
    return (code, *inner)


@functools.lru_cache(maxsize=1024)
def global_names(code: types.CodeType) -> tuple[str, ...]:
    """The names of globals that the code, or code nested in it, reads or writes."""
    kinds = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "STORE_NAME", "DELETE_GLOBAL", "DELETE_NAME")
    names = {i.argval for each in nested(code) for i in dis.get_instructions(each) if i.opname in kinds}
    return tuple(sorted(names))


@functools.lru_cache(maxsize=1024)
def only_calls(code: types.CodeType, name: str) -> bool:
    """True if the code, and code nested in it, does nothing with the global variable but call it.

    From Python 3.11 on the instruction that reads it says so; Python 3.10 does not tell, and the answer is False.
    """
    named = [i for each in nested(code) for i in dis.get_instructions(each) if i.argval == name]
    return all("NULL" in i.argrepr for i in named if i.opname.endswith(("_GLOBAL", "_NAME")))


@functools.lru_cache(maxsize=1024)
def attribute_names(code: types.CodeType) -> tuple[str, ...]:
    """The names that may be those of attributes: all that the code mentions, texts among them.

    ``__format__`` is one of them where there is an f-string, ``__match_args__`` where a class is matched. What asks for
    classes only to compare or to name them, as methods that dataclasses write do, is none: no object is made of them.
    """
    inner = [c for c in code.co_consts if is_a(c, tuple)]  # what ``case Point(x=0)`` asks for
    texts = [c for c in chain(code.co_consts, *inner) if is_a(c, str)]
    asked = dict.fromkeys(_ASKED_BY[i.opname] for i in dis.get_instructions(code) if i.opname in _ASKED_BY)
    compared = _classes_compared(code)
    return (*(name for name in code.co_names if name not in compared), *texts, *asked)


def _classes_compared(code: types.CodeType) -> set[str]:
    """Those of ``__class__`` and ``type`` that stand only in ``a.__class__ is b.__class__``, in ``type(a) is b``, and
    where the name of the class is read."""
    if _ASKING_FOR_CLASSES.isdisjoint(code.co_names):
        return set()
    found = instructions(code)
    words = [str(i.argval) if str(i.argval) in _WORDS else i.opname for i in found]
    left = {name: words.count(name) for name in _ASKING_FOR_CLASSES}
    for at, name in enumerate(words):
        after = words[at + 1 : at + 5]
        if name == "__class__" and after[:1] in _NAMES:
            left[name] -= 1
        elif name == "__class__" and after[1:3] == ["__class__", "IS_OP"]:
            left[name] -= 2
        elif name == "type" and after[1:2] in _CALLS:
            left[name] -= after[2:3] in _NAMES or (after[2][:5] == "LOAD_" and after[3:] == ["IS_OP"])
    return {name for name, uses in left.items() if not uses}


@functools.lru_cache(maxsize=1024)
def stores_attributes(code: types.CodeType) -> bool:
    """True if the code sets attributes of anything."""
    return any(i.opname == "STORE_ATTR" for i in dis.get_instructions(code))


@functools.lru_cache(maxsize=1024)
def stored_names(code: types.CodeType) -> frozenset[str]:
    """The attributes that the code, or code nested in it, sets; texts may be names where it sets computed ones."""
    found = {i.argval for each in nested(code) for i in dis.get_instructions(each) if i.opname == "STORE_ATTR"}
    if not _BY_COMPUTED_NAME.isdisjoint(code.co_names):
        found.update(c for each in nested(code) for c in each.co_consts if is_a(c, str))
    return frozenset(found)


@functools.lru_cache(maxsize=1024)
def only_stores(code: types.CodeType, name: str) -> bool:
    """True if the code does nothing with an attribute of that name but assign it; a variable may have it, too."""
    if name in code.co_consts:
        return False
    named = {i.opname for i in dis.get_instructions(code) if i.argval == name}
    return all(kind == "STORE_ATTR" or kind.endswith(("_FAST", "_DEREF", "_CLOSURE")) for kind in named)


def imported_modules(code: types.CodeType, space: dict[str, Any]) -> list[str]:
    """The full names of the modules that the code, or code nested in it, imports, and of the packages around them."""
    names: dict[str, None] = {}
    for level, items, name in (found for each in nested(code) for found in _imports(each)):
        package = str(space.get("__package__") or "").split(".")
        outer = package[: len(package) - level + 1] if level else []
        parts = [*outer, *(name.split(".") if name else [])]
        names.update(dict.fromkeys(".".join(parts[: i + 1]) for i in range(len(parts))))
        names.update(dict.fromkeys(".".join([*parts, item]) for item in items))
    return list(names)


def modules_named(code: types.CodeType, space: dict[str, Any]) -> list[str]:
    """The modules that code imports, or may look up in `sys.modules` under a name that it or a variable holds."""
    modules = imported_modules(code, space)
    for each in nested(code):
        if "modules" in each.co_names:
            texts = [*each.co_consts, *map(space.get, each.co_names)]
            modules += [text for text in texts if is_a(text, str) and text in sys.modules]
    return modules


@functools.lru_cache(maxsize=1024)
def looks_through_modules(code: types.CodeType) -> bool:
    """True if the code reads an attribute ``modules`` otherwise than by a call, or for one module that it names."""
    found = instructions(code)
    return any(
        i.argval == "modules" and i.opname == "LOAD_ATTR" and "NULL" not in i.argrepr and not _is_for_one(found, at)
        for at, i in enumerate(found)
    )


def _is_for_one(found: list[dis.Instruction], at: int) -> bool:
    """True for ``sys.modules["name"]``, ``.get("name")``, ``[__name__]`` and ``"name" in sys.modules``."""
    after = found[at + 1 : at + 4]
    if after and after[0].opname == "CONTAINS_OP":
        return at > 1 and is_a(found[at - 2].argval, str) and found[at - 2].opname == "LOAD_CONST"
    if after and after[0].opname in ("LOAD_METHOD", "LOAD_ATTR") and after[0].argval == "get":
        return _is_name(after[1])
    return len(after) > 1 and _is_name(after[0]) and after[1].opname in ("BINARY_SUBSCR", "BINARY_OP")


def _is_name(instruction: dis.Instruction) -> bool:
    """True for a text, and for a global variable that may hold one: it is looked up, and guarded."""
    return instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") or (
        instruction.opname == "LOAD_CONST" and is_a(instruction.argval, str)
    )


@functools.lru_cache(maxsize=1024)
def _imports(code: types.CodeType) -> tuple[tuple[int, tuple[str, ...], str], ...]:
    """Level, items and name of each import statement: the level and the items are loaded just before."""
    found = instructions(code)
    return tuple(
        (level.argval, items.argval or (), i.argval)
        for level, items, i in zip(found, found[1:], found[2:], strict=False)
        if i.opname == "IMPORT_NAME"
    )
