"""Reachability: the sources that a function leads to, by variables, attributes and containers.

An attribute is guarded only if some code that was found names it; so an object's other attributes may change freely.
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
from collections.abc import Iterable, Iterator, Set
from itertools import chain
from typing import Any

from ...compiler.origins import is_user_file
from ...tensors.tensor import Tensor
from ...tracing.declares import declares
from ..common.callables import name_of
from ..common.tensor_memory import users_attributes
from . import library_sources as library
from . import sources
from .bytecode import attribute_names, global_names, imported_modules, nested, stores_attributes
from .class_members import is_container_of, is_descriptor, methods, of_library, users_classes
from .sources import MISSING, Source, attribute
from .value_kinds import (
    CONTAINERS,
    PLAIN,
    has_attributes,
    is_changeable,
    is_decimals,
    is_named,
    is_optimizer,
    is_ours,
    is_users,
    items_of,
    own_attributes,
)

Place = tuple[Source, types.CodeType | None]  # and the code that reads it, if that is known
Codes = dict[types.CodeType, dict[str, Any]]  # with their globals


class Reach:
    """All sources that functions and arguments lead to. `names` are the attributes that code on the way mentions."""

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
        self.ways: dict[int, list[Any]] = {}  # to each tensor: sources, and containers
        self.summing: dict[int, dict[str, Any]] = {}  # the globals of functions that name `sum`
        self.places: list[Place] = []
        known = -1
        while known != len(self.names) and not self.is_too_much:
            # New code names more attributes, behind which there may be more code.
            known = len(self.names)
            self.objects, self.found_at, self.places, self._classes, self.ways = {}, {}, [], set(), {}
            self._walk(functions, self._ran)
            named = None if self._asks_for_any_attribute() else self.names
            self.places += _hidden_methods(self.objects.values(), named)
            self.places += self._of_captured_tensors()
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
            behind = self._behind(value)
            for inner in behind:
                if isinstance(inner, Tensor):
                    self.ways.setdefault(id(inner), []).append(value)
            stack += [(inner, at) for inner in behind]

    def _go(self, places: Iterator[Place], stack: list[tuple[Any, Place | None]]) -> None:
        for place in places:
            self.places.append(place)
            source, value = place[0], place[0].now()
            if source.leads_on and not (source.is_of_library and isinstance(value, (types.FunctionType, type))):
                if isinstance(value, Tensor):
                    self.ways.setdefault(id(value), []).append(source)
                stack.append((value, place))

    def _around(self, value: Any) -> Iterator[Place]:
        """The sources directly at `value`."""
        if is_decimals(value):
            yield library.DecimalContext(), None
        if isinstance(value, types.FunctionType):
            yield from self._of_function(value)
        elif isinstance(value, type):
            yield from self._of_class(value)
        elif isinstance(value, types.ModuleType):
            yield from self._of_module(value)
        elif isinstance(value, contextvars.ContextVar):
            yield sources.ContextVariable(value, value.name), None
        elif isinstance(value, logging.Logger):
            yield library.LoggerLevel(value, value.name), None
        elif isinstance(value, types.MappingProxyType):
            yield library.BehindProxy(value), None
        elif isinstance(value, tuple(sources.PARTS)):
            yield from self._parts(value)
        elif _belongs_to_an_object(value):
            yield sources.Kept(value.__self__, f"what {value.__name__} belongs to"), None
        elif isinstance(value, (operator.attrgetter, operator.methodcaller)):
            self.names.update(_names_within(value))
        elif is_optimizer(value):
            yield from self._of_optimizer(value)
        elif isinstance(value, Tensor):
            yield from self._of_tensor(value)
        elif has_attributes(value):
            yield from self._methods(type(value), constructed=False)
            yield from self._attributes(value, _attribute_names(value))
        elif is_ours(type(value)):
            yield from self._programs_attributes(value)

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
        if isinstance(value, tuple(sources.PARTS)):
            return [getattr(value, name) for name in _names_of_parts(value)]
        if isinstance(value, Tensor):
            return [value.leaf_hooks or None, value.post_accumulate_hooks or None]
        if isinstance(value, contextvars.ContextVar):
            return [value.get(None)]
        if isinstance(value, type):
            return [vars(value).get("__wrapped__"), *users_classes(value)]
        declared = declares(type(value))
        inner = [] if declared is None else declared.parts(value)
        if is_optimizer(value):
            return [*inner, *library.hiding(value).values()]
        return [*inner, (own_attributes(value) or {}).get("__wrapped__")]

    # -------------------------------------------------------------------------------------------------------- places

    def _of_function(self, function: types.FunctionType) -> Iterator[Place]:
        code = function.__code__
        if not is_user_file(code.co_filename) or _is_numpys(function):
            registry = vars(function).get("registry")
            if isinstance(registry, types.MappingProxyType):  # functools.singledispatch
                yield sources.Kept(registry, f"what is registered with {function.__name__}"), None
                yield library.Registrations(), None
            return
        yield sources.FunctionCode(function), code
        yield from self._of_code(code, function.__globals__)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            yield sources.Cell(cell, name), code
        yield from self._of_defaults(function, code)
        if vars(function) or self._asks_for_any_attribute() or any(map(stores_attributes, self._codes)):
            yield from self._attributes(function, list(vars(function)))

    def _of_defaults(self, function: types.FunctionType, code: types.CodeType) -> Iterator[Place]:
        """Of a function that has none, new defaults are never asked for: the recorded call did without."""
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(function, name):
                yield sources.Part(function, name), code
        for name, value in zip(_defaulted(function), function.__defaults__ or (), strict=True):
            yield sources.Kept(value, name), code
        by_name = function.__kwdefaults__ or {}
        for name in by_name:
            yield sources.Variable(by_name, name), code

    def _parts(self, value: Any) -> Iterator[Place]:
        for name in _names_of_parts(value):
            yield sources.Part(value, name), None
        if isinstance(value, functools.partial):
            yield from self._of_partial(value)

    def _of_partial(self, value: functools.partial[Any]) -> Iterator[Place]:
        name = name_of(value.func)
        yield sources.Kept(value.keywords, f"the keywords of partial {name}"), None
        for item in value.args:
            yield sources.Kept(item, f"an argument of partial {name}"), None
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
            yield sources.Variable(space, name), code
            if name not in space and hasattr(builtins, name):
                yield sources.Variable(vars(builtins), name), code
        modules = imported_modules(code, space)
        for each in nested(code):
            if "modules" in each.co_names:  # sys.modules, perhaps
                modules += [c for c in each.co_consts if isinstance(c, str) and c in sys.modules]
        for name in modules:
            yield sources.LoadedModule(name), code

    def _of_module(self, module: types.ModuleType) -> Iterator[Place]:
        if is_users(module):
            yield from self._attributes(module, list(vars(module)))
        else:
            for name in of_library(module, self.names):
                kind = library.LibraryContents if is_container_of(module, name) else library.LibraryName
                yield kind(module, name), self._mentioning.get(name)

    def _of_class(self, kind: type) -> Iterator[Place]:
        if isinstance(kind, abc.ABCMeta):
            yield library.Registrations(), None
        if is_users(kind):
            yield from self._methods(type(kind), constructed=False)
            yield from self._methods(kind, constructed=True)
            yield from self._attributes(kind, [n for n, member in vars(kind).items() if not _is_method(member)])

    def _attributes(self, value: Any, names: list[str]) -> Iterator[Place]:
        named = isinstance(value, (type, types.ModuleType, types.FunctionType))
        declared = declares(type(value))
        apart = frozenset() if declared is None else declared.apart
        every = self._asks_for_any_attribute() or not (named or is_named(type(value)))
        for name in names:
            if (every or name in self.names or name == "forward") and name not in apart and name[:2] != "__":
                yield sources.Attribute(value, name), self._mentioning.get(name)
        if not isinstance(value, (type, types.ModuleType)):
            yield sources.AttributeCount(value), None
            if is_changeable(type(value)):
                yield sources.ClassOf(value), None

    def _of_tensor(self, value: Tensor) -> Iterator[Place]:
        for name in users_attributes(value):
            if name in self.names or self._asks_for_any_attribute():
                yield sources.Attribute(value, name), self._mentioning.get(name)
        if not is_ours(type(value)):
            new = [base for base in users_classes(type(value)) if (base, False) not in self._classes]
            yield from self._methods(type(value), constructed=False)
            for base in new:
                yield from self._attributes(base, [n for n, member in vars(base).items() if not _is_method(member)])

    def _of_captured_tensors(self) -> Iterator[Place]:
        """Of the tensors that were found, before the walk comes to the arguments, of which each call brings others."""
        tensors = [value for value in self.objects.values() if isinstance(value, Tensor)]
        yield from ((sources.ClassOf(tensor), None) for tensor in tensors if not is_ours(type(tensor)))
        if tensors and self._asks_for_any_attribute():
            yield library.TensorAttributes([vars(tensor) for tensor in tensors]), None

    def _of_optimizer(self, value: Any) -> Iterator[Place]:
        yield library.MadeOf(value), None
        if is_ours(type(value)):
            yield from self._programs_attributes(value)
        else:
            yield from self._methods(type(value), constructed=False)
            yield from self._attributes(value, _attribute_names(value))

    def _programs_attributes(self, value: Any) -> Iterator[Place]:
        """Of an object of this package, which declares what it reads itself: what the program has set on it."""
        if own_attributes(value) is None or isinstance(value, (type, types.FunctionType, types.ModuleType)):
            return
        source = library.ProgramAttributes(value)
        for name in sorted(source.now()):
            if name in self.names or self._asks_for_any_attribute():
                yield sources.Attribute(value, name), self._mentioning.get(name)
        yield source, None

    def _asks_for_any_attribute(self) -> bool:
        return not self.names.isdisjoint(_BY_COMPUTED_NAME)

    def _methods(self, kind: type, constructed: bool) -> Iterator[Place]:
        """The methods of a user's class that code names, or that Python calls by itself; of layers only forward."""
        for base in kind.__mro__:
            if is_users(base):
                if (base, constructed) not in self._classes:
                    yield from self._methods_in(base, constructed)
            elif declares(kind) is not None and vars(base).get("forward") is attribute(kind, "forward"):
                yield sources.Attribute(base, "forward"), None

    def _methods_in(self, kind: type, constructed: bool) -> Iterator[Place]:
        if (kind, not constructed) not in self._classes:
            yield sources.MemberCount(kind), None
            yield sources.Part(kind, "__mro__"), None
        self._classes.add((kind, constructed))
        for name in methods(kind, self.names, self._ran, constructed):
            yield sources.Member(kind, name), self._mentioning.get(name)


