"""What a call does to ``.grad``: new gradients in memory of their own, or None."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..autograd.tensor import Tensor, make
from ..autograd.watch import changes
from ..ops.memory import aligned_empty
from ..ops.types import Type
from .binding import Binding
from .recording import GradSlot, Recording
from .structure import Path, at

# References that are there when nobody but the tensor holds its gradient. To the gradient: the tensor, `bound`, the
# local variable, the argument of getrefcount. To its array: gradient, its buffer, `memory`, the argument. To what owns
# the memory, where that is another array: the array (views of it count here), `owner`, the argument.
GRADIENT_REFERENCES, MEMORY_REFERENCES, OWNER_REFERENCES = 4, 4, 3


class GradOutput:
    """A ``.grad`` that each call stores anew. Its memory is reused when nobody else can see it."""

    def __init__(self, slot: GradSlot, of: Type, index: int, path: Path | None, always_new: bool) -> None:
        self.tensor = slot.tensor
        self._type = of
        self._slot = index
        self.path = path
        self.always_new = always_new  # the old gradient is an input of the same call
        self.bound: Tensor | None = None
        self.memory: np.ndarray | None = None  # of `bound`, what the table points to
        self.owner: Any = None  # the array that `memory` is a part of, if it is one

    def of(self, call_arguments: Any) -> Tensor:
        """The tensor whose gradient this is in a call with these arguments."""
        found: Tensor = self.tensor if self.path is None else at(call_arguments, self.path)
        return found

    def prepare(self, call_arguments: Any, binding: Binding) -> Tensor | None:
        """Point the table to memory for the gradient: the old one's (None is returned), or a new one, to be stored."""
        grad = self.of(call_arguments)._grad
        if grad is not None and not self.always_new and sys.getrefcount(grad) == GRADIENT_REFERENCES:
            if self.is_free(grad):
                return None
        fresh = make(aligned_empty(self._type.shape, self._type.dtype.numpy))
        self.bound, self.memory, self.owner = fresh, fresh.ndarray, fresh.ndarray.base
        binding.point(self._slot, fresh.ndarray)
        return fresh

    def is_free(self, grad: Tensor) -> bool:
        """True if this is the gradient of the last call, and nobody else can see its memory."""
        if grad is not self.bound or grad.ndarray is not self.memory:
            return False
        if sys.getrefcount(grad.ndarray) != MEMORY_REFERENCES:
            return False
        return self.owner is None or sys.getrefcount(self.owner) == OWNER_REFERENCES

    def store(self, fresh: Tensor | None, call_arguments: Any) -> None:
        """After the call: the gradient is there."""
        if fresh is None:
            assert self.bound is not None
            self.bound.buffer.version += 1
        else:
            self.of(call_arguments)._grad = fresh
            changes.count += 1


class Grads:
    """All gradient slots of one specialisation."""

    def __init__(self, recording: Recording, binding: Binding, first: int) -> None:
        paths = {id(root.array): path for path, root in recording.arguments}
        read = {id(root.array) for root in recording.recorder.roots}
        self._binding = binding
        self.outputs = [
            GradOutput(
                slot,
                binding.result_types[first + i],
                binding.first_result + first + i,
                paths.get(id(slot.tensor)),
                always_new=slot.before is not None and id(slot.before) in read,
            )
            for i, slot in enumerate(recording.fresh_grads())
        ]
        self.to_none = [(s.tensor, paths.get(id(s.tensor))) for s in recording.grads.values() if s.after is None]

    def __len__(self) -> int:
        return len(self.outputs)

    def prepare(self, call_arguments: Any) -> list[Tensor | None]:
        """Before the call: memory for every new gradient. Nothing that the user sees changes yet."""
        return [output.prepare(call_arguments, self._binding) for output in self.outputs]

    def store(self, fresh: list[Tensor | None], call_arguments: Any) -> None:
        """After the call: new gradients where they belong, None where the function left None."""
        for output, gradient in zip(self.outputs, fresh, strict=True):
            output.store(gradient, call_arguments)
        for tensor, path in self.to_none:
            target = tensor if path is None else at(call_arguments, path)
            if target._grad is not None:
                target.grad = None
