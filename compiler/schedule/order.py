"""The order of jobs: values before their users, checks before anything is overwritten, old values before new ones.

Where an input would be overwritten while somebody still needs its old value, and no order helps, the new value goes to
the arena and is copied at the end.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from ...ops.identity import copy_primitive
from ..graph import Node
from .fusion.group import Group
from .hazards import overwrites_early
from .jobs import Job, Plan
from .memory import nbytes
from .memory_order import Usage, in_less_memory, thrifty
from .records import Kernel
from .space import space_of

#: Where the arena may have more bytes than this, jobs run in an order that takes less: a core's own cache.
LARGE = 1 << 20


Choice = Callable[[Sequence[Job], Mapping[Job, set[Job]], Usage], Sequence[Job]]


def in_order(plan: Plan, large: int = LARGE) -> list[Kernel]:
    """The kernels in the order in which they run. Where buffers between them have more than `large` bytes in all, what
    frees memory comes first, if that makes less of it."""

    def choice(order: Sequence[Job], waits: Mapping[Job, set[Job]], usage: Usage) -> Sequence[Job]:
        return in_less_memory(order, waits, usage) if sum(usage.sizes.values()) > large else order

    return _in_order(plan, choice)


def in_thrifty_order(plan: Plan) -> list[Kernel]:
    """The kernels in the order in which what frees memory comes first."""
    return _in_order(plan, thrifty)


def _in_order(plan: Plan, choice: Choice) -> list[Kernel]:
    lowered = _Lowered(plan)
    for job in plan.jobs:  # which grow by copies
        clash = overwrites_early(lowered.kernel(job), plan.updated)
        if clash:
            lowered.forget(_write_later(plan, job, clash))
    while True:
        waits = _waits(plan, lowered)
        order, stuck = _sorted(plan.jobs, waits)
        if not stuck:
            chosen = choice(order, waits, _usage(plan, lowered))
            plan.early = _results_before_checks(plan, chosen)
            return [lowered.kernel(job) for job in chosen]
        writer = next(job for job in _in_cycles(stuck, waits) if _writes(job) & plan.updated)
        lowered.forget(_write_later(plan, writer, _writes(writer) & plan.updated))


@dataclass
class _Lowered:
    """The kernels of jobs with the buffers that they read, as long as their memory stays where it is."""

    plan: Plan
    _known: dict[Job, tuple[Kernel, frozenset[str]]] = field(default_factory=dict)

    def kernel(self, job: Job) -> Kernel:
        return self._of(job)[0]

    def reads(self, job: Job) -> frozenset[str]:
        return self._of(job)[1]

    def forget(self, moved: Iterable[Node]) -> None:
        """Nodes have got other memory: those who store or read them are lowered again."""
        moved = set(moved)
        for job in list(self._known):
            if not moved.isdisjoint(job.stores) or not moved.isdisjoint(_values_read(self.plan, job)):
                del self._known[job]

    def _of(self, job: Job) -> tuple[Kernel, frozenset[str]]:
        if job not in self._known:
            self._known[job] = self.plan.lower(job)
        return self._known[job]


def _usage(plan: Plan, lowered: _Lowered) -> Usage:
    slots = {*plan.slots, *plan.results.values()}
    reads = {job: lowered.reads(job) - slots for job in plan.jobs}
    writes = {job: _writes(job) - slots for job in plan.jobs}
    return Usage(reads, writes, {name: nbytes(plan.types[name]) for names in writes.values() for name in names})


def _writes(job: Job) -> set[str]:
    return {name for names in job.stores.values() for name in names}


#: What waits for all checks waits for this.
_CHECKED = Job("checked", None, {})


def _waits(plan: Plan, lowered: _Lowered) -> dict[Job, set[Job]]:
    """For each job the jobs that have to run before it."""
    computed = {node: job for job in plan.jobs for node in job.stores}
    by_buffer = {name: job for job in plan.jobs for name in _writes(job)}
    checks: dict[Node, list[Job]] = defaultdict(list)
    for job in plan.jobs:
        if job.check is not None:
            checks[job.check[0]].append(job)
    waits: dict[Job, set[Job]] = {_CHECKED: {job for same in checks.values() for job in same}}
    for job in plan.jobs:
        waits[job] = {computed[n] for n in _values_read(plan, job) if n in computed}
        waits[job].update(check for node in _indices_followed(plan, job) for check in checks.get(node, ()))
        if _writes(job) & plan.updated:
            waits[job].add(_CHECKED)
    for job in plan.jobs:
        # Who reads the old value of an input runs before the job that overwrites it.
        for name in lowered.reads(job) & plan.updated & _old_values(plan, job):
            waits[by_buffer[name]].add(job)
    for job in plan.jobs:
        waits[job].discard(job)
    return _results_last(plan, waits)


def _results_last(plan: Plan, waits: dict[Job, set[Job]]) -> dict[Job, set[Job]]:
    """Where no check needs a result, it is written after all of them: a gradient is written where the one before lies,
    which stays if a check fails."""
    needed: set[Job] = set()
    pending = list(waits[_CHECKED])
    while pending:
        more = waits[pending.pop()] - needed
        needed |= more
        pending.extend(more)
    results = set(plan.results.values())
    return {
        job: own | {_CHECKED} if _writes(job) & results and job not in needed else own for job, own in waits.items()
    }


def _results_before_checks(plan: Plan, order: Sequence[Job]) -> frozenset[str]:
    """The names of results that are written before some check."""
    last = max((place for place, job in enumerate(order) if job.check is not None), default=0)
    early = {name for job in order[:last] for name in _writes(job)}
    return frozenset(r.name for r in plan.graph.results if r.is_returned and plan.results[r.node] in early)


def _indices_followed(plan: Plan, job: Job) -> set[Node]:
    """The index arrays that a job follows to memory."""
    return set() if job.group is None else {n for node in job.group.nodes for n in plan.grouping.follows[node]}


def _values_read(plan: Plan, job: Job) -> set[Node]:
    if job.check is not None:
        return {job.check[0]}
    assert job.group is not None
    return {n for node in job.group.nodes for n in plan.grouping.reads[node]} - set(job.group.nodes)


def _old_values(plan: Plan, job: Job) -> set[str]:
    """The buffers of graph inputs that a job reads as inputs, not as new values of theirs."""
    return {plan.memory[node] for node in _values_read(plan, job) if node.is_input}


def _sorted(jobs: Sequence[Job], waits: Mapping[Job, set[Job]]) -> tuple[list[Job], list[Job]]:
    """Jobs in order, as near to the given one as possible, and those that wait for each other."""
    place = {job: place for place, job in enumerate([_CHECKED, *jobs])}
    sorter = TopologicalSorter(waits)
    with suppress(CycleError):
        sorter.prepare()  # what is on no cycle comes out even so
    queue: list[tuple[int, Job]] = []
    order: list[Job] = []
    while True:
        for job in sorter.get_ready():
            heapq.heappush(queue, (place[job], job))
        if not queue:
            done = set(order)
            return [job for job in order if job is not _CHECKED], [job for job in jobs if job not in done]
        order.append(heapq.heappop(queue)[1])
        sorter.done(order[-1])


def _in_cycles(stuck: Sequence[Job], waits: Mapping[Job, set[Job]]) -> list[Job]:
    """Without those that only wait for a cycle: other memory for what they write would break none."""
    left = dict.fromkeys([_CHECKED, *stuck], 0)  # how many of these wait for it
    for waiting in left:
        for job in waits[waiting] & left.keys():
            left[job] += 1
    free = [job for job, count in left.items() if not count]
    for waiting in free:  # which grows
        del left[waiting]
        for job in waits[waiting] & left.keys():
            left[job] -= 1
            if not left[job]:
                free.append(job)
    return [job for job in stuck if job in left]


def _write_later(plan: Plan, job: Job, clash: set[str]) -> list[Node]:
    """Let `job` write temporaries in place of the buffers in `clash`, and copy them at the end; the nodes in them."""
    moved = []
    for node, names in list(job.stores.items()):
        for name in [n for n in names if n in clash]:
            temporary = plan.hold(plan.names.unique(f"{name}_new"), plan.types[name])
            job.stores[node] = [temporary if n == name else n for n in job.stores[node]]
            plan.memory[node] = job.stores[node][0]
            _add_copy(plan, node, name)
            moved.append(node)
    return moved


def _add_copy(plan: Plan, node: Node, name: str) -> None:
    copy = Node(copy_primitive, (node,), (), node.type, node.origin)
    group = Group((copy,), space_of(copy))
    plan.grouping.reads[copy] = frozenset((node,))
    plan.grouping.follows[copy] = frozenset()
    plan.jobs.append(Job(plan.names.numbered("copy"), group, {copy: [name]}))
