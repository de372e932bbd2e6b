"""Guard sources: the places that a function reads, one class for each kind of place.

A guard holds while its source has the value that it had when the function was recorded. A source says it in three ways:
`now()` for the slow check, `as_python()` for the fast check (an expression of the generated call), `describe()` for
messages. None of them raises, but for the expression, whose errors mean that the value is another.
"""

from __future__ import annotations

import functools
import keyword
import sys
import types
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...runtime.references import is_without_dict
from ...tensors.tensor import Tensor
from ...tracing.counted import CountingDict
from ...tracing.declares import declares
from ...tracing.stored_places import stored_places
from ...tracing.watch import WatchedDict
from ...tracing.watched_classes import classes
from ..common.classes import is_a
from .class_members import users_classes
from .value_kinds import CONTAINERS, is_users, own_attributes

NOT_THERE = (LookupError, TypeError, AttributeError)  # what reading raises where nothing is any more
MISSING = object()  # the value of a variable or an attribute that is not there

Naming = Callable[[Any], str]  # gives the variable of the generated code that holds a thing


class Storage(NamedTuple):
    """What holds the value of a source: the "entry" of a dict, a "cell", a "class", a "slot"."""

    kind: str
    owner: Any
    name: Any

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for the same storage."""
        return self.kind, id(self.owner), self.name

    def store(self, value: Any) -> None:
        if self.kind == "cell":
            self.owner.cell_contents = value
        elif self.kind == "entry":
            dict.__setitem__(self.owner, self.name, value)
        elif self.kind == "class":
            type.__setattr__(self.owner, self.name, value)
        else:
            object.__setattr__(self.owner, self.name, value)


@dataclass(eq=False)
class Source:
    """A place: something of `owner`, under a `name` if it has one. Each object of this class is a place of its own."""

    owner: Any
    name: str = ""

    text = "{of}.{name}"  # what the user calls it; `of` is the name of the owner, or of its class
    leads_on = True  # what is there is searched for more places
    is_variable = False
    is_of_library = False  # what a library keeps: nothing is ever put there
    is_compared = False  # equal values are as good as the same one
    tells = False  # `now` tells whether something is still the same, instead of what is there

    def now(self) -> Any:
        """The value; MISSING if there is none."""
        raise NotImplementedError

    def describe(self) -> str:
        """What the user calls the place."""
        return self.text.format(of=_name_of(self.owner), name=self.name)

    def holds(self, value: Any) -> bool:
        """True if this very object is there."""
        return self.now() is value

    def place(self, name: Naming) -> str:
        """An expression for the value."""
        return f"{name(self.now)}()"

    def as_python(self, value: Any, name: Naming) -> str:
        """An expression that is true while `value` is there; "" if it always is."""
        if self.is_compared:
            return f"{name(self.now)}() == {name(value)}"
        return f"{name(self.now)}() is {name(value)}" if value is MISSING else f"{self.place(name)} is {name(value)}"

    def storage(self) -> Storage | None:
        """Where the value is stored now; None if no other can be put there."""
        return None

    def is_counted(self, value: Any) -> bool:
        """True if whoever puts something else in `value`'s place counts `changes`."""
        return False

    def rebind(self, value: Any) -> None:
        """Put a value back that was there before; nothing where there is no way to."""


def _name_of(owner: Any) -> str:
    if is_a(owner, (type, types.ModuleType, types.FunctionType)):
        return owner.__name__
    return "Tensor" if is_a(owner, Tensor) else type(owner).__name__


class Kept(Source):
    """The owner itself: part of something that never changes, such as a default or an argument of a partial."""

    text = "{name}"

    def now(self) -> Any:
        return self.owner

    def place(self, name: Naming) -> str:
        return name(self.owner)

    def as_python(self, value: Any, name: Naming) -> str:
        return ""


# ---------------------------------------------------------------------------------------------- variables and entries


class Variable(Source):
    """An entry of a dict that is read under its name: a global variable, a builtin, a default by keyword."""

    text = "{name}"
    is_variable = True

    @property
    def _entries(self) -> Any:
        return self.owner

    def now(self) -> Any:
        return self._entries.get(self.name, MISSING)

    def as_python(self, value: Any, name: Naming) -> str:
        entries = self._entries
        if type(entries) not in (dict, types.MappingProxyType):
            return Source.as_python(self, value, name)
        if value is MISSING:
            return f"{self.name!r} not in {name(entries)}"
        return f"{name(entries)}[{self.name!r}] is {name(value)}"

    def storage(self) -> Storage | None:
        entries = self._entries
        return Storage("entry", entries, self.name) if type(entries) is dict and self.name in entries else None

    def rebind(self, value: Any) -> None:
        if type(self._entries) is dict and value is not MISSING:
            self._entries[self.name] = value


class LoadedModule(Variable):
    """A module that the code imports, by its full name; the owner is `sys.modules`."""

    text = "module {name}"
    is_variable = False

    def __init__(self, name: str) -> None:
        super().__init__(sys.modules, name)


class Member(Variable):
    """What a class itself has under a name."""

    text = "{of}.{name}"
    is_variable = False

    @property
    def _entries(self) -> Any:
        return vars(self.owner)


class Cell(Source):
    """A variable of an enclosing function."""

    text = "{name}"
    is_variable = True

    def now(self) -> Any:
        try:
            return self.owner.cell_contents
        except ValueError:  # it is empty
            return MISSING

    def place(self, name: Naming) -> str:
        return f"{name(self.owner)}.cell_contents"

    def storage(self) -> Storage | None:
        return Storage("cell", self.owner, None)

    def rebind(self, value: Any) -> None:
        if value is not MISSING:
            self.owner.cell_contents = value


