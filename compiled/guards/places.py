"""The sources directly at an object: what the code that was found so far may read of it."""

from __future__ import annotations

import abc
import builtins
import contextvars
import functools
import logging
import operator
import types
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from itertools import chain
from typing import Any

import numpy as np

from ...ops.callers.source_files import is_user_file
from ...tensors.tensor import Tensor
from ...tracing.declares import declares
from ...tracing.watched_modules import WatchedModule
from ...tracing.watched_order import WatchedOrder
from ..common.callables import name_of
from ..common.classes import is_a
from ..common.tensor_memory import users_attributes
from . import attribute_names as reads
from . import library_sources as library
from . import sources
from .bytecode import CONVERTING, attribute_names, global_names, modules_named, nested, stores_attributes
from .class_members import is_used_by_name, methods, of_library, users_classes
from .sources import Source, attribute
from .value_kinds import (
    has_attributes,
    is_changeable,
    is_decimals,
    is_named,
    is_optimizer,
    is_ours,
    is_users,
    own_attributes,
)

Place = tuple[Source, types.CodeType | None]  # and the code that reads it, if that is known
Codes = dict[types.CodeType, dict[str, Any]]  # with their globals
# Python's and numpy's objects whose state is no attribute.
_STATEFUL = (
    contextvars.ContextVar, logging.Logger, types.MappingProxyType, types.CellType, np.random.Generator,
    np.random.RandomState,
)  # fmt: skip
_ASKING_FOR_STATES = frozenset({"bit_generator", "state", "get_state", "__getstate__"})


