"""Guards on what is hardly ever set again, compared as words of memory, all at once.

Most of what code can reach stays as it is once a program runs: names in libraries, members of classes, the code and the
defaults of functions. A dict has a version in a word of memory, which each write changes, whoever writes; a slot of a
function is a word. While these words are the same, so is what is found at the sources, and hundreds of guards are one
comparison. Where a word has changed, the guards of that word are looked at one by one.

What programs do set again and again (their global variables, attributes of their objects) is not looked at so.
"""

from __future__ import annotations

import builtins
import functools
import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...runtime import references
from ..common.classes import is_a
from .library_sources import AbsentNames, DefaultsByKeyword, LibraryName, ModuleEntries
from .sources import (
    MISSING,
    Attribute,
    AttributeCount,
    ClassOf,
    LoadedModule,
    Member,
    MemberCount,
    Part,
    Source,
    Variable,
)
from .states import PLAIN
from .value_guard import ValueGuard
from .value_kinds import MUTABLE, is_users, own_attributes

Places = list[int] | None  # in `references.memory`; None where it is not known which words would change


class StableWords:
    """Guards by the words that change before they can fail. `places` and `expected` are as in `CountedContainers`."""

    def __init__(self, guards: Sequence[ValueGuard]) -> None:
        at: dict[int, list[ValueGuard]] = {}
        self.kept: list[Any] = []  # owners of words, whose addresses must stay taken
        self.known: set[int] = set()  # the identities of guards that are looked at here
        for guard in guards if references.memory is not None else ():
            places = self._places(guard)
            if places is not None:
                self.known.add(id(guard))
                for place in places:
                    at.setdefault(place, []).append(guard)
        self._guards = list(at.values())
        self.places = np.array(list(at), np.intp)
        self._words = np.zeros(len(at), np.int64)  # as none are: nobody has looked yet
        self.expected = self._words.tobytes()

    def agree(self) -> bool:
        """True if none of the words has changed since the last look."""
        return not self.known or bool(references.memory[self.places].tobytes() == self.expected)

    def look(self) -> bool:
        """True if all guards hold; those whose words have changed are looked at."""
        if self.agree():
            return True
        words = references.memory[self.places]  # before the guards: what is written meanwhile is noticed
        for i in (words != self._words).nonzero()[0].tolist():
            if not all(guard.value is guard.source.now() or guard.holds() for guard in self._guards[i]):
                return False
        self._words, self.expected = words, words.tobytes()
        return True

    def _places(self, guard: ValueGuard) -> Places:
        if not is_immutable(guard.value) and not is_a(guard.source, DefaultsByKeyword):
            return None
        places = places_of_source(guard.source)
        if places is not None:
            self.kept += owners_of_words(guard.source)
        return places


def is_immutable(value: Any) -> bool:
    """False for what can change although the very same object is found again."""
    if is_a(value, (tuple, frozenset)):
        return type(value) in (tuple, frozenset) and all(is_a(x, PLAIN) or is_immutable(x) for x in value)
    return not is_a(value, MUTABLE)


def owners_of_words(source: Source) -> list[Any]:
    """What has to be kept, beside the source's own owner, so that a word stands for what it stood for."""
    owner = source.owner
    if is_a(owner, type):
        return [owner.__mro__]
    return [type(owner), type(owner).__mro__, own_attributes(owner)]


@functools.singledispatch
def places_of_source(source: Source) -> Places:
    """The words of which one changes before something else is found at the source."""
    return None


@places_of_source.register
def _(source: Variable) -> Places:
    entries = source.owner
    return _of_dict(entries) if type(entries) is dict and _is_of_library(entries) else None


@places_of_source.register
def _(source: LoadedModule) -> Places:
    return _of_dict(source.owner)


@places_of_source.register(Member)
@places_of_source.register(MemberCount)
def _(source: Member | MemberCount) -> Places:
    return _of_class(source.owner)


@places_of_source.register
def _(source: LibraryName) -> Places:
    return _of_dict(vars(source.owner))


@places_of_source.register
def _(source: ModuleEntries) -> Places:
    return _of_dict(vars(source.owner))


