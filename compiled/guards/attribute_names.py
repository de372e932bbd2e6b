"""Under which names code may read attributes of an object: those that the program's code names, and those that methods
of Python's library name for it, where a class inherits from one that is written in Python (an enumeration, a UserDict).
"""

from __future__ import annotations

import dis
import functools
import itertools
import logging
import types
from collections.abc import Iterable, Iterator, Set
from typing import Any

from ..common.classes import is_a
from .bytecode import attribute_names, nested
from .class_members import ASKING, functions_of, is_method, is_used
from .value_kinds import is_changeable, is_ours, is_users, own_attributes

# Code that mentions these may read or write attributes that it does not mention.
_BY_COMPUTED_NAME = frozenset({
    "getattr", "hasattr", "setattr", "delattr", "vars", "__dict__", "__getattribute__", "__setattr__", "__delattr__",
    "attrgetter", "methodcaller", "eval", "exec",
})  # fmt: skip
# Code that mentions these may go through all of them.
_OF_ALL = frozenset({"vars", "__dict__", "eval", "exec"})
_OF_LOGGERS = vars(logging.Logger("")).keys()  # what each of them has
# Instructions of code that goes on where an attribute is missing; the last of Python 3.10.
_CATCHING = frozenset({"MATCH_CLASS", "CHECK_EXC_MATCH", "CHECK_EG_MATCH", "SETUP_FINALLY"})
# What is guarded as a place of another kind, or is another object at each look.
_STRUCTURE = frozenset({"__class__", "__dict__", "__weakref__", "__mro__", "__bases__"})
# What Python has of its own for classes and functions, outside of their ``__dict__``. A class without annotations that
# is asked for them gets some.
_OF_CLASSES = ("__name__", "__qualname__", "__module__", "__doc__")
_OF_FUNCTIONS = (*_OF_CLASSES, "__annotations__", "__defaults__", "__kwdefaults__", "__code__")


def are_computed(names: Set[str]) -> bool:
    """True if code that mentions `names` may read attributes under names that it computes."""
    return not names.isdisjoint(_BY_COMPUTED_NAME)


def are_counted(names: Set[str]) -> bool:
    """True if code that mentions `names` may go through all attributes of an object."""
    return not names.isdisjoint(_OF_ALL)


def are_read_past(name: str, names: Set[str]) -> bool:
    """True if code that mentions `names` may read the attribute `name` itself, and not by methods alone."""
    return name in names or are_counted(names)


def instance_names(value: Any) -> list[str]:
    """Instance attributes, slots, and what classes that are no C define besides methods."""
    own = list(own_attributes(value) or ())
    for base in type(value).__mro__[:-1]:
        own += slots(base)  # also those that are empty, which nothing else notices being filled
        if is_users(base) or is_of_python(base):
            own += [name for name, member in vars(base).items() if not is_method(member)]
    return [name for name in dict.fromkeys(own) if name not in _STRUCTURE]


def names_of_class(kind: type) -> list[str]:
    """What a class has under a name, but for methods."""
    own = [name for name, member in vars(kind).items() if not is_method(member) and name not in _STRUCTURE]
    return list(dict.fromkeys([*own, *_OF_CLASSES]))


def names_of_kind(kind: type) -> list[str]:
    """What a user's class is called, which code may ask for that has an object of it."""
    return list(_OF_CLASSES[:-1]) if is_users(kind) else []


def names_of_function(function: types.FunctionType) -> list[str]:
    """What a function has under a name."""
    return list(dict.fromkeys([*own_attributes(function), *_OF_FUNCTIONS]))


def names_of_logger(logger: logging.Logger, names: Set[str]) -> list[str]:
    """What a program has set on a logger, and what code that mentions `names` asks it for."""
    own = vars(logger).keys()
    return sorted(own - _OF_LOGGERS | own & names)


def slots(kind: type) -> list[str]:
    """The slots that a class adds, by the names under which they are found."""
    found = vars(kind).get("__slots__", ())
    names = [found] if is_a(found, str) else list(found)
    return [_mangled(name, kind.__name__) for name in names if name not in _STRUCTURE]


def _mangled(name: str, owner: str) -> str:
    if not name.startswith("__") or name.endswith("__"):
        return name
    return f"_{owner.lstrip('_')}{name}"


def is_of_python(kind: type) -> bool:
    """True for a class of a library, but for this one, that is made by a class statement: its methods are Python."""
    return not is_users(kind) and not is_ours(kind) and is_changeable(kind)


