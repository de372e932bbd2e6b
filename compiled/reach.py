"""What a function can reach without being told: the walk over variables, attributes and containers.

An attribute counts only if some code that was found names it; so an object's other attributes may change freely.
"""

from __future__ import annotations

import builtins
import contextvars
import dis
import functools
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ..autograd.tensor import Tensor
from ..autograd.watch import WatchedDict
from ..compiler.origins import is_user_file
from .groups import Identities, group_members, is_of_the_library, is_optimizer, parameters
from .memory import users_attributes

CONTAINERS = (list, tuple, set, frozenset, dict, deque)
MISSING = object()  # what a variable or attribute that is not there looks like

Get = Callable[[], Any]
# Name, the code that reads it (None if unknown), and how to look at it.
Place = tuple[str, types.CodeType | None, Get]


class Reach:
    """All places that functions and arguments lead to. `names` are the attributes that code on the way mentions."""

    def __init__(self, functions: list[Any], arguments: list[Any]) -> None:
        self.names: set[str] = set()
        self.objects: dict[int, Any] = {}  # everything met, kept alive so that the ids stay taken
        self._codes: dict[types.CodeType, None] = {}
        self.summing: dict[int, dict[str, Any]] = {}  # the globals of functions that name `sum`
        self.places: list[Place] = []
        known = -1
        while known != len(self.names):  # new code names more attributes, behind which there may be more code
            known = len(self.names)
            self.objects, self.places = {}, []
            self._walk(functions)
            self.by_function = frozenset(self.objects)  # found without the arguments
            self._walk(arguments)

    @property
    def codes(self) -> Iterable[types.CodeType]:
        """All code that was found."""
        return self._codes

    def knows(self, code: types.CodeType) -> bool:
        """True for code that was found."""
        return code in self._codes

    def codes_naming(self, name: str) -> set[types.CodeType]:
        """The code that mentions a variable or an attribute, or could by its text."""
        return {c for c in self._codes if name in (*c.co_names, *c.co_freevars, *c.co_cellvars) or name in c.co_consts}

    def _walk(self, roots: list[Any]) -> None:
        stack = list(roots)
        while stack:
            value = stack.pop()
            if id(value) in self.objects or isinstance(value, (str, bytes, int, float, type(None))):
                continue
            self.objects[id(value)] = value
            for place in self._around(value):
                self.places.append(place)
                stack.append(place[2]())
            stack += self._behind(value)

    def _around(self, value: Any) -> Iterator[Place]:
        """The named places directly at `value`."""
        if isinstance(value, types.FunctionType):
            if is_user_file(value.__code__.co_filename):
                yield from self._of_function(value)
        elif isinstance(value, (type, types.ModuleType)):
            if is_users(value):
                yield from self._attributes(value, list(vars(value)))
        elif isinstance(value, contextvars.ContextVar):
            yield value.name, None, functools.partial(value.get, MISSING)
        elif is_optimizer(value):
            yield "the groups or parameters of an optimizer", None, functools.partial(group_members, value)
            if not is_of_the_library(value):
                names = [name for name in _attribute_names(value) if name not in _OF_OPTIMIZERS]
                yield from self._attributes(value, names)
        elif isinstance(value, Tensor):
            for name in users_attributes(value):
                if name in self.names or not self.names.isdisjoint(_BY_COMPUTED_NAME):
                    yield f"Tensor.{name}", _code_storing(name, self._codes), functools.partial(attribute, value, name)
        elif _has_attributes(value):
            yield from self._attributes(value, _attribute_names(value))

    def _behind(self, value: Any) -> list[Any]:
        """What `value` leads to without a name of its own."""
        if isinstance(value, dict):
            return list(value.values())
        if isinstance(value, CONTAINERS):
            return list(value)
        if isinstance(value, functools.partial):
            return [value.func, *value.args, *value.keywords.values()]
        if isinstance(value, types.MethodType):
            return [value.__func__, value.__self__]
        if isinstance(value, property):
            return [value.fget]
        if isinstance(value, (staticmethod, classmethod)):
            return [value.__func__]
        if isinstance(value, Tensor):
            return [value.__dict__.get("_leaf_hooks"), value.__dict__.get("_post_accumulate_hooks")]
        own = getattr(value, "__dict__", {})
        if isinstance(value, contextvars.ContextVar):
            return [value.get(None)]
        if isinstance(value, weakref.ref):
            return [value()]
        if is_optimizer(value):
            return parameters(value) + ([] if is_of_the_library(value) else self._methods(type(value)))
        inner = [own.get("__wrapped__")]
        if _has_attributes(value):
            inner += [*_parts_of_module(value), *self._methods(type(value)), own.get("hook")]
        return inner

    # -------------------------------------------------------------------------------------------------------- places

    def _of_function(self, function: types.FunctionType) -> Iterator[Place]:
        code = function.__code__
        yield from self._of_code(code, function.__globals__)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            yield name, code, functools.partial(cell_contents, cell)
        for name, value in zip(_defaulted(function), function.__defaults__ or (), strict=True):
            yield name, code, functools.partial(itself, value)
        for name, value in (function.__kwdefaults__ or {}).items():
            yield name, code, functools.partial(itself, value)
        if vars(function) or any(_stores_attributes(each) for each in self._codes):
            yield from self._attributes(function, list(vars(function)))

    def _of_code(self, code: types.CodeType, space: dict[str, Any]) -> Iterator[Place]:
        for each in _nested(code):
            if each not in self._codes:
                self._codes[each] = None
                self.names.update(each.co_names, (c for c in each.co_consts if isinstance(c, str)))
        names = set(global_names(code))
        if "sum" in names:
            self.summing[id(space)] = space
        if "globals" in names:
            names.update(c for each in _nested(code) for c in each.co_consts if isinstance(c, str) and c in space)
        for name in sorted(names):
            if name in space or not hasattr(builtins, name):
                yield name, code, functools.partial(space.get, name, MISSING)

    def _attributes(self, value: Any, names: list[str]) -> Iterator[Place]:
        named = isinstance(value, (type, types.ModuleType, types.FunctionType))
        kind = value.__name__ if named else type(value).__name__
        every = not self.names.isdisjoint(_BY_COMPUTED_NAME) or not (named or _is_named(type(value)))
        for name in names:
            if (every or name in self.names or name == "forward") and name not in _DECLARED and name[:2] != "__":
                yield f"{kind}.{name}", _code_storing(name, self._codes), functools.partial(attribute, value, name)
        if not isinstance(value, types.ModuleType):
            yield f"the attributes of {kind}", None, functools.partial(attribute_count, value)

    def _methods(self, kind: type) -> list[Any]:
        """The methods of a user's class that code names, or that Python calls by itself; what the library's read."""
        found = []
        for base in kind.__mro__:
            for name, member in vars(base).items():
                if not is_users(base):
                    code = getattr(member, "__code__", None)
                    if hasattr(kind, "_modules") and code is not None:
                        self.names.update(code.co_names)
                elif name in self.names or name in ("forward", "__call__", "__getitem__", "__len__"):
                    found.append(member)
        return found


