"""Memory for what calls leave to their backward passes."""

from __future__ import annotations

import numpy as np

from ...ops.memory import CACHE_LINE
from ...runtime.program import address_of
from ..execution.binding import Binding


class SavedMemory:
    """One block for each call, in which `count` results from number `first` on lie at cache lines.

    They are seen by the backward pass alone, and all go when it is done, so that they need no memory of their own.
    """

    def __init__(self, binding: Binding, first: int, count: int) -> None:
        self._words = binding.slots.words
        self._parts = []
        self._size = CACHE_LINE
        for index, of in enumerate(binding.result_types[first : first + count], binding.first_result + first):
            self._parts.append((index, of.shape, of.dtype.numpy, self._size - CACHE_LINE))
            self._size += -(-of.nbytes // CACHE_LINE) * CACHE_LINE

    def fresh(self) -> list[np.ndarray]:
        """Arrays that the table points to from now on."""
        if not self._parts:
            return []
        block = np.empty(self._size, np.uint8)
        address = address_of(block)
        start = -address % CACHE_LINE
        arrays = []
        for slot, shape, dtype, offset in self._parts:
            arrays.append(np.ndarray(shape, dtype, block, start + offset))
            self._words[slot] = address + start + offset
        return arrays
