"""Reachability: the sources that a function leads to, by variables, attributes and containers.

An attribute is guarded only if some code that was found names it; so an object's other attributes may change freely.
"""

from __future__ import annotations

import contextvars
import math
import types
from collections.abc import Iterable, Iterator
from typing import Any

from ...tensors.tensor import Tensor
from ...tracing.declares import declares
from ...tracing.watched_classes import classes
from ..common.classes import is_a
from . import library_sources as library
from .class_members import users_classes
from .found_code import FoundCode
from .places import Codes, Place, Places, hidden_methods, names_of_parts, of_captured_tensors
from .value_kinds import CONTAINERS, PLAIN, has_attributes, is_optimizer, items_of, own_attributes

CALLED_BY_PROGRAMS = frozenset({(Tensor, "backward")})  # members that no code of this package calls
_ASKING_FOR_CLASSES = frozenset({"type", "__class__"})


class Reach(Places):
    """All sources that functions and arguments lead to."""

    def __init__(
        self, functions: list[Any], arguments: list[Any], codes: Codes | None = None, most: float = math.inf
    ) -> None:
        super().__init__(codes or {})
        self.objects: dict[int, Any] = {}  # everything met, kept alive so that the ids stay taken
        self.found_at: dict[int, Place] = {}  # the place that led to it
        self._most = most
        self.ways: dict[int, list[Any]] = {}  # to each tensor and tuple: sources, and containers
        self.places: list[Place] = []
        known = -1
        while known != len(self.names) and not self.is_too_much:
            # New code names more attributes, behind which there may be more code.
            known = len(self.names)
            self.objects, self.found_at, self.places, self.ways = {}, {}, [], {}
            self._look_anew()
            self._walk(functions, self._ran)
            self.places += hidden_methods(self.objects.values(), self.names)
            tensors = [value for value in self.objects.values() if is_a(value, Tensor)]
            self.places += of_captured_tensors(tensors, self.names)
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

    def reaches(self, value: Any) -> bool:
        """True for an object that was found."""
        return id(value) in self.objects

    def codes_naming(self, name: str) -> set[types.CodeType]:
        """The code that mentions a variable or an attribute, or could by its text."""
        return FoundCode(self._codes).naming(name)

    def _walk(self, roots: list[Any], codes: Codes | None = None) -> None:
        stack: list[tuple[Any, Place | None]] = [(root, None) for root in roots]
        for code, space in (codes or {}).items():
            self._go(self._of_code(code, space), stack)
        while stack and not self.is_too_much:
            value, at = stack.pop()
            if id(value) in self.objects or (is_a(value, PLAIN) and not users_classes(type(value))):
                continue
            self.objects[id(value)] = value
            if at is not None:
                self.found_at[id(value)] = at
            self._go(self._around(value), stack)
            behind = self._behind(value)
            for inner in behind:
                if is_a(inner, (Tensor, tuple)):
                    self.ways.setdefault(id(inner), []).append(value)
            stack += [(inner, at) for inner in behind]

    def _go(self, places: Iterator[Place], stack: list[tuple[Any, Place | None]]) -> None:
        for place in places:
            self.places.append(place)
            source, value = place[0], place[0].now()
            if not source.leads_on:
                continue
            if source.is_of_library and is_a(value, (types.FunctionType, type)):
                self._go(self._of_library(value), stack)
                continue
            if is_a(value, (Tensor, tuple)):
                self.ways.setdefault(id(value), []).append(source)
            stack.append((value, place))

    def _behind(self, value: Any) -> list[Any]:
        """What `value` leads to without a name of its own."""
        inner = [getattr(value, name) for name in names_of_parts(value)]
        if is_a(value, dict):
            pairs = list(items_of(value))
            keys = (key for key, _ in pairs if not is_a(key, Tensor))
            return [*inner, *keys, *(item for _, item in pairs)]
        if is_a(value, CONTAINERS):
            return list(items_of(value))
        if inner:
            return [*inner, *getattr(value, "args", ()), *getattr(value, "keywords", {}).values()]
        if is_a(value, types.MethodType):
            return [value.__func__]
        if is_a(value, Tensor):
            return [value.leaf_hooks or None, value.post_accumulate_hooks or None]
        if is_a(value, contextvars.ContextVar):
            return [value.get(None)]
        if is_a(value, type):
            return [vars(value).get("__wrapped__"), *users_classes(value), *users_classes(type(value))]
        return self._behind_object(value)

    def _behind_object(self, value: Any) -> list[Any]:
        declared = declares(type(value))
        inner = [] if declared is None else declared.parts(value)
        if is_optimizer(value):
            return [*inner, *library.hiding(value).values()]
        if has_attributes(value) and not self.names.isdisjoint(_ASKING_FOR_CLASSES):
            inner = [*inner, *users_classes(type(value))]
        return [*inner, (own_attributes(value) or {}).get("__wrapped__")]


def with_patches(roots: list[Any], arguments: list[Any], codes: Codes | None, most: float) -> Reach:
    """What `roots` lead to, and members of the library's classes that the program has patched: library code may call
    any of them, but for those that only programs call, which count where code that was found names them."""
    patched = classes.patches().members
    others = [member for place, member in patched.items() if place not in CALLED_BY_PROGRAMS]
    reach = Reach([*roots, *others], arguments, codes, most)
    if len(others) < len(patched) and not reach.names.isdisjoint(name for _, name in patched):
        return Reach([*roots, *patched.values()], arguments, codes, most)
    return reach