# Code that mentions these may read attributes that it does not mention.
_BY_COMPUTED_NAME = frozenset({"getattr", "vars", "__dict__", "__getattribute__"})
# What optimizers keep to themselves, or is looked at by `group_members` and as it is read.
_OF_OPTIMIZERS = frozenset({"param_groups", "state", "_opt_called", "_recorded", "_watched_step"})
_HOOKS = ("ForwardHook", "ForwardPreHook")
# Declared by the modules themselves, or of no influence on what they compute.
_DECLARED = frozenset({"_parameters", "_buffers", "_modules", "training", "_non_persistent_buffers_set"})


def is_counted(get: Get, value: Any) -> bool:
    """True for attributes of the library's modules: whoever sets one counts `changes` up, as their dicts do."""
    if not isinstance(get, functools.partial) or get.func not in (attribute, attribute_count):
        return isinstance(value, Identities)
    module = "_modules" in getattr(get.args[0], "__dict__", ())
    return module and (isinstance(value, WatchedDict) or not isinstance(value, (*CONTAINERS, np.ndarray, bytearray)))


def storage_of(get: Get) -> tuple[str, Any, Any] | None:
    """What ``get()`` looks at, as a kind ("entry" of a dict, "cell", "class", "slot"), its owner and a name.

    None for what nothing else can be stored in: defaults of arguments, computed attributes, context variables.
    """
    if not isinstance(get, functools.partial):
        return None
    if get.func is cell_contents:
        return "cell", get.args[0], None
    owner = getattr(get.func, "__self__", None)
    if type(owner) is dict:
        return ("entry", owner, get.args[0]) if get.args[0] in owner else None
    return _storage_of_attribute(*get.args) if get.func is attribute else None