class ContextVariable(Source):
    """A variable of the module `contextvars`."""

    text = "{name}"

    def now(self) -> Any:
        return self.owner.get(MISSING)


# --------------------------------------------------------------------------------------------------------- attributes


def attribute(value: Any, name: str) -> Any:
    """What is there; a user's ``__getattr__`` may raise what it likes."""
    try:
        return getattr(value, name, MISSING)
    except Exception:
        return MISSING


def counts_changes(value: Any) -> bool:
    """True for an object of the library's whose attributes nobody sets without `changes` being counted: the program
    has no ``__setattr__`` of its own for it, and its ``__dict__`` counts as well."""
    declared = declares(type(value))
    if declared is None or not declared.counter or not is_a(own_attributes(value), CountingDict):
        return False
    return not any("__setattr__" in vars(base) or "__delattr__" in vars(base) for base in users_classes(type(value)))


class _OfObject(Source):
    """What belongs to an object, whose class may count it as a change when it is set."""

    def is_counted(self, value: Any) -> bool:
        return counts_changes(self.owner)


class Attribute(_OfObject):
    """An attribute of an object, a class, a module or a function."""

    def now(self) -> Any:
        return attribute(self.owner, self.name)

    def place(self, name: Naming) -> str:
        if self.name.isidentifier() and not keyword.iskeyword(self.name):
            return f"{name(self.owner)}.{self.name}"
        return f"{name(self.now)}()"

    def storage(self) -> Storage | None:
        value, name, now = self.owner, self.name, self.now()
        own = own_attributes(value)
        if type(own) in (dict, CountingDict) and name in own:
            return Storage("entry", own, name) if own[name] is now else None
        for base in value.__mro__ if is_a(value, type) else type(value).__mro__:
            if name in vars(base):
                found = vars(base)[name]
                if is_a(found, types.MemberDescriptorType):
                    return Storage("slot", value, name)
                return Storage("class", base, name) if found is now and is_users(base) else None
        return None

    def is_counted(self, value: Any) -> bool:
        is_plain = is_a(value, WatchedDict) or not is_a(value, (*CONTAINERS, np.ndarray, bytearray))
        if is_a(self.owner, type):
            return is_plain and classes.counts(self.owner, self.name)
        if not is_plain or self.name in stored_places.names(self.owner):
            return False
        return _is_in_dict(self.owner, self.name) and _OfObject.is_counted(self, value)

    def rebind(self, value: Any) -> None:
        if value is not MISSING:
            setattr(self.owner, self.name, value)


def _is_in_dict(value: Any, name: str) -> bool:
    """False for what an object has in a slot or from a class of the program, where nobody counts."""
    base = next((base for base in type(value).__mro__ if name in vars(base)), None)
    if base is None or not is_users(base):
        return True
    return name in (own_attributes(value) or ()) and not is_a(vars(base)[name], types.MemberDescriptorType)


class FunctionCode(Attribute):
    """The code of a function, which a program may replace."""

    text = "the code of {of}"

    def __init__(self, function: types.FunctionType) -> None:
        super().__init__(function, "__code__")


class AttributeCount(_OfObject):
    """How many attributes an object has: a new one is noticed by it."""

    text = "the attributes of {of}"

    def now(self) -> int:
        return len(own_attributes(self.owner) or ())

    def as_python(self, value: Any, name: Naming) -> str:
        if is_without_dict(self.owner):
            return f"{name(self.now)}() == {value}"
        return f"len({name(self.owner)}.__dict__) == {value}" if own_attributes(self.owner) is not None else ""


class ClassOf(_OfObject):
    """The class of an object: a program may give it another one."""

    text = "the class of {of}"
    leads_on = False

    def now(self) -> Any:
        return type(self.owner)

    def place(self, name: Naming) -> str:
        return f"type({name(self.owner)})"


class MemberCount(Source):
    """How many members a class has: a new one may hide another."""

    text = "the members of {of}"

    def now(self) -> int:
        return len(vars(self.owner))

    def as_python(self, value: Any, name: Naming) -> str:
        return f"len({name(vars(self.owner))}) == {value}"


_PARTS_IN_WORDS = {"__defaults__": "the defaults", "__kwdefaults__": "the defaults", "__mro__": "the bases"}


@dataclass(eq=False)
class Part(Source):
    """Whether a part of a function, a partial or a descriptor is the object that it was.

    The program names no such part where it uses it: the defaults of a function, what a partial calls and with what,
    the functions of a property.
    """

    given: Any = field(init=False)

    tells = True

    def describe(self) -> str:
        return f"{_PARTS_IN_WORDS.get(str(self.name), self.name)} of {_name_of(self.owner)}"

    def __post_init__(self) -> None:
        self.given = attribute(self.owner, self.name)

    def now(self) -> bool:
        return attribute(self.owner, self.name) is self.given

    def as_python(self, value: Any, name: Naming) -> str:
        return f"{name(self.owner)}.{self.name} is {name(self.given)}"


#: What is made of parts that it can be given anew: by an attribute, by ``__init__``, by ``__setstate__``.
PARTS: dict[type, tuple[str, ...]] = {
    functools.partial: ("func", "args", "keywords"),
    functools.cached_property: ("func",),
    functools.partialmethod: ("func", "args", "keywords"),
    defaultdict: ("default_factory",),
    property: ("fget", "fset", "fdel"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
}


class KindOf(Source):
    """The class of what is found at another source, the owner, whatever else is known of it."""

    def now(self) -> type:
        return type(self.owner.now())

    def describe(self) -> str:
        return str(self.owner.describe())