class Places:
    """The sources at objects. `names` are the attributes that code mentions which was found."""

    def __init__(self, ran: Codes) -> None:
        self.names: set[str] = set()
        self._asked: set[str] = set()  # those that functions of libraries ask for of what they are given
        self.spaces: dict[int, dict[str, Any]] = {}  # the globals of functions
        self.converting: dict[int, dict[str, Any]] = {}  # the globals of functions that name one of CONVERTING
        self._codes: dict[types.CodeType, None] = {}
        self._mentioning: dict[str, types.CodeType] = {}  # the first code that mentions a name, for messages
        self._ran = ran
        self._look_anew()

    def _look_anew(self) -> None:
        """Forget at what was looked: more names are known now."""
        self._classes: set[tuple[type, bool]] = set()
        self._of_libraries: dict[int, Any] = {}  # functions and classes
        self._missed = sorted(set(reads.misses(self._codes)))

    def _around(self, value: Any) -> Iterator[Place]:
        """The sources directly at `value`."""
        if is_decimals(value):
            yield library.DecimalContext(), None
        yield from self._of_kind(value)
        if not is_a(value, Tensor) and _may_change_class(value):
            yield sources.ClassOf(value), None

    def _of_kind(self, value: Any) -> Iterator[Place]:
        if is_a(value, types.FunctionType):
            yield from self._of_function(value)
        elif is_a(value, type):
            yield from self._of_class(value)
        elif is_a(value, types.ModuleType):
            yield from self._of_module(value)
        elif is_optimizer(value):
            yield from self._of_optimizer(value)
        elif is_a(value, Tensor):
            yield from self._of_tensor(value)
        else:
            yield from self._of_value(value)

    def _of_value(self, value: Any) -> Iterator[Place]:
        yield from self._parts(value)
        if is_a(value, _STATEFUL):
            yield from self._of_stateful(value)
            if not users_classes(type(value)):
                return
        if _belongs_to_an_object(value):
            yield sources.Kept(value.__self__, f"what {value.__name__} belongs to"), None
        if is_a(value, (operator.attrgetter, operator.methodcaller)):
            self.names.update(_names_within(value))
        if has_attributes(value) or users_classes(type(value)):
            yield from self._of_object(value)
        elif is_ours(type(value)):
            yield from self._programs_attributes(value)

    def _of_stateful(self, value: Any) -> Iterator[Place]:
        """What Python's own objects hold beside attributes."""
        if is_a(value, contextvars.ContextVar):
            yield sources.ContextVariable(value, value.name), None
        elif is_a(value, logging.Logger):
            yield library.LoggerLevel(value, value.name), None
            yield from self._attributes(value, reads.names_of_logger(value, self.names))
            yield sources.AttributeCount(value), None
        elif is_a(value, types.MappingProxyType):
            yield library.BehindProxy(value), None
        elif is_a(value, types.CellType):
            yield sources.Cell(value, "the contents of a cell"), None
        elif not self.names.isdisjoint(_ASKING_FOR_STATES):
            yield library.GeneratorState(value), None

    # ------------------------------------------------------------------------------------------------ functions, code

    def _of_function(self, function: types.FunctionType) -> Iterator[Place]:
        code = function.__code__
        if not is_user_file(code.co_filename) or _package(function) == "numpy":
            registry = own_attributes(function).get("registry")
            if is_a(registry, types.MappingProxyType):  # functools.singledispatch
                yield sources.Kept(registry, f"what is registered with {function.__name__}"), None
                yield library.Registrations(), None
            yield from self._of_library(function)
            return
        yield sources.FunctionCode(function), code
        yield from self._of_code(code, function.__globals__)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            yield sources.Cell(cell, name), code
        yield from self._of_defaults(function, code)
        yield from self._attributes(function, reads.names_of_function(function))
        yield from self._absent(function)
        if own_attributes(function) or self._asks_for_any_attribute() or any(map(stores_attributes, self._codes)):
            yield sources.AttributeCount(function), None

    def _of_defaults(self, function: types.FunctionType, code: types.CodeType) -> Iterator[Place]:
        yield from _parts_of_defaults(function, code)
        for name, value in zip(_defaulted(function), function.__defaults__ or (), strict=True):
            yield sources.Kept(value, name), code
        by_name = function.__kwdefaults__ or {}
        for name in by_name:
            yield sources.Variable(by_name, name), code

    def _of_library(self, value: Any) -> Iterator[Place]:
        """What programs can change in a function or a class of a library; who sets a member of this one's is heard."""
        if id(value) in self._of_libraries:
            return
        self._of_libraries[id(value)] = value
        if is_a(value, types.FunctionType):
            yield from self._attributes(value, reads.names_of_function(value))
            yield from self._absent(value)
            if _package(value) != __name__.partition(".")[0]:  # whose own functions nobody gives other code
                yield from _of_code_of_library(value)
                self._asked.update(reads.read_by_function(value))
                self.names |= self._asked
        else:
            for base in filter(reads.is_of_python, value.__mro__):
                for name in sorted(vars(base).keys() & self.names):
                    if is_used_by_name(name):
                        yield library.LibraryMember(base, name), self._mentioning.get(name)
                yield from self._absent(base)

    def _absent(self, value: Any) -> Iterator[Place]:
        asked = self._asked if is_a(value, (types.FunctionType, functools.partial)) else ()  # a ``__signature__``, say
        if names := reads.absent(value, chain(self._missed, asked)):
            yield library.AbsentNames(value, names), None
        is_own = is_a(value, functools.partial) or (is_a(value, types.ModuleType) and is_users(value))
        if is_own and self._asks_for_any_attribute():
            yield sources.AttributeCount(value), None

    def _parts(self, value: Any) -> Iterator[Place]:
        for name in names_of_parts(value):
            yield sources.Part(value, name), None
        if is_a(value, functools.partial):
            yield from self._of_partial(value)

    def _of_partial(self, value: functools.partial[Any]) -> Iterator[Place]:
        name = name_of(value.func)
        yield sources.Kept(value.keywords, f"the keywords of partial {name}"), None
        for item in value.args:
            yield sources.Kept(item, f"an argument of partial {name}"), None
        yield from self._attributes(value, list(own_attributes(value)))
        yield from self._absent(value)

    def _of_code(self, code: types.CodeType, space: dict[str, Any]) -> Iterator[Place]:
        for each in nested(code):
            if each not in self._codes:
                self._codes[each] = None
                self.names.update(attribute_names(each))
                for name in each.co_names:
                    self._mentioning.setdefault(name, each)
        self.spaces[id(space)] = space
        names = set(global_names(code))
        if not CONVERTING.isdisjoint(names):
            self.converting[id(space)] = space
        if "globals" in names:
            names.update(c for each in nested(code) for c in each.co_consts if is_a(c, str) and c in space)
        own = _builtins_of(space)
        for name in sorted(names):
            yield sources.Variable(space, name), code
            if name not in space and name in own:
                yield sources.Variable(own, name), code
        yield from ((sources.LoadedModule(name), code) for name in modules_named(code, space))

    # ------------------------------------------------------------------------------------------------ modules, classes

    def _of_module(self, module: types.ModuleType) -> Iterator[Place]:
        if is_users(module):
            yield from self._attributes(module, list(vars(module)))
            if type(module) is not types.ModuleType:
                yield from self._of_object(module)
        else:
            for home, name in module.behind(self.names) if is_a(module, WatchedModule) else ():
                yield library.LibraryName(home, name), self._mentioning.get(name)
            for name in of_library(module, self.names):
                yield library.source_of(module, name), self._mentioning.get(name)
            if self._asks_for_any_attribute():
                yield library.ModuleEntries(module), None
        yield from self._absent(module)

    def _of_class(self, kind: type) -> Iterator[Place]:
        if is_a(kind, abc.ABCMeta):
            yield library.Registrations(), None
        if is_users(kind):
            yield from self._methods(type(kind), constructed=False)
            yield from self._methods(kind, constructed=True)
            yield from self._attributes(kind, reads.names_of_class(kind))
        else:
            yield from self._of_library(kind)

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

    # --------------------------------------------------------------------------------------------------------- objects

    def _of_object(self, value: Any) -> Iterator[Place]:
        yield from self._methods(type(value), constructed=False)
        yield from self._attributes(type(value), reads.names_of_kind(type(value)))
        yield from self._attributes(value, reads.instance_names(value))
        if own_attributes(value) is not None and not is_a(value, types.ModuleType):
            yield sources.AttributeCount(value), None

    def _attributes(self, value: Any, names: list[str]) -> Iterator[Place]:
        kind = type(value)
        is_found_by_name = is_a(value, (type, types.ModuleType, types.FunctionType)) or is_named(kind)
        declared = declares(kind)
        apart = frozenset() if declared is None else declared.apart
        is_shown = kind is types.SimpleNamespace and not _SHOWING.isdisjoint(self.names)
        every = self._asks_for_any_attribute() or not is_found_by_name or is_shown
        by_libraries = reads.read_by_libraries(kind, self.names)
        for name in names:
            is_read = name in self.names or name in by_libraries or name in _READ_BY_PYTHON
            is_apart = name in apart and (hasattr(kind, name) or not reads.are_read_past(name, self.names))
            if (is_read or (every and name[:2] != "__")) and not is_apart:
                yield sources.Attribute(value, name), self._mentioning.get(name)

    def _of_tensor(self, value: Tensor) -> Iterator[Place]:
        for name in users_attributes(value):
            if name in self.names or self._asks_for_any_attribute():
                yield sources.Attribute(value, name), self._mentioning.get(name)
        if not is_ours(type(value)):
            new = [base for base in users_classes(type(value)) if (base, False) not in self._classes]
            yield from self._methods(type(value), constructed=False)
            for base in new:
                yield from self._attributes(base, reads.names_of_class(base))

    def _of_optimizer(self, value: Any) -> Iterator[Place]:
        yield library.MadeOf(value), None
        if is_ours(type(value)):
            yield from self._programs_attributes(value)
            yield from self._attributes(value, [name for name in list(own_attributes(value)) if name in self.names])
        else:
            yield from self._of_object(value)

    def _programs_attributes(self, value: Any) -> Iterator[Place]:
        """Of an object of this package, which declares what it reads itself: what the program has set on it."""
        if own_attributes(value) is None or is_a(value, _WITHOUT_OWN):
            return
        source = library.ProgramAttributes(value)
        for name in sorted(source.now()):
            if name in self.names or self._asks_for_any_attribute():
                yield sources.Attribute(value, name), self._mentioning.get(name)
        yield source, None

    def _asks_for_any_attribute(self) -> bool:
        return reads.are_computed(self.names)


