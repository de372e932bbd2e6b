"""Gradients that backward passes hand out again, once nobody else holds them: `zero_grad()` has let them go."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ...runtime.references import ReferenceCounts
from ...tensors.blank import FIELDS, blank
from ...tensors.tensor import Tensor, make
from ..common.tensor_memory import memory_of

ArrayType = tuple[tuple[int, ...], np.dtype]

GONE: Any = weakref.ref(type("Gone", (), {})())  # to nothing: the object is gone at once

# The references to a gradient that nobody but the pool holds: the pool. To its array: the gradient, its buffer, what is
# remembered of the gradient's memory, the pool. To its buffer: the gradient, the pool.
ALONE = (1, 4, 2)


class GradientPool:
    """The gradients of one pass, each with its array and its buffer.

    `types` are their shapes and element types as the pass brings them, whatever became of its leaves since.
    `references` are to all memories of the pass, of which `first` is the number of the first, `numbers` those of the
    gradients by identity of the array.
    """

    def __init__(self, types: Sequence[ArrayType], memories: Sequence[int], first: int, count: int) -> None:
        self.kept = [_gradient_of(*of) for of in types]
        self.references: list[Any] = [GONE] * count
        self.numbers: dict[int, int] = {}
        for (_, array, _), memory in zip(self.kept, memories, strict=True):
            self.references[memory] = weakref.ref(array)
            self.numbers[id(array)] = first + memory
        #: True if nobody but the pool holds any of them.
        self.is_free = ReferenceCounts(self.kept, ALONE * len(self.kept)).agree

    def renewed(self) -> bool:
        """Make the gradients as new ones are; False if somebody may know them."""
        if not self.is_free():
            return False
        for gradient, _, buffer in self.kept:
            if gradient.__weakref__ is not None or gradient.__dict__ or _flags(gradient) != _UNCHANGED:
                return False
            buffer.version = 0
        return True


def _gradient_of(shape: tuple[int, ...], dtype: np.dtype) -> tuple[Tensor, np.ndarray, Any]:
    gradient = make(np.empty(shape, dtype))
    memory_of(gradient)
    return gradient, gradient.ndarray, gradient.buffer


#: All that a tensor keeps but its memory and what is remembered of it.
_flags = attrgetter(*(name for name in FIELDS if name not in ("memory", "is_of_program")))
_UNCHANGED = _flags(blank(Tensor))
