"""What a function can reach without being told: the walk over variables, attributes and containers.

An attribute counts only if some code that was found names it; so an object's other attributes may change freely.
"""

from __future__ import annotations

import abc
import builtins
import contextvars
import functools
import logging
import math
import operator
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...compiler.origins import is_user_file
from ...tensors.tensor import Tensor
from ...tracing.watch import WatchedDict
from ..common.tensor_memory import users_attributes
from . import looks
from .bytecode import attribute_names, global_names, imported_modules, nested, stores_attributes
from .class_members import is_container_of, is_descriptor, is_watched, methods, of_library, users_classes
from .optimizer_groups import (
    Identities,
    group_members,
    hidden_methods,
    hiding,
    is_of_the_library,
    is_optimizer,
    parameters,
)
from .value_kinds import CONTAINERS, PLAIN, has_attributes, is_changeable, is_decimals, is_named, is_users, items_of

MISSING = object()  # what a variable or attribute that is not there looks like

Get = Callable[[], Any]
# Name, the code that reads it (None if unknown), and how to look at it.
Place = tuple[str, types.CodeType | None, Get]
Codes = dict[types.CodeType, dict[str, Any]]  # with their globals


class Reach:
    """All places that functions and arguments lead to. `names` are the attributes that code on the way mentions."""

    def __init__(
        self, functions: list[Any], arguments: list[Any], codes: Codes | None = None, most: float = math.inf
    ) -> None:
        self.names: set[str] = set()
        self.objects: dict[int, Any] = {}  # everything met, kept alive so that the ids stay taken
        self.found_at: dict[int, Place] = {}  # the place that led to it
        self._codes: dict[types.CodeType, None] = {}
        self._mentioning: dict[str, types.CodeType] = {}  # the first code that mentions a name, for messages
        self._most = most
        self._ran = codes or {}
        self._classes: set[tuple[type, bool]] = set()
        self.summing: dict[int, dict[str, Any]] = {}  # the globals of functions that name `sum`
        self.places: list[Place] = []
        known = -1
        while known != len(self.names) and not self.is_too_much:
            # New code names more attributes, behind which there may be more code.
            known = len(self.names)
            self.objects, self.found_at, self.places, self._classes = {}, {}, [], set()
            self._walk(functions, self._ran)
            self.places += hidden_methods(self.objects.values(), None if self._asks_for_any_attribute() else self.names)
            self.by_function = frozenset(self.objects)  # found without the arguments
            self._walk(arguments)

    @property
    def is_too_much(self) -> bool:
        """True if there are more places than shall be looked at: then some are not found."""
        return len(self.places) > self._most

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

    def _walk(self, roots: list[Any], codes: Codes | None = None) -> None:
        stack: list[tuple[Any, Place | None]] = [(root, None) for root in roots]
        for code, space in (codes or {}).items():
            self._go(self._of_code(code, space), stack)
        while stack and not self.is_too_much:
            value, at = stack.pop()
            if id(value) in self.objects or isinstance(value, PLAIN):
                continue
            self.objects[id(value)] = value
            if at is not None:
                self.found_at[id(value)] = at
            self._go(self._around(value), stack)
            stack += [(inner, at) for inner in self._behind(value)]

    def _go(self, places: Iterator[Place], stack: list[tuple[Any, Place | None]]) -> None:
        for place in places:
            self.places.append(place)
            value = place[2]()
            if not (_is_of_library(place[2]) and isinstance(value, (types.FunctionType, type))):
                stack.append((value, place))

    def _around(self, value: Any) -> Iterator[Place]:
        """The named places directly at `value`."""
        if is_decimals(value):
            yield "the context of decimals", None, looks.decimal_context
        if isinstance(value, types.FunctionType):
            yield from self._of_function(value)
        elif isinstance(value, type):
            yield from self._of_class(value)
        elif isinstance(value, types.ModuleType):
            yield from self._of_module(value)
        elif isinstance(value, contextvars.ContextVar):
            yield value.name, None, functools.partial(value.get, MISSING)
        elif isinstance(value, logging.Logger):
            yield f"the level of logger {value.name}", None, functools.partial(looks.level_of, value)
        elif isinstance(value, types.MappingProxyType):
            yield "what is behind a mappingproxy", None, functools.partial(looks.behind, value)
        elif isinstance(value, functools.partial):
            yield from self._of_partial(value)
        elif _belongs_to_an_object(value):
            yield f"what {value.__name__} belongs to", None, functools.partial(itself, value.__self__)
        elif isinstance(value, (operator.attrgetter, operator.methodcaller)):
            self.names.update(_names_within(value))
        elif is_optimizer(value):
            yield from self._of_optimizer(value)
        elif isinstance(value, Tensor):
            for name in users_attributes(value):
                if name in self.names or self._asks_for_any_attribute():
                    yield f"Tensor.{name}", self._mentioning.get(name), functools.partial(attribute, value, name)
        elif has_attributes(value):
            yield from self._methods(type(value), constructed=False)
            yield from self._attributes(value, _attribute_names(value))

    def _behind(self, value: Any) -> list[Any]:
        """What `value` leads to without a name of its own."""
        if isinstance(value, dict):
            return [item for _, item in items_of(value)]
        if isinstance(value, CONTAINERS):
            return list(items_of(value))
        if isinstance(value, functools.partial):
            return [value.func, *value.args, *value.keywords.values()]
        if isinstance(value, types.MethodType):
            return [value.__func__]
        if isinstance(value, property):
            return [value.fget, value.fset, value.fdel]
        if isinstance(value, (staticmethod, classmethod)):
            return [value.__func__]
        if isinstance(value, functools.cached_property):
            return [value.func]
        if isinstance(value, Tensor):
            return [value.__dict__.get("_leaf_hooks"), value.__dict__.get("_post_accumulate_hooks")]
        own = looks.own_attributes(value) or {}
        if isinstance(value, contextvars.ContextVar):
            return [value.get(None)]
        if is_optimizer(value):
            return [*parameters(value), *hiding(value).values()]
        inner = [own.get("__wrapped__")]
        if isinstance(value, type):
            inner += users_classes(value)
        elif has_attributes(value):
            inner += [*_parts_of_module(value), own.get("hook")]
        return inner

    # -------------------------------------------------------------------------------------------------------- places

    def _of_function(self, function: types.FunctionType) -> Iterator[Place]:
        code = function.__code__
        if not is_user_file(code.co_filename) or _is_numpys(function):
            registry = vars(function).get("registry")
            if isinstance(registry, types.MappingProxyType):  # functools.singledispatch
                yield f"what is registered with {function.__name__}", None, functools.partial(itself, registry)
                yield _REGISTERED, None, looks.registrations()
            return
        yield f"the code of {function.__name__}", code, functools.partial(attribute, function, "__code__")
        yield from self._of_code(code, function.__globals__)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            yield name, code, functools.partial(cell_contents, cell)
        yield from self._of_defaults(function, code)
        if vars(function) or self._asks_for_any_attribute() or any(map(stores_attributes, self._codes)):
            yield from self._attributes(function, list(vars(function)))

    def _of_defaults(self, function: types.FunctionType, code: types.CodeType) -> Iterator[Place]:
        """Of a function that has none, new defaults are never asked for: the recorded call did without."""
        for name in ("__defaults__", "__kwdefaults__"):
            given = getattr(function, name)
            if given:
                what = f"the defaults of {function.__name__}"
                yield what, code, functools.partial(looks.still, function, name, given)
        for name, value in zip(_defaulted(function), function.__defaults__ or (), strict=True):
            yield name, code, functools.partial(itself, value)
        by_name = function.__kwdefaults__ or {}
        for name in by_name:
            yield name, code, functools.partial(by_name.get, name, MISSING)

    def _of_partial(self, value: functools.partial[Any]) -> Iterator[Place]:
        name = getattr(value.func, "__name__", "a function")
        yield f"the keywords of partial {name}", None, functools.partial(itself, value.keywords)
        for item in value.args:
            yield f"an argument of partial {name}", None, functools.partial(itself, item)
        if vars(value):
            yield from self._attributes(value, list(vars(value)))

    def _of_code(self, code: types.CodeType, space: dict[str, Any]) -> Iterator[Place]:
        for each in nested(code):
            if each not in self._codes:
                self._codes[each] = None
                self.names.update(attribute_names(each))
                for name in each.co_names:
                    self._mentioning.setdefault(name, each)
        names = set(global_names(code))
        if "sum" in names:
            self.summing[id(space)] = space
        if "globals" in names:
            names.update(c for each in nested(code) for c in each.co_consts if isinstance(c, str) and c in space)
        for name in sorted(names):
            yield name, code, functools.partial(space.get, name, MISSING)
            if name not in space and hasattr(builtins, name):
                yield name, code, functools.partial(vars(builtins).get, name, MISSING)
        modules = imported_modules(code, space)
        for each in nested(code):
            if "modules" in each.co_names:  # sys.modules, perhaps
                modules += [c for c in each.co_consts if isinstance(c, str) and c in sys.modules]
        for name in modules:
            yield f"module {name}", code, functools.partial(sys.modules.get, name, MISSING)

    def _of_module(self, module: types.ModuleType) -> Iterator[Place]:
        if is_users(module):
            yield from self._attributes(module, list(vars(module)))
        else:
            for name in of_library(module, self.names):
                code = self._mentioning.get(name)
                look = looks.contents if is_container_of(module, name) else looks.member
                yield f"{module.__name__}.{name}", code, functools.partial(look, module, name)

    def _of_class(self, kind: type) -> Iterator[Place]:
        if isinstance(kind, abc.ABCMeta):
            yield _REGISTERED, None, looks.registrations()
        if is_users(kind):
            yield from self._methods(type(kind), constructed=False)
            yield from self._methods(kind, constructed=True)
            yield from self._attributes(kind, [n for n, member in vars(kind).items() if not _is_method(member)])

    def _attributes(self, value: Any, names: list[str]) -> Iterator[Place]:
        named = isinstance(value, (type, types.ModuleType, types.FunctionType))
        kind = value.__name__ if named else type(value).__name__
        every = self._asks_for_any_attribute() or not (named or is_named(type(value)))
        for name in names:
            if (every or name in self.names or name == "forward") and name not in _DECLARED and name[:2] != "__":
                yield f"{kind}.{name}", self._mentioning.get(name), functools.partial(attribute, value, name)
        if not isinstance(value, (type, types.ModuleType)):
            yield f"the attributes of {kind}", None, functools.partial(attribute_count, value)
            if is_changeable(type(value)):
                yield f"the class of {kind}", None, functools.partial(looks.has_class, value, type(value))

    def _of_optimizer(self, value: Any) -> Iterator[Place]:
        yield "the groups or parameters of an optimizer", None, functools.partial(group_members, value)
        if not is_of_the_library(value):
            yield from self._methods(type(value), constructed=False)
            names = [name for name in _attribute_names(value) if name not in _OF_OPTIMIZERS]
            yield from self._attributes(value, names)

    def _asks_for_any_attribute(self) -> bool:
        return not self.names.isdisjoint(_BY_COMPUTED_NAME)

    def _methods(self, kind: type, constructed: bool) -> Iterator[Place]:
        """The methods of a user's class that code names, or that Python calls by itself; of layers only forward."""
        for base in kind.__mro__:
            if is_users(base):
                if (base, constructed) not in self._classes:
                    yield from self._methods_in(base, constructed)
            elif hasattr(kind, "named_modules") and vars(base).get("forward") is attribute(kind, "forward"):
                yield f"{base.__name__}.forward", None, functools.partial(attribute, base, "forward")

    def _methods_in(self, kind: type, constructed: bool) -> Iterator[Place]:
        if (kind, not constructed) not in self._classes:
            yield f"the members of {kind.__name__}", None, functools.partial(looks.size, vars(kind))
        self._classes.add((kind, constructed))
        for name in methods(kind, self.names, self._ran, constructed):
            code = self._mentioning.get(name)
            yield f"{kind.__name__}.{name}", code, functools.partial(vars(kind).get, name, MISSING)


