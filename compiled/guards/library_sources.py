"""Guard sources in what libraries keep: Python's modules and numpy's, and this package's own objects."""

from __future__ import annotations

import abc
import decimal
import logging
import pickle
import types
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...runtime.references import is_without_dict
from ...tracing.declares import declares
from ..common.classes import is_a
from .bytecode import stored_names
from .class_members import is_container_of, is_of_environment, is_watched
from .sources import Member, Naming, Source
from .states import Identities, different_entries
from .value_kinds import is_ours, own_attributes


class Contents(tuple[Any, ...]):
    """What is in a container now: no place where another value can be put."""

    __slots__ = ()

    @classmethod
    def of(cls, container: Any) -> Contents:
        return cls((*container, *container.values())) if is_a(container, Mapping) else cls(container)


class LibraryName(Source):
    """What a library's module has under a name."""

    is_of_library = True

    def now(self) -> Any:
        return vars(self.owner).get(self.name)

    def place(self, name: Naming) -> str:
        return f"{name(self.owner)}.{self.name}" if self.name.isidentifier() else f"{name(self.now)}()"

    def is_counted(self, value: Any) -> bool:
        return is_watched(self.owner)


class EnvironmentName(LibraryName):
    """Which object of the environment a library's module has under a name: what is in it is not searched."""

    leads_on = False


class LibraryMember(Member):
    """What a class of a library itself has under a name."""

    is_of_library = True


class AbsentNames(Source):
    """Whether a module, a class or a function still has nothing under these names, which code may ask it for."""

    text = "attributes that {of} does not have"
    tells = True

    def __init__(self, owner: Any, names: frozenset[str]) -> None:
        super().__init__(owner)
        self.names = names

    def now(self) -> bool:
        return bool(own_attributes(self.owner).keys().isdisjoint(self.names))

    def as_python(self, value: Any, name: Naming) -> str:
        if is_without_dict(self.owner):
            return Source.as_python(self, value, name)
        return f"{name(self.owner)}.__dict__.keys().isdisjoint({name(self.names)})"

    def is_counted(self, value: Any) -> bool:
        return is_watched(self.owner)


class DefaultsByKeyword(Source):
    """The defaults by keyword of a function of a library."""

    text = "the defaults of {of}"

    def now(self) -> Contents:
        return Contents.of(self.owner.__kwdefaults__ or {})


class GeneratorState(Source):
    """The state of a generator of random numbers of numpy."""

    text = "the state of a random generator"
    is_compared = True

    def now(self) -> bytes:
        of = self.owner.bit_generator.state if is_a(self.owner, np.random.Generator) else self.owner.get_state()
        return pickle.dumps(of)


class LibraryContents(Source):
    """What is in a list, a set or a dict of a library's module."""

    def now(self) -> Contents | None:
        found = vars(self.owner).get(self.name)
        return None if found is None else Contents.of(found)


def source_of(module: types.ModuleType, name: str) -> Source:
    """The source for a name of a library's module."""
    if is_container_of(module, name):
        return LibraryContents(module, name)
    return (EnvironmentName if is_of_environment(module, name) else LibraryName)(module, name)


class ModuleEntries(Source):
    """Whether a library's module still has the same objects under the same names, which code may compute."""

    text = "the names in {of}"
    tells = True

    def __init__(self, owner: types.ModuleType) -> None:
        super().__init__(owner)
        self.entries = dict(vars(owner))

    def now(self) -> bool:
        return not different_entries(vars(self.owner), self.entries)

    def is_counted(self, value: Any) -> bool:
        return is_watched(self.owner)


class BehindProxy(Source):
    """What is in a dict that is seen through a mappingproxy."""

    text = "what is behind a mappingproxy"

    def now(self) -> Contents:
        return Contents.of(self.owner)


class LoggerLevel(Source):
    """Below which level a logger is silent."""

    text = "the level of logger {name}"
    is_compared = True

    def now(self) -> int:
        if self.owner.disabled:
            return logging.CRITICAL + 1
        return max(self.owner.getEffectiveLevel(), self.owner.manager.disable + 1)