def read_by_libraries(kind: type, names: Set[str]) -> frozenset[str]:
    """The names that methods mention which `kind` inherits from Python's library, and which code that mentions `names`
    may call."""
    bases = tuple(base for base in kind.__mro__ if is_of_python(base))
    own = {name for base in bases for name in vars(base)}
    return _read_by(bases, frozenset(names & (own | ASKING))) if bases else frozenset()


@functools.lru_cache(maxsize=1024)
def _read_by(bases: tuple[type, ...], named: frozenset[str]) -> frozenset[str]:
    members = [(name, member) for base in bases for name, member in vars(base).items()]
    before, known = None, named
    while known != before:  # methods call methods
        before = known
        functions = [each for name, member in members if is_used(name, known, True) for each in functions_of(member)]
        known = named.union(*(attribute_names(function.__code__) for function in functions))
    return known


def read_by_function(function: types.FunctionType) -> set[str]:
    """The names of attributes that a function of Python's library reads of what it is given, or what it calls in its
    module does. Of methods of the module's classes only those with an underscore: others are their own objects'."""
    found: set[str] = set()
    stack, known = [(function, False)], set()
    while stack:
        called, of_method = stack.pop()
        code, space = called.__code__, called.__globals__
        if (code, of_method) in known:
            continue
        known.add((code, of_method))
        mentioned = {each: space.get(each) for inner in nested(code) for each in inner.co_names}
        read = {name for inner in nested(code) for name in _attributes_read(inner)}
        found |= {name for name in read if name[:1] == "_"} if of_method else read
        found.update(_special_names((*mentioned.values(), *(called.__defaults__ or ()))))
        stack += [(each, of_method) for each in _functions_in(space, mentioned.values())]
        stack += [(each, True) for each in _functions_in(space, _methods_named(mentioned))]
    return found


def _special_names(values: Iterable[Any]) -> Iterator[str]:
    """The names with two underscores among values, or in tuples of these, that code asks objects for by itself."""
    for value in values:
        for each in value if type(value) is tuple else (value,):
            if is_a(each, str) and each[:2] == "__":
                yield each


def _functions_in(space: dict[str, Any], values: Iterable[Any]) -> list[types.FunctionType]:
    return [value for value in values if is_a(value, types.FunctionType) and value.__globals__ is space]


def _methods_named(mentioned: dict[str, Any]) -> Iterator[types.FunctionType]:
    """The functions behind the methods of classes that code mentions by name, as it does those."""
    for kind in [each for each in mentioned.values() if is_a(each, type)]:
        for name in vars(kind).keys() & mentioned.keys():
            yield from functions_of(vars(kind)[name])


# ------------------------------------------------------------------------------------------ attributes that come later


def absent(value: Any, names: Iterable[str]) -> frozenset[str]:
    """Those of `names` under which a module, a class or a function itself has nothing."""
    own = own_attributes(value)
    return frozenset(name for name in names if name not in own and name not in _OF_FUNCTIONS)


def misses(codes: Iterable[types.CodeType]) -> Iterator[str]:
    """The names of attributes that may be read where nothing is, without that being an error that comes through."""
    codes = list(codes)
    if any(map(_may_miss, codes)):
        for code in codes:
            yield from _attributes_read(code)


@functools.lru_cache(maxsize=1024)
def _may_miss(code: types.CodeType) -> bool:
    """True if the code goes on after an AttributeError, or asks whether there is an attribute."""
    if not {"getattr", "hasattr", "suppress"}.isdisjoint(code.co_names) or code.co_name == "__exit__":
        return True
    found = [i.opname for i in dis.get_instructions(code)]
    if not _CATCHING.isdisjoint(found):
        return True
    return ("PUSH_EXC_INFO", "POP_TOP") in itertools.pairwise(found)  # an except without a class


@functools.lru_cache(maxsize=1024)
def _attributes_read(code: types.CodeType) -> tuple[str, ...]:
    read = {str(i.argval) for i in dis.get_instructions(code) if i.opname in ("LOAD_ATTR", "LOAD_METHOD")}
    read.update(c for inner in code.co_consts if is_a(inner, tuple) for c in inner if is_a(c, str))
    if not are_computed(frozenset(code.co_names)):
        return tuple(sorted(read))
    return tuple(sorted(read.union(c for c in code.co_consts if is_a(c, str) and c.isidentifier())))