_REGISTERED = "which classes are registered with abstract base classes"
# Code that mentions these may read attributes that it does not mention.
_BY_COMPUTED_NAME = frozenset({"getattr", "hasattr", "vars", "__dict__", "__getattribute__", "eval", "exec"})
# What optimizers keep to themselves, or is looked at by `group_members` and as it is read.
_OF_OPTIMIZERS = frozenset({"param_groups", "state", "_opt_called", "_recorded", "_watched_step"})
# Declared by the modules themselves, or of no influence on what they compute.
_DECLARED = frozenset({"_parameters", "_buffers", "_modules", "training", "_non_persistent_buffers_set"})


def is_counted(get: Get, value: Any) -> bool:
    """True for attributes of networks' modules and of this package's, and for an optimizer's groups: whoever sets one
    counts `changes` up."""
    if isinstance(value, Identities):
        return True
    if not isinstance(get, functools.partial):
        return False
    if get.func is looks.member:
        return is_watched(get.args[0])
    if get.func not in (attribute, attribute_count, looks.has_class):
        return False
    module = "_modules" in (looks.own_attributes(get.args[0]) or ())
    return module and (isinstance(value, WatchedDict) or not isinstance(value, (*CONTAINERS, np.ndarray, bytearray)))


def _attribute_names(value: Any) -> list[str]:
    """Instance attributes, slots, and what user's classes define besides methods."""
    own = list(looks.own_attributes(value) or ())
    for base in type(value).__mro__[:-1]:
        slots = base.__dict__.get("__slots__", ())
        own += [slots] if isinstance(slots, str) else [s for s in slots if attribute(value, s) is not MISSING]
        if is_users(base):
            own += [name for name, member in vars(base).items() if not _is_method(member)]
    return [name for name in dict.fromkeys(own) if not name.startswith("__")]