# A program sets no attributes on these, or they are looked at as what they are.
_WITHOUT_OWN = (type, types.FunctionType, types.ModuleType, WatchedOrder)
_SHOWING = frozenset({"repr", "str", "format", "__format__", "__repr__"})  # a namespace with all that is in it
_READ_BY_PYTHON = frozenset({"forward", "__getattr__"})  # of a layer, of a module


def _may_change_class(value: Any) -> bool:
    """True if ``__class__`` of a value can be assigned to; not what this package keeps for itself."""
    if is_ours(type(value)):
        return declares(type(value)) is not None
    return is_changeable(type(value)) or (is_a(value, types.ModuleType) and is_users(value))


def names_of_parts(value: Any) -> Iterator[str]:
    """What a partial or a descriptor is made of."""
    return chain.from_iterable(names for kind, names in sources.PARTS.items() if is_a(value, kind))


def _parts_of_defaults(function: types.FunctionType, code: types.CodeType | None) -> Iterator[Place]:
    """Of a function that has none, new defaults are never asked for: the recorded call did without."""
    for name in ("__defaults__", "__kwdefaults__"):
        if getattr(function, name):
            yield sources.Part(function, name), code


def _of_code_of_library(function: types.FunctionType) -> Iterator[Place]:
    yield sources.FunctionCode(function), None
    yield from _parts_of_defaults(function, None)
    if function.__kwdefaults__:
        yield library.DefaultsByKeyword(function), None


