"""What a call may change, kept aside and put back: tensors, gradients, random numbers, and Python's objects.

Everything that the function and its arguments lead to (`reachability.py`) is kept: memory by its bytes, objects by
their attributes, containers by their items. What a call does elsewhere (a file, the screen) cannot be put back, nor can
iterators.
"""

from __future__ import annotations

import functools
import random
import types
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from operator import is_
from typing import Any

import numpy as np

from ...ops.views import shown
from ...runtime.references import is_without_dict
from ...tensors.generator import Generator, default_generator
from ...tensors.tensor import Tensor
from ...tracing.counted import CountingDict
from ...tracing.watch import changes
from ..common.classes import is_a
from ..guards.class_members import users_classes
from ..guards.namespaces import Namespaces
from ..guards.reachability import Reach
from ..guards.sources import Source
from ..guards.value_kinds import own_attributes

_CONTAINERS = (OrderedDict, dict, list, set, deque, bytearray)
# What the library keeps in a tensor.
_SLOTS = [name for base in Tensor.__mro__ for name in vars(base).get("__slots__", ()) if name[:2] != "__"]


class Snapshot:
    """The state before a call. `tensors` are those that the call may change, gradients not among them."""

    def __init__(self, function: Any, arguments: list[Any], more: Iterable[Tensor] = ()) -> None:
        reach = Reach([function], arguments)
        objects = list(_all_objects([*reach.objects.values(), default_generator]))
        reached = [*(o for o in objects if is_a(o, Tensor)), *more]
        self.tensors = list({id(t): t for t in reached}.values())
        gradients = {id(t): t._grad for t in self.tensors}
        self.gradients = {key: grad for key, grad in gradients.items() if grad is not None}
        self.memories: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._restorers: list[Callable[[], None]] = [_random_restorer()]
        self._restorers += [functools.partial(_rebind, source, source.now()) for source, _ in reach.places]
        self._restorers.append(Namespaces(objects, reach.spaces.values()).restore)
        for value in objects:
            self._keep(value)
        for tensor in [*self.tensors, *self.gradients.values()]:
            self._keep_tensor(tensor)

    def restore(self) -> None:
        """Put everything back. Compiled functions look at their guards again."""
        for whole, kept in self.memories.values():
            if whole.flags.writeable:
                np.copyto(whole, kept)
        for restorer in self._restorers:
            restorer()
        changes.count += 1
        changes.memories += 1
        changes.options += 1
        changes.modules += 1
        changes.training += 1

    def before(self, tensor: Tensor) -> np.ndarray:
        """The whole memory of `tensor` as it was."""
        return self.memories[id(tensor.buffer.whole)][1]

    def value(self, tensor: Tensor) -> np.ndarray:
        """What `tensor` showed."""
        return shown(self.before(tensor), tensor.steps)

    def _keep(self, value: Any) -> None:
        if is_a(value, np.ndarray):
            self._keep_memory(value)
        elif is_a(value, (random.Random, np.random.RandomState, np.random.Generator)):
            self._restorers.append(_random_restorer_of(value))
        elif is_a(value, _CONTAINERS):
            self._restorers.append(_items_restorer(value))
        if not is_a(value, (type, Tensor, *_CODE)):
            if is_without_dict(value):
                self._restorers.append(functools.partial(_take_attributes_of, value))
            elif type(own_attributes(value)) in (dict, CountingDict):
                self._restorers.append(_items_restorer(own_attributes(value)))
            self._restorers += [_slot_restorer(slot, value) for slot in _slots_of(type(value))]

    def _keep_tensor(self, tensor: Tensor) -> None:
        self._keep_memory(tensor.buffer.whole)
        slots = [(name, getattr(tensor, name)) for name in _SLOTS]
        own, buffer, version = dict(tensor.__dict__), tensor.buffer, tensor.buffer.version

        def restore() -> None:
            for name, value in slots:
                setattr(tensor, name, value)
            tensor.__dict__.clear()
            tensor.__dict__.update(own)
            buffer.version = version

        self._restorers.append(restore)

    def _keep_memory(self, whole: np.ndarray) -> None:
        if id(whole) not in self.memories:
            self.memories[id(whole)] = (whole, whole.copy())