class DecimalContext(Source):
    """What the arithmetic of decimals depends on; the owner is the module."""

    text = "the context of decimals"

    def __init__(self) -> None:
        super().__init__(decimal)

    def now(self) -> Contents:
        context = decimal.getcontext()
        traps = tuple(kind for kind, is_set in context.traps.items() if is_set)
        numbers = (context.prec, context.Emin, context.Emax, context.capitals, context.clamp)
        return Contents((*numbers, context.rounding, *traps))


class Registrations(Source):
    """Whether no class was registered with an abstract base class since, which `isinstance` asks; the owner is what
    `abc` counts them by."""

    text = "which classes are registered with abstract base classes"
    tells = True

    def __init__(self) -> None:
        super().__init__(abc.get_cache_token())

    def now(self) -> bool:
        return bool(abc.get_cache_token() == self.owner)


# --------------------------------------------------------------------------------------------- objects of this package


def hiding(value: Any) -> dict[str, Any]:
    """The attributes of an object, by name, that are found in place of methods of its class."""
    own = own_attributes(value) or {}
    # No attribute has a name that is no string; a dict may hold one all the same.
    return {name: own[name] for name in own if is_a(name, str) and callable(getattr(type(value), name, None))}


class TensorClasses(Source):
    """The classes of captured tensors, the owners; who gives a tensor another one counts `changes`."""

    text = "the class of a captured tensor"

    def now(self) -> Identities:
        return Identities(list(map(type, self.owner)))

    def is_counted(self, value: Any) -> bool:
        return True


class TensorAttributes(Source):
    """How many attributes the program has set on tensors; the owner is the list of their ``__dict__``."""

    text = "the attributes of captured tensors"
    is_compared = True

    def now(self) -> int:
        return sum(map(len, self.owner))

    def as_python(self, value: Any, name: Naming) -> str:
        return super().as_python(value, name) if value else f"not any({name(self.owner)})"


class ProgramAttributes(Source):
    """Which attributes the program has set on an object of this package."""

    text = "the attributes of {of}"
    is_compared = True

    def now(self) -> frozenset[str]:
        names = (name for name in own_attributes(self.owner) or () if is_a(name, str))  # vars(o)[3] = … is none
        return frozenset(names) - fields_of(type(self.owner))

    def as_python(self, value: Any, name: Naming) -> str:
        if value or is_without_dict(self.owner):
            return super().as_python(value, name)
        return f"{name(own_attributes(self.owner))}.keys() <= {name(fields_of(type(self.owner)))}"

    def is_counted(self, value: Any) -> bool:
        declared = declares(type(self.owner))
        return declared is not None and bool(declared.counter)


_fields: weakref.WeakKeyDictionary[type, frozenset[str]] = weakref.WeakKeyDictionary()


def fields_of(kind: type) -> frozenset[str]:
    """The attributes that the library's own code sets on objects of the class."""
    if kind not in _fields:
        members = [member for base in kind.__mro__[:-1] if is_ours(base) for member in vars(base).values()]
        members += [getattr(member, "fset", None) for member in members]
        functions = [getattr(member, "__wrapped__", getattr(member, "__func__", member)) for member in members]
        codes = [function.__code__ for function in functions if is_a(function, types.FunctionType)]
        _fields[kind] = frozenset(name for code in codes for name in stored_names(code))
    return _fields[kind]


class MadeOf(Source):
    """The objects that an optimizer is made of (groups, parameters, state), and what hides its methods."""

    text = "the groups or parameters of an optimizer"

    def now(self) -> Identities:
        declared = declares(type(self.owner))
        assert declared is not None and declared.made_of is not None
        return Identities([*declared.made_of(self.owner), *hiding(self.owner).values()])

    def is_counted(self, value: Any) -> bool:
        return True


@dataclass(eq=False)
class HiddenMethods(Source):
    """How many objects of one class have an attribute that is found in place of one of these methods."""

    names: frozenset[str] = frozenset()
    attributes: list[dict[str, Any]] = field(default_factory=list)

    text = "methods of {of} that are hidden"
    is_compared = True

    def now(self) -> int:
        return len(self.attributes) - sum(map(self.names.isdisjoint, self.attributes))

    def as_python(self, value: Any, name: Naming) -> str:
        found = super().as_python(value, name)
        # Tensors have attributes only if a program sets some: one look tells that there are none.
        return found if any(self.attributes) else f"(not any({name(self.attributes)}) or {found})"