def _is_method(member: Any) -> bool:
    return callable(member) or is_descriptor(member)


def _is_of_library(get: Get) -> bool:
    return isinstance(get, functools.partial) and get.func is looks.member


def _belongs_to_an_object(value: Any) -> bool:
    """True for bound methods: `losses.append` leads to the list."""
    if not isinstance(value, (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)):
        return False
    return not isinstance(value.__self__, (types.ModuleType, type(None)))


def _is_numpys(function: types.FunctionType) -> bool:
    return str(function.__globals__.get("__name__")).partition(".")[0] == "numpy"


def _names_within(getter: Any) -> Iterator[str]:
    """The names of the attributes that an attrgetter or a methodcaller asks for."""
    kind, arguments = getter.__reduce__()[:2]
    given = kind.args if isinstance(kind, functools.partial) else ()  # a methodcaller with keywords
    for path in (*given, *arguments):
        if isinstance(path, str):
            yield from path.split(".")


def _parts_of_module(value: Any) -> list[Any]:
    own = looks.own_attributes(value) or {}
    tables = ("_modules", "_parameters", "_buffers", "_forward_hooks", "_forward_pre_hooks", "_backward_hooks")
    if "_modules" not in own:
        return []
    return [item for table in (*tables, "_backward_pre_hooks") for item in own.get(table, {}).values()]


def attribute(value: Any, name: str) -> Any:
    """What is there; a user's ``__getattr__`` may raise what it likes."""
    try:
        return getattr(value, name, MISSING)
    except Exception:
        return MISSING


def attribute_count(value: Any) -> int:
    """How many attributes there are: a new one is noticed by it."""
    return len(looks.own_attributes(value) or ())


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
