"""What a guard compares of a value: numbers bit by bit, containers by items, other objects by identity."""

from __future__ import annotations

import array
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping, Set
from operator import is_
from typing import Any

import numpy as np

from ...tensors.tensor import Tensor
from ..common.classes import is_a
from ..common.exactness import Same, exact
from ..common.pytree import Path
from ..symbolic.number import KINDS, value_of
from .value_kinds import CONTAINERS, items_of, own_attributes

PLAIN = (bool, int, float, complex, str, bytes, type(None))
LARGEST = 4096  # elements of a numpy array that each call may compare
_PYTHONS = frozenset({*PLAIN, *CONTAINERS, OrderedDict, defaultdict})
# Read below what a program's class makes of them.
_LENGTH_OF, _FACTORY_OF = vars(deque)["maxlen"].__get__, vars(defaultdict)["default_factory"].__get__
_CACHED = range(-5, 257)  # ints of which there is one object each


class Identities:
    """Equal for the very same objects. It keeps them, so that their identities stay taken."""

    __slots__ = ("objects",)

    def __init__(self, objects: list[Any]) -> None:
        self.objects = objects

    def __eq__(self, other: object) -> bool:
        if not is_a(other, Identities) or len(other.objects) != len(self.objects):
            return False
        return all(map(is_, self.objects, other.objects))

    __hash__ = None  # type: ignore[assignment]


class Attributed:
    """What a value of a program's own class that is a number, a text or a container has in attributes besides: equal
    for the very same object, whose attributes are places of their own, and for one that has equal attributes."""

    __slots__ = ("attributes", "value")

    def __init__(self, value: Any, attributes: Any) -> None:
        self.value, self.attributes = value, attributes

    def __eq__(self, other: object) -> bool:
        if not is_a(other, Attributed):
            return False
        return (other.value is self.value is not None) or bool(other.attributes == self.attributes)

    def __hash__(self) -> int:
        return id(type(self.value))


def is_one_object(value: Any) -> bool:
    """True for a plain value of which Python has one object only: equal ones are identical."""
    return value is None or type(value) is bool or (type(value) is int and value in _CACHED)


def is_plain_of(state_of: Any, kind: type) -> bool:
    """True for the state of a plain value of just this class."""
    return is_a(state_of, tuple) and state_of[0] is kind


def state(value: Any, free: Set[Path] = frozenset(), by_identity: bool = False) -> Any:
    """What can be compared later: plain values by value, containers by their items, other objects by identity.

    Of numbers and tensors at the paths `free` only the type counts. With `by_identity`, equal values that are other
    objects differ.
    """
    return _state(value, (), free, by_identity)


def _state(value: Any, within: tuple[int, ...], free: Set[Path], by_identity: bool) -> Any:
    if is_a(value, Identities):
        return value
    if () in free and is_a(value, Tensor):
        return type(value)
    if is_a(value, PLAIN):
        value = value_of(value)
        own = attributes_of(value, within, by_identity)
        return type(value) if () in free else (*exact(value), *_identity(value, by_identity), *own)
    if is_a(value, (bytearray, array.array)):
        return type(value), bytes(value), *_identity(value, by_identity)
    if is_a(value, CONTAINERS) and id(value) not in within:
        items = _items(value, (*within, id(value)), free, by_identity)
        own = attributes_of(value, (*within, id(value)), by_identity)
        return type(value), items, *_besides(value), *_identity(value, by_identity), *own
    if is_a(value, np.ndarray) and value.size <= LARGEST and value.dtype.kind != "O":
        return id(value), value.dtype.str, value.shape, value.strides, value.flags.num, value.tobytes()
    if is_a(value, np.generic):
        return *exact(value), *_identity(value, by_identity)
    if is_a(value, types.MethodType):
        return type(value), value
    return Same(value)


def _besides(container: Any) -> tuple[Any, ...]:
    """What Python's own containers have beside their items."""
    if is_a(container, deque):
        return (_LENGTH_OF(container),)
    if is_a(container, defaultdict):
        return (Same(_FACTORY_OF(container)),)
    return ()


def _identity(value: Any, by_identity: bool) -> tuple[Same, ...]:
    return (Same(value),) if by_identity and not is_one_object(value) else ()


def attributes_of(value: Any, within: tuple[int, ...] = (), by_identity: bool = False) -> tuple[Attributed, ...]:
    """What is in the ``__dict__`` of an object whose class inherits from one of Python's plain ones."""
    if type(value) in _PYTHONS or id(value) in within[:-1]:
        return ()
    own = own_attributes(value)
    if own is None:
        return ()
    state_of = {name: _state(item, (*within, id(value)), frozenset(), by_identity) for name, item in [*own.items()]}
    return (Attributed(value, state_of),)


def _items(value: Any, within: tuple[int, ...], free: Set[Path], by_identity: bool) -> Hashable:
    items, below = items_of(value), _below(free)
    if is_a(value, dict):
        return tuple(
            (_state(k, within, frozenset(), by_identity), _state(v, within, below.get(k, _NO_PATHS), by_identity))
            for k, v in items
        )
    found = enumerate(items)  # sets: in order
    return tuple(_state(item, within, below.get(i, _NO_PATHS), by_identity) for i, item in found)


def without_numbers(of: Any) -> Any:
    """A state in which every number is as good as another of its type."""
    if is_a(of, tuple):
        if len(of) == 2 and of[0] in KINDS and not is_a(of[1], tuple):
            return of[0]
        return tuple(map(without_numbers, of))
    return of


_NO_PATHS: Set[Path] = frozenset()


def _below(free: Set[Path]) -> dict[Any, Set[Path]]:
    """By their first key, the paths of `free` without it. Keys are looked up, not compared: ``==`` of a tensor, or of
    an object of the program, may be anything."""
    below: dict[Any, set[Path]] = {}
    for path in free:
        if path:
            below.setdefault(path[0], set()).add(path[1:])
    return below  # type: ignore[return-value]


def are_same_keys(keys: Iterable[Any], before: tuple[Any, ...]) -> bool:
    """Whether these are the very keys of before, or plain ones of the same value; no ``==`` of a program's runs."""
    now = tuple(keys)
    return len(now) == len(before) and all(map(_is_same_key, now, before))


def _is_same_key(one: Any, other: Any) -> bool:
    return one is other or (type(one) in _EXACT_BY_EQUALITY and type(one) is type(other) and one == other)


_EXACT_BY_EQUALITY = frozenset({str, int, bool, bytes})  # where equal values of one class are the same value


# What Python writes into namespaces by itself: when it warns, when it runs text.
_PYTHONS = frozenset({"__warningregistry__", "__builtins__"})


def different_entries(now: Mapping[str, Any], before: dict[str, Any]) -> list[str]:
    """The names under which a namespace has other objects than before."""
    now, nothing = dict(now), object()  # at once: other threads may write
    names = [name for name, value in now.items() if before.get(name, nothing) is not value]
    names += [name for name in before if name not in now]
    return [name for name in names if name not in _PYTHONS]
