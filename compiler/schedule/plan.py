"""The scheduler on one screen: graph -> groups -> jobs in order -> memory -> kernels.

make_schedule:  Graph    -> Schedule
  prepared:     Graph    -> Graph       results that need a copy get one; transposed products are turned around
  grouped:      Graph    -> Grouping    which nodes share a kernel
  jobs_of:      Grouping -> jobs        what runs, what it stores where
  in_order:     jobs     -> kernels     operands before users, readers before the overwriting of an input
  within:       kernels  -> kernels     values computed again instead of kept, where memory is limited
  shared:       kernels  -> kernels     which loops threads share, where there is work for two
  placed:       kernels  -> kernels     every buffer in its slot or in the arena
  ahead:        kernels  -> kernels     which rows are fetched from memory before they are worked on
  hidden_steps: kernels  -> kernels     which steps the C compiler must not know
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from sys import maxsize

from ..errors import MemoryLimitError
from ..graph import Graph, Node
from ..passes.simplify import simplify
from ..sizes.standins import StandIns
from .arena import placed, placed_later
from .fusion.grouping import Partition, grouped, grouped_as
from .jobs import Plan, jobs_of
from .order import in_order, in_thrifty_order
from .prepare import prepared
from .recompute import within
from .records import Buffer, Kernel
from .repeat import body_graph
from .rewrites.ahead import ahead
from .rewrites.hidden_steps import hidden_steps
from .schedule import Schedule
from .threads import shared


def make_schedule(
    graph: Graph,
    sizes: StandIns | None = None,
    partition: Partition | None = None,
    memory_limit: int | None = None,
) -> Schedule:
    """Kernels, buffers and checks of one graph.

    Raises ScheduleError, naming the node, for a primitive that no kernel can compute. `sizes` are the stand-ins in a
    graph for all sizes. `partition` is what was found for such a graph with other stand-ins. With `memory_limit` the
    arena has at most so many bytes, or a MemoryLimitError says why it cannot.
    """
    ready = prepared(graph)
    grouping = grouped(ready) if partition is None else grouped_as(ready, partition)
    plan: Plan = jobs_of(ready, grouping, _bodies())
    if sizes is not None:
        kernels = shared(in_order(plan, large=maxsize))  # the numbers are stand-ins
        buffers, final, lifetimes = placed_later(plan, kernels, len(sizes.numbers))
        final = hidden_steps(ahead(final, buffers))
        return Schedule(graph.name, buffers, final, 0, plan.checks, sizes, _slots(buffers), lifetimes, plan.early)
    kernels = shared(in_order(plan) if memory_limit is None else _limited(plan, memory_limit))
    buffers, final, arena_bytes = placed(plan, kernels)
    final = hidden_steps(ahead(final, buffers))
    return Schedule(graph.name, buffers, final, arena_bytes, plan.checks, early=plan.early, memory_limit=memory_limit)


def _limited(plan: Plan, limit: int) -> list[Kernel]:
    """The kernels in an arena of at most `limit` bytes."""
    refused: list[MemoryLimitError] = []
    for order in (functools.partial(in_order, large=0), in_thrifty_order):
        try:
            return within(plan, order(plan), limit)
        except MemoryLimitError as error:
            refused.append(error)
    raise min(refused, key=lambda error: error.least)


def _bodies() -> Callable[[Node], Schedule]:
    """Schedules the bodies of loops, each once."""
    known: dict[Node, Schedule] = {}

    def scheduled(node: Node) -> Schedule:
        if node not in known:
            known[node] = make_schedule(simplify(body_graph(node)))
        return known[node]

    return scheduled


def _slots(buffers: Iterable[Buffer]) -> int:
    """The first slot behind those of inputs and results."""
    return 2 + sum(buffer.place == "slot" for buffer in buffers)
