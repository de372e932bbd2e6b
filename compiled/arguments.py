"""The arguments of a call: what a specialisation expects of them, and pointing the table to their memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..autograd.tensor import Tensor
from ..runtime.program import address_of
from .binding import Binding
from .recording import Recording
from .memory import memory_of
from .structure import Path, at, leaves, skeleton

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


class TensorArgument:
    """What a tensor argument must be like, and its place in the table (None if the program does not read it)."""

    __slots__ = ("layout", "requires_grad", "slot")

    def __init__(self, tensor: Tensor, slot: int | None) -> None:
        self.layout = memory_of(tensor)[1]
        self.requires_grad = tensor.requires_grad
        self.slot = slot

    def fits(self, tensor: Any) -> bool:
        return (
            isinstance(tensor, Tensor)
            and memory_of(tensor)[1] is self.layout
            and tensor.requires_grad is self.requires_grad
        )


class Arguments:
    """All arguments of one specialisation."""

    def __init__(self, recording: Recording, binding: Binding, args: Args, kwargs: Kwargs) -> None:
        self._binding = binding
        self._skeleton = skeleton((args, kwargs))
        slots = {path: binding.slot_of.get(root.node.label) for path, root in recording.arguments}
        self._specs: list[tuple[Path, Any]] = [
            (path, TensorArgument(leaf, slots.get(path)) if isinstance(leaf, Tensor) else leaf)
            for path, leaf in leaves((args, kwargs))
        ]
        # The common call: tensors only, by position. It needs no walk over trees.
        simple = not kwargs and all(isinstance(spec, TensorArgument) and len(path) == 2 for path, spec in self._specs)
        self._simple = [spec for _, spec in self._specs] if simple else None
        self._aliases = _alias_pattern(args, kwargs)
        # Which arguments share memory matters where something is written, or where the recording saw them share it.
        self._alias_free = self._aliases is None and not any(root.region.written for _, root in recording.arguments)

    def fit(self, args: Args, kwargs: Kwargs) -> bool:
        """True if these are arguments of the recorded kind: types, shapes, flags, and plain values that are equal."""
        if self._simple is not None:
            if kwargs or len(args) != len(self._simple):
                return False
            for spec, argument in zip(self._simple, args, strict=True):
                if not spec.fits(argument):
                    return False
        elif skeleton((args, kwargs)) != self._skeleton:
            return False
        elif not all(_fits(spec, at((args, kwargs), path)) for path, spec in self._specs):
            return False
        return self._alias_free or bool(_alias_pattern(args, kwargs) == self._aliases)

    def point(self, args: Args, kwargs: Kwargs) -> list[np.ndarray]:
        """Fill the table; returns the arrays that must stay alive during the call."""
        kept = []
        set_address = self._binding.slots.set_address
        for tensor, spec in self._tensors(args, kwargs):
            if spec.slot is not None:
                values, layout, address = memory_of(tensor)
                if not layout.contiguous:
                    values = np.ascontiguousarray(values)
                    address = address_of(values)
                kept.append(values)
                set_address(spec.slot, address)
        return kept

    def _tensors(self, args: Args, kwargs: Kwargs) -> Iterator[tuple[Tensor, TensorArgument]]:
        if self._simple is not None:
            return zip(args, self._simple, strict=True)
        tree = (args, kwargs)
        return ((at(tree, path), spec) for path, spec in self._specs if isinstance(spec, TensorArgument))


def _fits(spec: Any, value: Any) -> bool:
    if isinstance(spec, TensorArgument):
        return spec.fits(value)
    plain = isinstance(value, (bool, int, float, str))
    return value is spec or (plain and type(value) is type(spec) and bool(value == spec))


def _alias_pattern(args: Args, kwargs: Kwargs) -> Any:
    """Which tensor arguments share memory: None if none do, else the first position of each memory."""
    plain = not kwargs and all(type(a) is Tensor for a in args)
    tensors = args if plain else [t for _, t in leaves((args, kwargs)) if isinstance(t, Tensor)]
    memories = [id(t.buffer.whole) for t in tensors]
    if len(set(memories)) == len(memories):
        return None
    return tuple(memories.index(m) for m in memories)