@places_of_source.register
def _(source: AbsentNames) -> Places:
    if is_a(source.owner, type):
        return _of_class(source.owner)
    if type(source.owner) is types.ModuleType:
        return _of_dict(vars(source.owner))
    return _of_own_dict(source.owner) if type(source.owner) is types.FunctionType else None


@places_of_source.register
def _(source: ClassOf) -> Places:
    return [references.place_of_class(source.owner)] if references.versions_are_known else None


@places_of_source.register
def _(source: Part) -> Places:
    return _in_slot(source.owner, source.name)


@places_of_source.register
def _(source: DefaultsByKeyword) -> Places:
    slot, defaults = _in_slot(source.owner, "__kwdefaults__"), source.owner.__kwdefaults__
    if slot is None or not all(map(is_immutable, (defaults or {}).values())):
        return None
    of_dict = [] if defaults is None else _of_dict(defaults)
    return None if of_dict is None else slot + of_dict


@places_of_source.register
def _(source: AttributeCount) -> Places:
    return None if is_users(type(source.owner)) else _of_own_dict(source.owner)


@places_of_source.register
def _(source: Attribute) -> Places:
    owner, name = source.owner, source.name
    slot = _in_slot(owner, name)
    if slot is not None or is_a(owner, types.FunctionType):
        return slot
    if is_a(owner, type):
        return _along_classes(owner, name) if type(owner) is type and name not in vars(type) else None
    if is_a(owner, types.ModuleType) or is_users(type(owner)):
        return None
    in_object = _of_attribute(owner, name, source.now())
    in_classes = _along_classes(type(owner), "")
    return None if in_object is None or in_classes is None else in_object + in_classes


def _of_attribute(owner: Any, name: str, value: Any) -> Places:
    """The words of an object's own slot or entry of this name; None if what is there comes from elsewhere."""
    home = next((base for base in type(owner).__mro__ if name in vars(base)), None)
    found = MISSING if home is None else vars(home)[name]
    if any("__getattribute__" in vars(base) for base in type(owner).__mro__[:-1]):
        return None
    if is_a(found, types.MemberDescriptorType):  # of a class written in C it may be a number of C's
        own_words = references.places_of(owner) if "__slots__" in vars(home) else []
        return [place for place in own_words if int(references.memory[place]) == id(value)] or None
    own = own_attributes(owner)
    if found is not MISSING or type(own) is not dict or own.get(name, MISSING) is not value or value is MISSING:
        return None
    return _of_own_dict(owner)


def _along_classes(kind: type, name: str) -> Places:
    """The words of a class and its bases; None if what is found there under the name computes something."""
    found = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), MISSING)
    if hasattr(type(found), "__get__") and not is_a(found, (types.FunctionType, staticmethod, classmethod)):
        return None
    places = _in_slot(kind, "__mro__")
    for base in kind.__mro__:
        of_base = _of_class(base)
        places = None if places is None or of_base is None else places + of_base
    return places


def _of_dict(entries: dict[Any, Any]) -> Places:
    return [references.place_of_version(entries)] if references.versions_are_known else None


def _of_class(kind: type) -> Places:
    return [references.place_of_entries(kind)] if references.versions_are_known else None


def _of_own_dict(value: Any) -> Places:
    own, place = own_attributes(value), references.place_of_own_dict(value)
    if place is not None and references.versions_are_known and references.is_without_dict(value):
        return [place, references.place_of_class(value)]
    if type(own) is not dict or place is None or int(references.memory[place]) != id(own):
        return None
    of_dict = _of_dict(own)
    return None if of_dict is None else [place, references.place_of_class(value), *of_dict]


def _in_slot(thing: Any, name: str) -> Places:
    place = references.place_in_slot(thing, name)
    return None if place is None else [place]


def _is_of_library(entries: dict[str, Any]) -> bool:
    """True for the names in a module that is not the program's."""
    module = sys.modules.get(str(entries.get("__name__")))
    if entries is vars(builtins):
        return True
    return is_a(module, types.ModuleType) and vars(module) is entries and not is_users(module)