# Code that mentions these may read attributes that it does not mention.
_BY_COMPUTED_NAME = frozenset({"getattr", "hasattr", "vars", "__dict__", "__getattribute__", "eval", "exec"})


def _names_of_parts(value: Any) -> Iterator[str]:
    """What a partial or a descriptor is made of."""
    return chain.from_iterable(names for kind, names in sources.PARTS.items() if isinstance(value, kind))


def _hidden_methods(objects: Iterable[Any], names: Set[str] | None) -> Iterator[Place]:
    """How many tensors and objects of the library, whose attributes nobody counts, have one that hides a method.

    Only methods that code names; all of them where `names` is None.
    """
    kinds: dict[type, list[dict[str, Any]]] = {}
    for value in objects:
        own = None if has_attributes(value) or is_optimizer(value) else own_attributes(value)
        is_thing = not isinstance(value, (type, types.FunctionType, types.ModuleType))
        if own is not None and is_thing and (is_ours(type(value)) or isinstance(value, Tensor)):
            kinds.setdefault(type(value), []).append(own)
    for kind, attributes in kinds.items():
        named = dir(kind) if names is None else names
        methods = frozenset(name for name in named if name[:2] != "__" and callable(getattr(kind, name, None)))
        if methods:
            yield library.HiddenMethods(kind, "", methods, attributes), None


def _attribute_names(value: Any) -> list[str]:
    """Instance attributes, slots, and what user's classes define besides methods."""
    own = list(own_attributes(value) or ())
    for base in type(value).__mro__[:-1]:
        slots = base.__dict__.get("__slots__", ())
        own += [slots] if isinstance(slots, str) else [s for s in slots if attribute(value, s) is not MISSING]
        if is_users(base):
            own += [name for name, member in vars(base).items() if not _is_method(member)]
    return [name for name in dict.fromkeys(own) if not name.startswith("__")]


def _is_method(member: Any) -> bool:
    return callable(member) or is_descriptor(member)


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


def _defaulted(function: types.FunctionType) -> tuple[str, ...]:
    count = len(function.__defaults__ or ())
    return function.__code__.co_varnames[: function.__code__.co_argcount][-count:] if count else ()
