"""What the stages make of a pattern, for all sizes: found with two sets of stand-ins, which must agree."""

from __future__ import annotations

from dataclasses import dataclass

from ..codegen.render import render
from ..graph import Graph
from ..interface import Claim, Interface, Span
from ..passes.simplify import simplify
from ..schedule.fusion.grouping import Partition, partition_of
from ..schedule.plan import make_schedule
from ..schedule.prepare import prepared
from ..schedule.records import LoopKernel
from ..schedule.schedule import Schedule
from ..verify import verify
from .claims import noted
from .pattern import Pattern, SizedGraph
from .standins import SETS, NotSized, StandIns, is_size


@dataclass(frozen=True, eq=False)
class Way:
    """One way through the stages, with one set of stand-ins."""

    graph: Graph
    schedule: Schedule
    source: str
    lifetimes: tuple[Span, ...]
    claims: tuple[Claim, ...]
    partition: Partition = ()

    @property
    def interface(self) -> Interface:
        """What callers have to know of it."""
        return Interface(self.schedule.checks, self.schedule.early, 0, self.lifetimes, self.claims)


def plan(pattern: Pattern) -> Way:
    """The way of the pattern's graph with the first set of stand-ins; NotSized if it is another one with the second."""
    sets = [standins.first(len(pattern.sizes)) for standins in SETS]
    try:
        way = _planned(pattern.graph(sets[0]), sets[0])
        again = _planned(pattern.graph(sets[1]), sets[1], way.partition)
    except Exception as problem:  # whatever a stage says of extents that no memory can hold
        raise NotSized(f"a stage cannot work without the sizes: {problem}") from problem
    same = way.source == again.source and way.lifetimes == again.lifetimes
    if not same or set(way.claims) != set(again.claims):
        raise NotSized("the schedule depends on numbers of which the sizes are made")
    return way


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
