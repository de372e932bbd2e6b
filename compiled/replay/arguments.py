"""The arguments of a call: what a specialisation expects of them, and pointing the table to their memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from types import MethodType
from typing import Any

import numpy as np

from ...ops.exposure import owner_of
from ...ops.types import Type, dtype_of
from ...runtime.program import address_of
from ...tensors.tensor import Tensor
from ..common.aliasing import captured_tensors
from ..common.classes import is_a
from ..common.exactness import same_number
from ..common.pytree import DICTS, Path, at, containers, leaves, skeleton
from ..common.tensor_memory import hooks_on, memory_of
from ..execution.binding import Binding
from ..guards.states import Attributed, attributes_of, is_one_object
from ..recording.recording import Recording
from ..symbolic.number import KINDS
from .captured_inputs import CapturedInputs

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


class TensorArgument:
    """What a tensor argument must be like, and its place in the table (None if the program does not read it).

    `only` is the one tensor that it may be, where the function knows it under another name as well.
    """

    __slots__ = ("attributes", "hooks", "kind", "layout", "leaf", "only", "requires_grad", "slot", "tracked")

    def __init__(self, tensor: Tensor, slot: int | None, captured: bool) -> None:
        self.only = tensor if captured else None
        self.kind = type(tensor)
        self.layout = memory_of(tensor)[1]
        self.requires_grad = tensor.requires_grad
        self.tracked = tensor.is_tracked()
        self.leaf = tensor.is_leaf
        self.hooks = hooks_on(tensor)
        self.slot = slot
        self.attributes = frozenset(vars(tensor))  # the program's own; a recording refuses those that code names

    def fits(self, tensor: Any) -> bool:
        return (
            type(tensor) is self.kind
            and memory_of(tensor)[1] is self.layout
            and (self.only is None or tensor is self.only)
            and tensor.requires_grad is self.requires_grad
            and (not self.requires_grad or (tensor.is_tracked() is self.tracked and not tensor.is_ambiguous()))
            and (not (vars(tensor) or self.attributes) or vars(tensor).keys() == self.attributes)
            and (not self.requires_grad or (tensor.is_leaf is self.leaf and hooks_on(tensor) == self.hooks))
        )

    def describe(self) -> str:
        """What it expects, for a message."""
        of = Type(dtype_of(np.empty((), self.layout.dtype)), self.layout.shape)
        strided, flags = "" if self.layout.contiguous else " strided", " requires grad" if self.requires_grad else ""
        return f"<{of}{strided}{flags}{' of inference mode' if self.layout.inference else ''}>"


class NumberArgument:
    """A number that may be any other of its type: the recording's formulas look at it (`number_inputs.py`)."""

    __slots__ = ("kind",)

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def fits(self, value: Any) -> bool:
        return type(value) is self.kind