def _builtins_of(space: dict[str, Any]) -> dict[str, Any]:
    found = space.get("__builtins__", builtins)
    return vars(found) if is_a(found, types.ModuleType) else found


def of_captured_tensors(tensors: list[Tensor], names: Set[str]) -> Iterator[Place]:
    """Of tensors that were found before the walk comes to the arguments, of which each call brings others."""
    if tensors:
        yield library.TensorClasses(tensors), None
    if tensors and reads.are_computed(names):
        yield library.TensorAttributes([vars(tensor) for tensor in tensors]), None


def hidden_methods(objects: Iterable[Any], names: Set[str]) -> Iterator[Place]:
    """How many tensors and objects of the library, whose attributes nobody counts, have one that hides a method.

    Only methods that code names; all of them where it computes names.
    """
    kinds: dict[type, list[dict[str, Any]]] = defaultdict(list)
    for value in objects:
        own = None if has_attributes(value) or is_optimizer(value) else own_attributes(value)
        is_thing = not is_a(value, (type, types.FunctionType, types.ModuleType))
        if own is not None and is_thing and (is_ours(type(value)) or is_a(value, Tensor)):
            kinds[type(value)].append(own)
    for kind, attributes in kinds.items():
        asked = dir(kind) if reads.are_computed(names) else names
        found = frozenset(name for name in asked if name[:2] != "__" and callable(getattr(kind, name, None)))
        if found:
            yield library.HiddenMethods(kind, "", found, attributes), None


def _belongs_to_an_object(value: Any) -> bool:
    """True for bound methods: `losses.append` leads to the list."""
    if not is_a(value, (types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)):
        return False
    return not is_a(value.__self__, (types.ModuleType, type(None)))


def _package(function: Any) -> str:
    return str(function.__globals__.get("__name__")).partition(".")[0]


def _names_within(getter: Any) -> Iterator[str]:
    """The names of the attributes that an attrgetter or a methodcaller asks for."""
    kind, arguments = getter.__reduce__()[:2]
    given = kind.args if is_a(kind, functools.partial) else ()  # a methodcaller with keywords
    for path in (*given, *arguments):
        if is_a(path, str):
            yield from path.split(".")


def _defaulted(function: types.FunctionType) -> tuple[str, ...]:
    """A name for each default; a program may set more of them than there are arguments."""
    count, code = len(function.__defaults__ or ()), function.__code__
    names = ("a default",) * count + code.co_varnames[: code.co_argcount]
    return names[len(names) - count :]
