"""One program for all sizes: made of two recordings, and fitted to each size after one more recording of it.

The graph of the pattern goes through the same stages as any other, once with each set of stand-ins. What comes out must
be the same text, the same memory and the same claims: then it is made of sums and products of the sizes alone, and
holds for each size for which the claims do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...ops.lazy import late, lazy
from ...ops.locks import new_lock
from ...ops.types import Type
from ...runtime.pages import working_memory
from ...runtime.program import SlotTable
from ..checks import Check
from ..graph import Graph
from ..interface import Interface
from ..schedule.memory import Lifetime, offsets
from ..verify import is_well_formed
from .pattern import Pattern, SizedGraph
from .simplest import simplest
from .standins import NotSized

if TYPE_CHECKING:
    from ..schedule.schedule import Schedule
    from .planning import Way


class Known(Protocol):
    """What is known of a pattern's graph, and learns what the stages say of it."""

    interface: Interface | None
    refusal: str | None

    def keep_interface(self, interface: Interface) -> None:
        """The stages make a program of the graph."""

    def keep_refusal(self, reason: str) -> None:
        """They refuse it."""


Find = Callable[[Graph], Known]

#: What a stage may fail by that says nothing of the graph: how much memory and stack are left, the state of files.
_OF_THE_MOMENT = (MemoryError, RecursionError, OSError)

planning = late(".planning", __package__)


class SharedArena:
    """Memory between kernels, for the programs of all sizes: as much as the largest so far wants.

    Who runs one of these programs, or adds one, holds `lock`.
    """

    def __init__(self) -> None:
        self.lock = new_lock(around_steps=True)
        self._memories = [working_memory(1)]  # one, but while the tables change from one to the next
        self._tables: list[tuple[SlotTable, int]] = []

    def serve(self, table: SlotTable, slot: int, nbytes: int) -> None:
        """Let `slot` of `table` show at least `nbytes`, now and after the arena has grown."""
        with self.lock:
            self._tables.append((table, slot))
            if nbytes > len(self._memories[-1]):
                self._memories.append(working_memory(nbytes))
            for known, place in self._tables:
                known.set_array(place, self._memories[-1])
            del self._memories[:-1]


@dataclass(frozen=True, eq=False)
class Fit:
    """What a program for all sizes needs for one of them."""

    sizes: tuple[int, ...]
    words: np.ndarray  # what the table of sizes holds: the sizes, then offsets in the arena
    numbers: Mapping[str, np.ndarray]  # the memory of the inputs that hold numbers, by label
    result_types: tuple[Type, ...]
    checks: tuple[Check, ...]
    arena_bytes: int
    arena: SharedArena


def with_stand_ins(pattern: Pattern) -> SizedGraph:
    """The graph of a pattern with stand-ins for its sizes."""
    graph = pattern.graph(pattern.standins)
    return SizedGraph(graph.name, graph.inputs, graph.results, pattern.standins)


class Sizing:
    """A pattern with what the stages make of it."""

    def __init__(self, one: Graph, other: Graph, find: Find) -> None:
        """NotSized if the recordings do not differ by sizes alone. `find` gives what is known already."""
        self.pattern = Pattern(one, other)
        self.recorded = with_stand_ins(self.pattern)
        self.arena = SharedArena()
        self._known = find(self.recorded)
        if self._known.refusal is not None:
            raise NotSized(self._known.refusal)
        if self._known.interface is None:
            self._decide(self._known)

    def _decide(self, known: Known) -> None:
        try:
            known.keep_interface(self.way.interface)
        except NotSized as reason:
            if not isinstance(reason.__cause__, _OF_THE_MOMENT):
                known.keep_refusal(str(reason))
            raise

    @lazy
    def way(self) -> Way:
        """What the stages make of the pattern."""
        way: Way = planning.plan(self.pattern)
        return way

    @property
    def graph(self) -> Graph:
        """The simplified graph, with sizes by name."""
        return self.way.graph

    @property
    def schedule(self) -> Schedule:
        """Kernels and buffers, with sizes by name."""
        return self.way.schedule

    @property
    def source(self) -> str:
        """The C."""
        return self.way.source

    @property
    def units(self) -> tuple[str, ...]:
        """The C as it is compiled."""
        return (self.source,)

    @property
    def interface(self) -> Interface:
        """What callers have to know of it."""
        return self._known.interface or self.way.interface

    def fit(self, graph: Graph) -> Fit:
        """What the size of a recorded graph needs; NotSized if the program does not serve that."""
        sizes, numbers = self._fitting(graph)
        interface = self.interface
        for low, high in interface.claims:
            if not low.at(sizes) < high.at(sizes):
                raise NotSized(f"the program relies on {low} < {high}")
        where, nbytes = offsets([Lifetime(p.at(sizes), first, last) for p, first, last in interface.lifetimes])
        dtypes = {number.label: number.dtype.numpy for number in self.pattern.numbers.values()}
        return Fit(
            sizes=sizes,
            words=np.array([*sizes, *where], np.int64),
            numbers={label: np.array(value, dtypes[label]) for label, value in numbers.items()},
            result_types=tuple(r.node.type for r in graph.results if r.is_returned),
            checks=tuple(replace(c, size=self._real(c.size, sizes)) for c in interface.checks),
            arena_bytes=nbytes,
            arena=self.arena,
        )

    def _fitting(self, graph: Graph) -> tuple[tuple[int, ...], dict[str, Any]]:
        """Sizes and numbers with which the pattern computes what `graph` does."""
        try:
            return self.pattern.fit(graph)
        except NotSized:
            sizes = self.pattern.sizes_of(graph)
            example, numbers = self.pattern.example(sizes)
            if not is_well_formed(example) or simplest(example) != simplest(graph):
                raise
            return sizes, numbers

    def _real(self, number: int, sizes: tuple[int, ...]) -> int:
        return self.pattern.standins.polynomial(number).at(sizes)