class Arguments:
    """All arguments of one specialisation."""

    def __init__(
        self, recording: Recording, binding: Binding, captured: CapturedInputs, args: Args, kwargs: Kwargs
    ) -> None:
        self._binding = binding
        self.skeleton = skeleton((args, kwargs))
        captures = recording.environment.captures
        numbers = _opened_arguments(recording)
        self.by_identity = recording.environment.by_identity
        self._own = {id(container) for container in recording.environment.containers}
        self._same_containers = self._containers(args, kwargs)
        self.own_containers = _attributes_in(args, kwargs)
        slots = {path: binding.slot_of.get(root.node.label) for path, root in recording.arguments}
        # What is expected of each leaf, with its path.
        self.leaves: list[tuple[Path, Any]] = [
            (path, TensorArgument(leaf, slots.get(path), captures(leaf)))
            if is_a(leaf, Tensor)
            else (path, numbers.get(path, leaf))
            for path, leaf in leaves((args, kwargs))
        ]
        # The common call: tensors and numbers, by position. It needs no walk over trees.
        kinds = (TensorArgument, NumberArgument)
        is_flat = not kwargs and len(args) == len(self.leaves)  # an empty container is an argument without a leaf
        is_flat = is_flat and all(len(path) == 2 for path, _ in self.leaves)
        simple = is_flat and all(is_a(spec, kinds) for _, spec in self.leaves)
        self.simple = [spec for _, spec in self.leaves] if simple else None
        # Plain values first: where calls differ in one, nothing else is looked at.
        self._by_position = [(path[1], spec) for path, spec in self.leaves if not is_a(spec, TensorArgument)]
        self._by_position += [(path[1], spec) for path, spec in self.leaves if is_a(spec, TensorArgument)]
        self._is_flat = is_flat
        self._compared = recording.questions.are_compared
        self._identities = (
            frozenset(id(t) for t in captured_tensors(recording) if captures(t)) if self._compared else frozenset()
        )
        self._inputs = captured
        self.captured = captured.memories  # which are looked up again when something has been rebound
        self._aliases = self._alias_pattern(args, kwargs)
        # Which arguments share memory matters where something is written or differentiated, or where they did share it.
        self.alias_free = self._aliases is None and not (
            self.captured
            or self._compared
            or any(root.region.written or root.requires_grad for _, root in recording.arguments)
        )

    def fit(self, args: Args, kwargs: Kwargs, *, but_for_numbers: bool = False) -> bool:
        """True if these are arguments of the recorded kind: types, shapes, flags, and plain values that are equal.

        With `but_for_numbers`, numbers need only be of the same type.
        """
        if self._is_flat:
            if kwargs or len(args) != len(self._by_position):
                return False
            for i, spec in self._by_position:
                if not self.fits_leaf(spec, args[i], but_for_numbers):
                    return False
        elif skeleton((args, kwargs)) != self.skeleton:
            return False
        elif not all(self.fits_leaf(spec, at((args, kwargs), path), but_for_numbers) for path, spec in self.leaves):
            return False
        elif self.by_identity and self._containers(args, kwargs) != self._same_containers:
            return False
        elif self.own_containers and self.own_containers != _attributes_in(args, kwargs):
            return False
        return self.share_as_recorded(args, kwargs)

    @property
    def are_shared(self) -> bool:
        """True if the recorded ones shared memory with each other or with captured tensors."""
        return self._aliases is not None

    def share_as_recorded(self, args: Args, kwargs: Kwargs) -> bool:
        """True if the same ones as in the recorded call share memory with each other and with captured tensors."""
        return self.alias_free or bool(self._alias_pattern(args, kwargs) == self._aliases)

    def spec_at(self, path: Path) -> Any:
        """What is expected at one place."""
        return dict(self.leaves)[path]

    def fits_at(self, path: Path, value: Any) -> bool:
        """True if one leaf of the arguments is of the recorded kind."""
        return self.fits_leaf(self.spec_at(path), value)

    def fits_leaf(self, spec: Any, value: Any, but_for_numbers: bool = False) -> bool:
        """True if a leaf is as `spec` has it."""
        if is_a(spec, (TensorArgument, NumberArgument)):
            return spec.fits(value)
        if not self.by_identity:
            return _fits(spec, value, but_for_numbers)
        return value is spec or (is_one_object(value) and same_number(value, spec))

    def _containers(self, args: Args, kwargs: Kwargs) -> list[int]:
        """Which of the containers are one, or are found by the function without them, where code could ask."""
        if not self.by_identity:
            return []
        found = [id(container) for tree in (*args, *kwargs.values()) for container in containers(tree)]
        return [each if each in self._own else found.index(each) for each in found]

    def point(self, args: Args, kwargs: Kwargs) -> list[np.ndarray]:
        """Fill the table; returns the arrays that must stay alive during the call."""
        kept = []
        set_address = self._binding.slots.set_address
        for tensor, spec in self._tensors(args, kwargs):
            if spec.slot is not None:
                values, layout, address, _ = memory_of(tensor)
                if not layout.contiguous:
                    values = np.array(values, order="C")
                    address = address_of(values)
                kept.append(values)
                set_address(spec.slot, address)
        return kept

    def _tensors(self, args: Args, kwargs: Kwargs) -> Iterator[tuple[Tensor, TensorArgument]]:
        if self.simple is not None:
            pairs = zip(args, self.simple, strict=True)
            return ((tensor, spec) for tensor, spec in pairs if is_a(spec, TensorArgument))
        tree = (args, kwargs)
        return ((at(tree, path), spec) for path, spec in self.leaves if is_a(spec, TensorArgument))

    def _alias_pattern(self, args: Args, kwargs: Kwargs) -> Any:
        """Which tensor arguments share memory with each other or with a captured tensor: None if none do."""
        plain = not kwargs and all(type(a) is Tensor for a in args)
        tensors = list(args) if plain else [t for _, t in leaves((args, kwargs)) if is_a(t, Tensor)]
        memories = [owner_of(t.buffer.whole) for t in tensors]
        if len(set(memories)) == len(memories) and self.captured.isdisjoint(memories):
            return None
        pattern = tuple(m if m in self.captured else memories.index(m) for m in memories)
        identities = list(map(id, tensors))
        same = tuple(i if i in self._identities else identities.index(i) for i in identities)
        return pattern, tuple(_offset(t, tensors) for t in tensors), same, self._overlap(tensors, (args, kwargs))

    def _overlap(self, tensors: list[Tensor], call_arguments: Any) -> bool:
        """True if one shows memory of another, or of a captured one, that does not know of it: numpy views."""
        others = [*tensors, *self._inputs.tensors(call_arguments)]
        return any(
            a.buffer.whole is not b.buffer.whole and np.may_share_memory(a.ndarray, b.ndarray)
            for i, a in enumerate(tensors)
            for b in others[i + 1 :]
        )


def _attributes_in(args: Args, kwargs: Kwargs) -> list[Attributed]:
    """What containers of the program's own classes have in attributes, and what makes the items that a defaultdict
    lacks; the containers themselves are not kept."""
    kinds = {list, tuple, *DICTS}
    found = (container for tree in (*args, *kwargs.values()) for container in containers(tree))
    own = [each for each in found if type(each) not in kinds and (is_a(each, dict) or attributes_of(each))]
    return [
        Attributed(None, [_factory(container), *(each.attributes for each in attributes_of(container))])
        for container in own
    ]


def _factory(container: Any) -> Any:
    return container.default_factory if is_a(container, defaultdict) else None


def _offset(tensor: Tensor, tensors: list[Tensor]) -> Any:
    """Where in its memory a tensor lies; None if it lies beside all others, so that it may be anywhere."""
    inside = any(
        other is not tensor
        and other.buffer.whole is tensor.buffer.whole
        and other.steps[: len(tensor.steps)] == tensor.steps[: len(other.steps)]
        for other in tensors
    )
    return tensor.steps if inside else None


def _opened_arguments(recording: Recording) -> dict[Path, NumberArgument]:
    return {
        spot.path: NumberArgument(source.kind)
        for source in recording.symbolic_inputs.sources
        for spot in source.spots
        if spot.get is None
    }


_COMPARED = (bool, int, float, complex, str, bytes, np.generic, slice, range, MethodType)


def _fits(spec: Any, value: Any, but_for_numbers: bool = False) -> bool:
    if is_a(spec, (TensorArgument, NumberArgument)):
        return spec.fits(value)
    if value is spec or (but_for_numbers and type(value) is type(spec) and type(value) in KINDS):
        return True
    return is_a(value, _COMPARED) and same_number(value, spec) and attributes_of(value) == attributes_of(spec)