def _take_attributes_of(value: Any) -> None:
    """Leave nothing in the ``__dict__`` of an object that had none."""
    own_attributes(value).clear()


def _all_objects(objects: Iterable[Any]) -> Iterator[Any]:
    """The objects, and what lies behind optimizers, generators, views and hooks without a name of its own."""
    seen: set[int] = set()
    stack = list(objects)
    while stack:
        value = stack.pop()
        if id(value) in seen or value is None:
            continue
        seen.add(id(value))
        yield value
        own = own_attributes(value) or {}
        if is_a(value, Tensor):
            stack += [value._base, value.leaf_hooks, value.post_accumulate_hooks]
        elif is_a(value, Generator):
            stack += [value.state, value.cached, value.seeded]
        elif "param_groups" in own:
            stack += [own.get("state"), own["param_groups"]]
        elif is_a(value, (list, tuple)):
            stack += value
        elif is_a(value, dict):
            stack += dict.values(value)
        elif "_modules" in own:
            stack += [part for part in own.values() if is_a(part, dict)]


# Whose attributes are no objects' own: they are restored with the namespaces that code reaches.
_CODE = (types.FunctionType, types.ModuleType, types.MethodType, staticmethod, classmethod)


def _slots_of(kind: type) -> list[Any]:
    """The slots that classes of programs list; members of classes that are written in C may be read-only."""
    members = [vars(base).values() for base in users_classes(kind) if "__slots__" in vars(base)]
    return [member for each in members for member in each if is_a(member, types.MemberDescriptorType)]


def _slot_restorer(slot: Any, owner: Any) -> Callable[[], None]:
    """One that gives a slot its value again, or empties it."""
    nothing = object()

    def read() -> Any:
        try:
            return slot.__get__(owner)
        except AttributeError:
            return nothing

    kept = read()

    def restore() -> None:
        now = read()
        if now is not kept:
            slot.__delete__(owner) if kept is nothing else slot.__set__(owner, kept)

    return restore


def _rebind(source: Source, value: Any) -> None:
    """Variables, cells and attributes are bound to their value again."""
    if not source.holds(value):
        source.rebind(value)


def _items_restorer(container: Any) -> Callable[[], None]:
    """One that gives a container its items again, unless they are the same; methods of a user's class are not asked."""
    base: Any = next(kind for kind in _CONTAINERS if is_a(container, kind))
    kept = _items(base, container)

    def restore() -> None:
        now = _items(base, container)
        if len(now) == len(kept) and all(map(is_, now, kept)):
            return
        base.clear(container)
        if issubclass(base, dict):
            half = len(kept) // 2
            for key, value in zip(kept[:half], kept[half:], strict=True):
                base.__setitem__(container, key, value)
        elif base is set:
            set.update(container, kept)
        else:
            base.extend(container, kept)

    return restore


def _items(base: Any, container: Any) -> list[Any]:
    """Its items; keys, then values."""
    return [*base.keys(container), *base.values(container)] if issubclass(base, dict) else [*base.__iter__(container)]


def _random_restorer() -> Callable[[], None]:
    """For the shared generators of Python and numpy."""
    python, numpy = random.getstate(), np.random.get_state()

    def restore() -> None:
        random.setstate(python)
        np.random.set_state(numpy)

    return restore


def _random_restorer_of(generator: Any) -> Callable[[], None]:
    if is_a(generator, random.Random):
        return functools.partial(generator.setstate, generator.getstate())
    if is_a(generator, np.random.RandomState):
        return functools.partial(generator.set_state, generator.get_state())
    return functools.partial(setattr, generator.bit_generator, "state", generator.bit_generator.state)