def _storage_of_attribute(value: Any, name: str) -> tuple[str, Any, Any] | None:
    now = attribute(value, name)
    own = getattr(value, "__dict__", None)
    if type(own) is dict and name in own:
        return ("entry", own, name) if own[name] is now else None
    for base in value.__mro__ if isinstance(value, type) else type(value).__mro__:
        if name in vars(base):
            found = vars(base)[name]
            if isinstance(found, types.MemberDescriptorType):
                return "slot", value, name
            return ("class", base, name) if found is now and is_users(base) else None
    return None


def is_users(thing: Any) -> bool:
    """True for modules and classes of the user's program, False for libraries and for this package."""
    name = thing.__module__ if isinstance(thing, type) else thing.__name__
    module = sys.modules.get(name) if isinstance(thing, type) else thing
    file = getattr(module, "__file__", None)
    if file is None:  # a notebook, a REPL, exec; built-in modules have no file either
        return name == "__main__" or (name not in sys.builtin_module_names and name not in sys.stdlib_module_names)
    return is_user_file(file) and name.partition(".")[0] not in sys.stdlib_module_names and not _is_library(file)


def _is_library(file: str) -> bool:
    return "site-packages" in file or "dist-packages" in file


def _has_attributes(value: Any) -> bool:
    """True for objects with attributes that are not this package's own, and for its modules of networks."""
    kind = type(value)
    if isinstance(value, (Tensor, np.ndarray, types.FunctionType, types.MethodType, functools.partial)):
        return False
    if kind.__module__.startswith("tracegrad."):
        known = kind.__name__ in _HOOKS or hasattr(kind, "get_last_lr")  # schedulers keep numbers in attributes
        return "_modules" in value.__dict__ or known if hasattr(value, "__dict__") else False
    return hasattr(value, "__dict__") or any(is_users(base) for base in kind.__mro__[:-1])


def _is_named(kind: type) -> bool:
    """True if the code that reads the attributes of such objects is walked, too: not for Python's own classes."""
    return (
        kind is types.SimpleNamespace or hasattr(kind, "_modules") or any(is_users(base) for base in kind.__mro__[:-1])
    )


def _attribute_names(value: Any) -> list[str]:
    """Instance attributes, slots, and what user's classes define besides methods."""
    own = list(getattr(value, "__dict__", ()))
    for base in type(value).__mro__[:-1]:
        slots = base.__dict__.get("__slots__", ())
        own += [slots] if isinstance(slots, str) else [s for s in slots if hasattr(value, s)]
        if is_users(base):
            own += [name for name, member in vars(base).items() if not callable(member) and not _is_descriptor(member)]
    return [name for name in dict.fromkeys(own) if not name.startswith("__")]


def _is_descriptor(member: Any) -> bool:
    return hasattr(type(member), "__get__") or isinstance(member, types.MemberDescriptorType)


def _parts_of_module(value: Any) -> list[Any]:
    own = getattr(value, "__dict__", {})
    tables = ("_modules", "_parameters", "_buffers", "_forward_hooks", "_forward_pre_hooks", "_backward_hooks")
    if "_modules" not in own:
        return []
    return [item for table in (*tables, "_backward_pre_hooks") for item in own.get(table, {}).values()]


def attribute(value: Any, name: str) -> Any:
    return getattr(value, name, MISSING)


def attribute_count(value: Any) -> int:
    """How many attributes there are: a new one is noticed by it."""
    return len(getattr(value, "__dict__", ()))


def itself(value: Any) -> Any:
    return value


def cell_contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # an empty cell
        return MISSING


def _defaulted(function: types.FunctionType) -> tuple[str, ...]:
    count = len(function.__defaults__ or ())
    return function.__code__.co_varnames[: function.__code__.co_argcount][-count:] if count else ()


@functools.lru_cache(maxsize=1024)
def _nested(code: types.CodeType) -> tuple[types.CodeType, ...]:
    inner = [each for c in code.co_consts if isinstance(c, types.CodeType) for each in _nested(c)]
    return (code, *inner)


@functools.lru_cache(maxsize=1024)
def global_names(code: types.CodeType) -> tuple[str, ...]:
    """The names of globals that the code, or code nested in it, reads or writes."""
    kinds = ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL")
    names = {i.argval for each in _nested(code) for i in dis.get_instructions(each) if i.opname in kinds}
    return tuple(sorted(names))


@functools.lru_cache(maxsize=1024)
def _stores_attributes(code: types.CodeType) -> bool:
    return any(i.opname == "STORE_ATTR" for i in dis.get_instructions(code))


def _code_storing(name: str, codes: dict[types.CodeType, None]) -> types.CodeType | None:
    """A code that mentions the attribute, for the place in a message."""
    return next((code for code in codes if name in code.co_names), None)
