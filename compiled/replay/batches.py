"""What `run` is given, as batches: one after the other, or as memory that C goes through by itself.

Only where nobody else's Python runs between two batches may steps be done without a look at Python in between: lists
and tuples, tensors, and the library's own loaders over tensors. Whatever else gives batches (a generator, another
loader) is asked for one before each step, as a ``for`` loop does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...ops.memory import aligned_empty
from ...runtime.program import address_of
from ...tensors.rows import RowBatches, StackedRows, StackedTensors, are_plain_rows
from ...tensors.tensor import Tensor, make
from ..common.classes import is_a
from ..execution.loop import GATHERED, LISTED, STRIDED
from ..execution.permutation import permutation_in_c

END = object()
FEWEST = 16  # batches that are looked at in a list before any are done; more, where these were done at once

Args = tuple[Any, ...]
Moving = list[tuple[int, ...]]


def as_arguments(batch: Any) -> Args:
    """The arguments that one batch means."""
    return tuple(batch) if is_a(batch, (tuple, list)) else (batch,)


class Batches:
    """The batches of any iterable. `next` gives one; `first` and `moving` are for those that C goes through."""

    def __init__(self, batches: Iterable[Any]) -> None:
        self._iterator = iter(batches)

    def next(self) -> Any:
        """The arguments of the next step; `END` if there is none."""
        batch = next(self._iterator, END)
        return END if batch is END else as_arguments(batch)

    def first(self) -> Args | None:
        """Arguments to check in the place of those of the next step; None if it has to be done by itself."""
        return None

    def moving(self, steps: Any, most: int) -> tuple[int, Moving]:
        """How many steps, from the next on, have the arguments that `first` shows but for the memory; and which."""
        raise NotImplementedError

    def skip(self, count: int) -> None:
        """So many of the steps were done that `moving` has promised."""


class ListedBatches(Batches):
    """Batches in a list or a tuple, which may change between two steps as it may in a ``for`` loop."""

    def __init__(self, batches: list[Any] | tuple[Any, ...]) -> None:
        self._batches = batches
        self._at = 0
        self._window = FEWEST
        self._kept: Any = ()  # while C reads it

    def next(self) -> Any:
        if self._at >= len(self._batches):
            return END
        self._at += 1
        return as_arguments(self._batches[self._at - 1])

    def first(self) -> Args | None:
        return as_arguments(self._batches[self._at]) if self._at < len(self._batches) else None

    def moving(self, steps: Any, most: int) -> tuple[int, Moving]:
        given = self._batches[self._at : self._at + min(most, self._window)]
        found: list[int] = []
        count = steps.listed(given, found)
        table = np.array(found, np.int64)
        self._kept = given, table
        places = len(steps.slots)
        base = address_of(table)
        return count, [(slot, LISTED, base + i * table.itemsize, places) for i, (_, slot) in enumerate(steps.slots)]

    def skip(self, count: int) -> None:
        self._at += count
        self._kept = ()
        self._window = 2 * self._window if count >= self._window else max(FEWEST, count)


class StackedBatches(Batches):
    """Batch i is ``whole[i]``: the i-th rows of its tensors."""

    def __init__(self, whole: StackedRows) -> None:
        self._whole = whole
        self._at = 0
        self._kept: list[np.ndarray] = []

    def next(self) -> Any:
        if self._at >= len(self._whole.tensors[0]):
            return END
        self._at += 1
        return as_arguments(self._whole[self._at - 1])

    def first(self) -> Args | None:
        tensors = self._whole.tensors
        if not are_plain_rows(tensors) or self._at >= len(tensors[0].ndarray):
            return None
        self._kept = [t.ndarray for t in tensors]
        return tuple(make(np.asarray(array[self._at, ...])) for array in self._kept)

    def moving(self, steps: Any, most: int) -> tuple[int, Moving]:
        sizes = [row_bytes(array) for array in self._kept]
        return min(most, len(self._kept[0]) - self._at), [
            (slot, STRIDED, address_of(self._kept[i]) + self._at * sizes[i], sizes[i]) for i, slot in steps.slots
        ]

    def skip(self, count: int) -> None:
        self._at += count


def row_bytes(array: np.ndarray) -> int:
    """How far apart the rows of a contiguous array are (its strides do not tell where there is only one)."""
    return array.itemsize * math.prod(array.shape[1:])


class GatheredBatches(Batches):
    """Batches of an iterator that knows of which rows the next ones are: they are copied together in C."""

    def __init__(self, batches: RowBatches) -> None:
        self._iterator = self._batches = batches
        batches.permutation = permutation_in_c()
        self._rows: np.ndarray | None = None
        self._made: tuple[Tensor, ...] = ()  # memory for one batch
        self._kept: Any = ()

    def first(self) -> Args | None:
        self._rows = self._batches.rows_ahead()
        if self._rows is None or not len(self._rows):
            return None
        arrays = self._kept = [t.ndarray for t in self._batches.tensors]
        shapes = [((self._rows.shape[1], *a.shape[1:]), a.dtype) for a in arrays]
        if shapes != [(t.ndarray.shape, t.ndarray.dtype) for t in self._made]:
            self._made = tuple(make(aligned_empty(shape, dtype)) for shape, dtype in shapes)
        return self._made

    def moving(self, steps: Any, most: int) -> tuple[int, Moving]:
        assert self._rows is not None
        rows = address_of(self._rows)
        return min(most, len(self._rows)), [
            (
                slot, GATHERED, address_of(self._kept[i]), row_bytes(self._kept[i]),
                rows, self._rows.shape[1], address_of(self._made[i].ndarray),
            )
            for i, slot in steps.slots
        ]  # fmt: skip

    def skip(self, count: int) -> None:
        self._batches.skip(count)


def batches_of(batches: Any, more: tuple[Any, ...]) -> Batches:
    """The batches that `run` is given: those of an iterable, or rows of several tensors."""
    if more:
        return StackedBatches(StackedTensors(_of_one_length((batches, *more))))
    if type(batches) in (list, tuple):
        return ListedBatches(batches)
    if type(batches) is Tensor and batches.ndarray.ndim:
        return StackedBatches(StackedTensors((batches,)))
    if is_a(batches, StackedRows) and batches.has_own_rows():
        return StackedBatches(batches)
    iterator = iter(batches)
    return GatheredBatches(iterator) if is_a(iterator, RowBatches) else Batches(iterator)


def _of_one_length(tensors: tuple[Any, ...]) -> tuple[Tensor, ...]:
    for i, tensor in enumerate(tensors):
        if not is_a(tensor, Tensor) or not tensor.ndarray.ndim:
            found = "a tensor without dimensions" if is_a(tensor, Tensor) else type(tensor).__name__
            raise TypeError(
                f"run() got {found} as number {i} of several arguments\n  in the call of run()\n"
                "  Several arguments are tensors whose first axis is the step; pass one iterable of batches otherwise."
            )
    lengths = [len(tensor.ndarray) for tensor in tensors]
    if len(set(lengths)) > 1:
        raise ValueError(
            f"run() got tensors for different numbers of steps: {lengths}\n  in the call of run()\n"
            "  The first axis of each is the step: pass tensors of one length."
        )
    return tensors
