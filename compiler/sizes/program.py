"""One program for all sizes: made of two recordings, and fitted to each size after one more recording of it.

The graph of the pattern goes through the same stages as any other, once with each set of stand-ins. What comes out must
be the same text, the same memory and the same claims: then it is made of sums and products of the sizes alone, and
holds for each size for which the claims do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...ops.locks import new_lock
from ...ops.types import Type
from ...runtime.pages import working_memory
from ...runtime.program import SlotTable
from ..codegen.render import render
from ..graph import Graph
from ..passes.simplify import simplify
from ..printing import graph_text
from ..schedule.fusion.grouping import Partition, partition_of
from ..schedule.memory import Lifetime, offsets
from ..schedule.plan import make_schedule
from ..schedule.prepare import prepared, without_empty_folds
from ..schedule.records import Check, LoopKernel
from ..schedule.schedule import Schedule
from ..verify import verify
from .claims import noted
from .pattern import Pattern
from .standins import SETS, NotSized, Polynomial, StandIns, is_size

Claim = tuple[Polynomial, Polynomial]


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


@dataclass(frozen=True, eq=False, repr=False)
class SizedGraph(Graph):
    """A graph with stand-ins. Its text has the sizes by name; it does not read back."""

    standins: StandIns

    def __str__(self) -> str:
        return graph_text(self.name, self.nodes(), self.results, self.standins.named)

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Way:
    """One way through the stages, with one set of stand-ins."""

    graph: Graph
    schedule: Schedule
    source: str
    lifetimes: tuple[tuple[Polynomial, int, int], ...]
    claims: tuple[Claim, ...]
    partition: Partition = ()


class Sizing:
    """A pattern with what the stages make of it."""

    def __init__(self, one: Graph, other: Graph) -> None:
        """NotSized if the recordings do not differ by sizes alone."""
        self.pattern = Pattern(one, other)
        recorded = self.pattern.graph(self.pattern.standins)
        self.recorded = SizedGraph(recorded.name, recorded.inputs, recorded.results, self.pattern.standins)
        sets = [standins.first(len(self.pattern.sizes)) for standins in SETS]
        try:
            self.way = _planned(self.pattern.graph(sets[0]), sets[0])
            again = _planned(self.pattern.graph(sets[1]), sets[1], self.way.partition)
        except Exception as problem:  # whatever a stage says of extents that no memory can hold
            raise NotSized(f"a stage cannot work without the sizes: {problem}") from problem
        same = self.way.source == again.source and self.way.lifetimes == again.lifetimes
        if not same or set(self.way.claims) != set(again.claims):
            raise NotSized("the schedule depends on numbers of which the sizes are made")
        self.arena = SharedArena()

    def fit(self, graph: Graph) -> Fit:
        """What the size of a recorded graph needs; NotSized if the program does not serve that."""
        sizes, numbers = self._fitting(graph)
        for low, high in self.way.claims:
            if not low.at(sizes) < high.at(sizes):
                raise NotSized(f"the program relies on {low} < {high}")
        where, nbytes = offsets([Lifetime(p.at(sizes), first, last) for p, first, last in self.way.lifetimes])
        dtypes = {number.label: number.dtype.numpy for number in self.pattern.numbers.values()}
        return Fit(
            sizes=sizes,
            words=np.array([*sizes, *where], np.int64),
            numbers={label: np.array(value, dtypes[label]) for label, value in numbers.items()},
            result_types=tuple(r.node.type for r in graph.results if r.is_returned),
            checks=tuple(replace(c, size=self._real(c.size, sizes)) for c in self.way.schedule.checks),
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
            if _simplest(example) != _simplest(graph):
                raise
            return sizes, numbers

    def _real(self, number: int, sizes: tuple[int, ...]) -> int:
        return self.pattern.standins.polynomial(number).at(sizes)


def _simplest(graph: Graph) -> Graph:
    """A graph without what computes nothing. A recording for one row has no broadcasts and no sums over rows."""
    return simplify(without_empty_folds(simplify(graph)))


def _planned(graph: Graph, standins: StandIns, partition: Partition | None = None) -> Way:
    """The stages for one set of stand-ins; which nodes share a kernel is found once for all sets.

    What that search compares is no claim: kernels rely on what they are lowered with, which comes after it.
    """
    simplified = simplify(verify(graph))
    ready = prepared(simplified)
    if partition is None:
        partition = partition_of(ready)
    with noted() as claims:
        schedule = make_schedule(ready, standins, partition)
        source = render(schedule)
    _refuse_arrays(schedule)
    poly = standins.polynomial
    lifetimes = tuple((poly(life.nbytes), life.first, life.last) for life in schedule.lifetimes)
    shown = SizedGraph(simplified.name, simplified.inputs, simplified.results, standins)
    return Way(shown, schedule, source, lifetimes, tuple((poly(a), poly(b)) for a, b in claims), partition)


def _refuse_arrays(schedule: Schedule) -> None:
    """Arrays on the stack have a length that the C compiler knows."""
    for kernel in schedule.kernels:
        if isinstance(kernel, LoopKernel):
            lengths = [a.size for a in kernel.locals]
            lengths += [a.size for stage in kernel.stages for a in stage.accumulators]
            lengths += [a.size for a in kernel.totals]
            if any(map(is_size, lengths)):
                raise NotSized(f"{kernel.name} keeps an array on the stack that is as long as a size")
