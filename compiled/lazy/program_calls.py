"""Calls of compiled graphs that are noted instead of made: what the interpreter of re-recorded calls knows of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...compiler.evaluate import evaluate_graph
from ...compiler.graph import Graph
from ...ops.array import Array
from ...ops.exposure import owner_of


class PendingArray:
    """A value between two programs (what a backward pass needs of its forward pass): it gets memory only if somebody
    still wants it when the segment that computes it is done."""

    __slots__ = ("__weakref__", "_array", "dtype", "place", "shape", "size")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, array: np.ndarray | None = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.size = 1  # whether it is worth computing is not asked
        self.place: Any = None
        self._array = array

    @classmethod
    def holding(cls, array: np.ndarray) -> PendingArray:
        """One that has its value already."""
        return cls(array.shape, array.dtype, array)

    def now(self, memory: int = 0) -> np.ndarray:
        """Its memory; it holds the value once the segment is done."""
        if self._array is None:
            self._array = np.empty(self.shape, self.dtype)
        return self._array


class PendingResults:
    """The values that a backward pass needs of one call: they live as long as the call's node on the tape. Their tokens
    and memories are counted on from the `token` and the `memory` of the first."""

    __slots__ = ("__weakref__", "_arrays", "memory", "segment", "token", "types")

    def __init__(self, types: tuple[tuple[tuple[int, ...], np.dtype], ...], segment: Any, token: int, memory: int):
        self.types, self.segment, self.token, self.memory = types, segment, token, memory
        self._arrays: dict[int, np.ndarray] = {}

    def now(self, memory: int) -> np.ndarray:
        """The memory with that number; it holds the value once the segment is done."""
        if memory not in self._arrays:
            self._arrays[memory] = np.empty(*self.types[memory - self.memory])
        return self._arrays[memory]

    def __iter__(self) -> Iterator[PendingArray]:
        return (PendingResult(self, index) for index in range(len(self.types)))


class PendingResult(PendingArray):
    """One of `PendingResults`."""

    __slots__ = ("_index", "_results")

    def __init__(self, results: PendingResults, index: int) -> None:
        super().__init__(*results.types[index])
        self._results, self._index = results, index
        self.place = (results.segment, results.token + index)

    def now(self, memory: int = 0) -> np.ndarray:
        return self._results.now(self._results.memory + self._index)


class ProgramCall:
    """A compiled graph whose calls can be noted.

    `operands` are the labels of the inputs that differ from call to call; `captured` the arrays behind the others, the
    same objects at each call. `key` stands for all of this in the tree of events.
    """

    def __init__(self, graph: Graph, operands: Sequence[str], captured: Sequence[tuple[str, Array]]) -> None:
        self.key = object()
        self.graph = graph
        self.operands = tuple(operands)
        self.captured = tuple(captured)
        self.results = tuple(r.name for r in graph.results if r.is_returned)
        self.written = frozenset(r.into for r in graph.results if r.into is not None)
        self.order = [id(array.buffer.whole) for _, array in captured]
        self.wholes = frozenset(self.order)
        self.wholes_by_owner = {owner_of(array.buffer.whole): id(array.buffer.whole) for _, array in captured}
        self.owners = frozenset(self.wholes_by_owner)
        self._kept = [array.buffer.whole for _, array in captured]  # so that the identities stay taken
        self._shown = [array.ndarray for _, array in captured]

    @property
    def is_regular(self) -> bool:
        """False if two captured arrays lie in one memory without knowing of each other."""
        return len(self.wholes) == len(self.wholes_by_owner)

    def is_current(self) -> bool:
        """True as long as the captured tensors show the arrays that they showed at first."""
        return not self.moved()

    def moved(self) -> list[str]:
        """The labels of captured tensors that show other arrays by now."""
        now = zip(self.captured, self._shown, strict=True)
        return [label for (label, array), shown in now if array.ndarray is not shown]

    def run(self, given: Mapping[str, np.ndarray]) -> ProgramRun:
        """The call, to be made by numpy."""
        return ProgramRun(self.graph, given)


class ProgramRun:
    """One call of a graph by numpy, to be made once: after an interrupt `finish` does what is left."""

    def __init__(self, graph: Graph, given: Mapping[str, np.ndarray]) -> None:
        self._graph = graph
        self._given = given
        self._results: dict[str, np.ndarray] | None = None

    def finish(self) -> dict[str, np.ndarray]:
        """The results by name; written inputs are written to."""
        if self._results is None:
            self._results = evaluate_graph(self._graph, self._given)
        for result in self._graph.results:
            if result.into is not None:
                np.copyto(self._given[result.into], self._results[result.name])
        return self._results
