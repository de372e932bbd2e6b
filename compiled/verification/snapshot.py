"""What a call may change, kept aside and put back: tensors, gradients, random numbers, and Python's objects.

Everything that the function and its arguments lead to (`reach.py`) is kept: memory by its bytes, objects by their
attributes, containers by their items. What a call does elsewhere (a file, the screen) cannot be put back.
"""

from __future__ import annotations

import functools
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from operator import is_
from typing import Any

import numpy as np

from ...tensors.generator import Generator, default_generator
from ...tensors.tensor import Tensor
from ...tracing.watch import changes
from ..guards.looks import own_attributes
from ..guards.reachability import MISSING, Reach, attribute, cell_contents

_CONTAINERS = (OrderedDict, dict, list, set, deque, bytearray)
_SLOTS = ("buffer", "label", "ndarray", "place", "steps")


class Snapshot:
    """The state before a call. `tensors` are those that the call may change, gradients not among them."""

    def __init__(self, function: Any, arguments: list[Any], more: Iterable[Tensor] = ()) -> None:
        reach = Reach([function], arguments)
        objects = list(_all_objects([*reach.objects.values(), default_generator]))
        reached = [*(o for o in objects if isinstance(o, Tensor)), *more]
        self.tensors = list({id(t): t for t in reached}.values())
        gradients = {id(t): t._grad for t in self.tensors}
        self.gradients = {key: grad for key, grad in gradients.items() if grad is not None}
        self.memories: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._restorers: list[Callable[[], None]] = [_random_restorer()]
        self._restorers += [restorer for place in reach.places if (restorer := _place_restorer(place[2])) is not None]
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
        changes.options += 1
        changes.modules += 1

    def before(self, tensor: Tensor) -> np.ndarray:
        """The whole memory of `tensor` as it was."""
        return self.memories[id(tensor.buffer.whole)][1]

    def value(self, tensor: Tensor) -> np.ndarray:
        """What `tensor` showed."""
        kept = self.before(tensor)
        for step in tensor.steps:
            kept = step.primitive.evaluate(kept, **dict(step.params))
        return kept

    def _keep(self, value: Any) -> None:
        if isinstance(value, np.ndarray):
            self._keep_memory(value)
        elif isinstance(value, _CONTAINERS):
            self._restorers.append(_items_restorer(value))
        elif isinstance(value, (random.Random, np.random.RandomState, np.random.Generator)):
            self._restorers.append(_random_restorer_of(value))
        elif not isinstance(value, (type, Tensor)) and type(own_attributes(value)) is dict:
            if not _is_code(value):
                self._restorers.append(_items_restorer(own_attributes(value)))

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
        if isinstance(value, Tensor):
            stack += [value._base, *(own.get(name) for name in ("_leaf_hooks", "_post_accumulate_hooks"))]
        elif isinstance(value, Generator):
            stack += [value.state, value.cached, value.seeded]
        elif "param_groups" in own:
            stack += [own.get("state"), own["param_groups"]]
        elif isinstance(value, (list, tuple)):
            stack += value
        elif isinstance(value, dict):
            stack += dict.values(value)
        elif "_modules" in own:
            stack += [part for part in own.values() if isinstance(part, dict)]


def _is_code(value: Any) -> bool:
    """True for functions, modules and the like, whose attributes are not a call's business, unless named places."""
    return hasattr(value, "__code__") or hasattr(value, "__spec__") or hasattr(value, "__func__")


def _place_restorer(get: Callable[[], Any]) -> Callable[[], None] | None:
    """For variables, cells and attributes: one that binds them to their value again."""
    if not isinstance(get, functools.partial):
        return None
    func, args, value = get.func, get.args, get()
    if func is attribute:
        return functools.partial(_bind, get, value, functools.partial(setattr, *args))
    if func is cell_contents and value is not MISSING:
        return functools.partial(_bind, get, value, functools.partial(setattr, args[0], "cell_contents"))
    owner = getattr(func, "__self__", None)
    if type(owner) is dict and value is not MISSING:
        return functools.partial(_bind, get, value, functools.partial(owner.__setitem__, args[0]))
    return None


def _bind(get: Callable[[], Any], value: Any, put: Callable[[Any], None]) -> None:
    if get() is not value and value is not MISSING:
        put(value)


def _items_restorer(container: Any) -> Callable[[], None]:
    """One that gives a container its items again, unless they are the same; methods of a user's class are not asked."""
    base: Any = next(kind for kind in _CONTAINERS if isinstance(container, kind))
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
    if isinstance(generator, random.Random):
        return functools.partial(generator.setstate, generator.getstate())
    if isinstance(generator, np.random.RandomState):
        return functools.partial(generator.set_state, generator.get_state())
    return functools.partial(setattr, generator.bit_generator, "state", generator.bit_generator.state)
