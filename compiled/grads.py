"""What a call does to ``.grad``: new gradients in memory of their own, or None."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..autograd.tensor import Tensor, make
from ..autograd.watch import changes
from ..ops.types import Type
from .binding import Binding
from .recording import GradSlot, Recording
from .structure import Path, at

# References that are there when nobody but the tensor holds its gradient. To the gradient: the tensor, `bound`, the
# local variable, the argument of getrefcount. To its memory: gradient, its buffer, the argument.
GRADIENT_REFERENCES, MEMORY_REFERENCES = 4, 3


class GradOutput:
    """A ``.grad`` that each call stores anew. Its memory is reused when nobody else can see it."""

    def __init__(self, slot: GradSlot, of: Type, index: int, path: Path | None, always_new: bool) -> None:
        self._tensor = slot.tensor
        self._type = of
        self._slot = index
        self._path = path
        self._always_new = always_new  # the old gradient is an input of the same call
        self._bound: Tensor | None = None

    def prepare(self, call_arguments: Any, binding: Binding) -> None:
        """See to it that the tensor has a gradient of its own memory, and that the table points to it."""
        tensor = self._tensor if self._path is None else at(call_arguments, self._path)
        grad = tensor._grad
        if grad is not None and grad is self._bound and not self._always_new:
            if sys.getrefcount(grad) == GRADIENT_REFERENCES and sys.getrefcount(grad.ndarray) == MEMORY_REFERENCES:
                grad.buffer.version += 1
                return
        fresh = make(np.empty(self._type.shape, self._type.dtype.numpy))
        binding.point(self._slot, fresh.ndarray)
        tensor._grad = self._bound = fresh
        changes.count += 1


class Grads:
    """All gradient slots of one specialisation."""

    def __init__(self, recording: Recording, binding: Binding, first: int) -> None:
        paths = {id(root.array): path for path, root in recording.arguments}
        read = {id(root.array) for root in recording.recorder.roots}
        self._binding = binding
        self._outputs = [
            GradOutput(
                slot,
                binding.result_types[first + i],
                binding.first_result + first + i,
                paths.get(id(slot.tensor)),
                always_new=slot.before is not None and id(slot.before) in read,
            )
            for i, slot in enumerate(recording.fresh_grads())
        ]
        self._to_none = [(s.tensor, paths.get(id(s.tensor))) for s in recording.grads.values() if s.after is None]

    def __len__(self) -> int:
        return len(self._outputs)

    def prepare(self, call_arguments: Any) -> None:
        """Before the call: memory for every new gradient."""
        for output in self._outputs:
            output.prepare(call_arguments, self._binding)

    def clear(self, call_arguments: Any) -> None:
        """After the call: None where the function left None."""
        for tensor, path in self._to_none:
            target = tensor if path is None else at(call_arguments, path)
            if target._grad is not None:
                target.grad = None
