"""What a call does to ``.grad``: new gradients in memory of their own, or None."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.array import UNTRACKED
from ...ops.memory import aligned_empty
from ...ops.types import Type
from ...runtime.references import ReferenceCounts
from ...tensors.tensor import Tensor, make
from ..common.pytree import Path, at
from ..common.tensor_memory import memory_of
from ..execution.binding import Binding
from ..execution.commit import Effects
from ..recording.grad_slot import GradSlot
from ..recording.recording import Recording
from .fresh_output import strides_in_memory

# References that are there when nobody but the tensor holds its gradient. To the gradient: the tensor, `kept`. To its
# array: gradient, its buffer, what is remembered of the gradient's memory (at once, since some calls ask for it),
# `kept`. To what owns the memory, where that is another array: the array (views of it count here), `kept`.
ALONE = (2, 4, 2)


class GradOutput:
    """A ``.grad`` that each call stores anew. Its memory is reused when nobody else can see it."""

    def __init__(self, slot: GradSlot, of: Type, index: int, path: Path | None, always_new: bool) -> None:
        self.tensor = slot.tensor
        assert slot.after is not None
        self._shape, self._strides = slot.after.ndarray.shape, strides_in_memory(slot.after)
        self._type = of
        self._is_inference = slot.after.buffer.version < 0
        self._slot = index
        self.path = path
        self.always_new = always_new  # the old gradient is an input of the same call, or a check may still fail
        # The gradient that the table points to, its array, and what owns the memory if that is another array.
        self.kept: tuple[Any, ...] = ()
        self._counts = ReferenceCounts((), ())

    def of(self, call_arguments: Any) -> Tensor:
        """The tensor whose gradient this is in a call with these arguments."""
        found: Tensor = self.tensor if self.path is None else at(call_arguments, self.path)
        return found

    def prepare(self, call_arguments: Any, binding: Binding) -> Tensor | None:
        """Point the table to memory for the gradient: the old one's (None is returned), or a new one, to be stored."""
        if not self.always_new and self.is_free(call_arguments):
            return None
        memory = aligned_empty(self._type.shape, self._type.dtype.numpy)
        if self._strides is not None:
            memory = np.ndarray(self._shape, memory.dtype, memory, strides=self._strides)
        fresh = make(memory)
        fresh.is_of_program = True
        if self._is_inference:
            fresh.buffer.version = UNTRACKED
        array, _, address, _ = memory_of(fresh)
        self.kept = (fresh, array) if array.base is None else (fresh, array, array.base)
        self._counts = ReferenceCounts([self.kept], ALONE[: len(self.kept)])
        binding.slots.set_address(self._slot, address)
        return fresh

    def is_free(self, call_arguments: Any) -> bool:
        """True if the tensor's gradient is the one of the last call, and nobody else can see its memory."""
        kept = self.kept
        in_place = bool(kept) and self.of(call_arguments)._grad is kept[0]
        return in_place and kept[0].ndarray is kept[1] and self._counts.agree()


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
                always_new=(slot.before is not None and id(slot.before) in read) or binding.early[first + i],
            )
            for i, slot in enumerate(recording.fresh_grads())
        ]
        # Where there was none before, and the function has looked, there is none at any call that it is replayed for.
        cleared = [s for s in recording.grads.values() if s.after is None and not (s.read_first and s.before is None)]
        self.to_none = [(s.tensor, paths.get(id(s.tensor))) for s in cleared]

    def __len__(self) -> int:
        return len(self.outputs)

    def prepare(self, call_arguments: Any) -> list[Tensor | None]:
        """Before the call: memory for every new gradient. Nothing that the user sees changes yet."""
        return [output.prepare(call_arguments, self._binding) for output in self.outputs]

    def is_reusable(self) -> ReferenceCounts | None:
        """If all gradients may be written where they are: what tells at later calls that nobody has got hold of one.

        It holds until a tensor gets another gradient; whoever rebinds one counts `changes` up.
        """
        if not all(output.is_free(((), {})) for output in self.outputs):
            return None
        tuples = [output.kept for output in self.outputs]
        return ReferenceCounts(tuples, [count for kept in tuples for count in ALONE[: len(kept)]])

    def store(self, fresh: list[Tensor | None], call_arguments: Any, effects: Effects) -> None:
        """What follows the call: new gradients where they belong, None where the function left None.

        A gradient that is written where it was keeps its version: whoever could compare versions would hold it.
        """
        for output, gradient in zip(self.outputs, fresh, strict=True):
            if gradient is not None:
                effects.set_gradient(output.of(call_arguments), gradient)
        for tensor, path in self.to_none:
            target = tensor if path is None else at(call_arguments, path)
            if target._grad is not None:
                effects.set_gradient(target, None)
