"""The order of jobs: values before their users, checks before anything is overwritten, old values before new ones.

Where an input would be overwritten while somebody still needs its old value, and no order helps, the new value goes to
the arena and is copied at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ops.identity import copy_primitive
from ..graph import Node
from .group import Group
from .hazards import overwrites_early
from .jobs import Job, Plan
from .records import Kernel
from .space import space_of


def in_order(plan: Plan) -> list[Kernel]:
    """The kernels in the order in which they run."""
    while True:
        kernels, reads = _lowered(plan)
        for job in plan.jobs:
            clash = overwrites_early(kernels[job], plan.updated)
            if clash:
                _write_later(plan, job, clash)
                break
        else:
            order, stuck = _sorted(plan.jobs, _waits(plan, reads))
            if not stuck:
                plan.early = _results_before_checks(plan, order)
                return [kernels[job] for job in order]
            writer = next(job for job in stuck if _writes(job) & plan.updated)
            _write_later(plan, writer, _writes(writer) & plan.updated)


def _lowered(plan: Plan) -> tuple[dict[Job, Kernel], dict[Job, frozenset[str]]]:
    kernels, reads = {}, {}
    for job in plan.jobs:
        kernels[job], reads[job] = plan.lower(job)
    return kernels, reads


def _writes(job: Job) -> set[str]:
    return {name for names in job.stores.values() for name in names}


def _waits(plan: Plan, reads: Mapping[Job, frozenset[str]]) -> dict[Job, set[Job]]:
    """For each job the jobs that have to run before it."""
    computed = {node: job for job in plan.jobs for node in job.stores}
    by_buffer = {name: job for job in plan.jobs for name in _writes(job)}
    checks = [job for job in plan.jobs if job.check is not None]
    waits: dict[Job, set[Job]] = {job: set() for job in plan.jobs}
    for job in plan.jobs:
        waits[job].update(computed[n] for n in _values_read(plan, job) if n in computed)
        waits[job].update(check for check in checks if _waits_for_check(plan, job, check))
    for job in plan.jobs:
        # Who reads the old value of an input runs before the job that overwrites it.
        for name in reads[job] & plan.updated & _old_values(plan, job):
            waits[by_buffer[name]].add(job)
    for job in plan.jobs:
        waits[job].discard(job)
    return _results_last(plan, waits, checks)


def _results_last(plan: Plan, waits: dict[Job, set[Job]], checks: Sequence[Job]) -> dict[Job, set[Job]]:
    """Where no check needs a result, it is written after all of them: a gradient is written where the one before lies,
    which stays if a check fails."""
    needed: set[Job] = set()
    pending = list(checks)
    while pending:
        more = waits[pending.pop()] - needed
        needed |= more
        pending.extend(more)
    results = set(plan.results.values())
    return {
        job: own | set(checks) if _writes(job) & results and job not in needed else own for job, own in waits.items()
    }


def _results_before_checks(plan: Plan, order: Sequence[Job]) -> frozenset[str]:
    """The names of results that are written before some check."""
    last = max((place for place, job in enumerate(order) if job.check is not None), default=0)
    early = {name for job in order[:last] for name in _writes(job)}
    return frozenset(r.name for r in plan.graph.results if r.is_returned and plan.results[r.node] in early)


def _waits_for_check(plan: Plan, job: Job, check: Job) -> bool:
    """Who follows the indices that are checked, and who overwrites an input."""
    assert check.check is not None
    if _writes(job) & plan.updated:
        return True
    return job.group is not None and any(check.check[0] in plan.grouping.follows[node] for node in job.group.nodes)


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
    order: list[Job] = []
    done: set[Job] = set()
    rest = list(jobs)
    while rest:
        ready = [job for job in rest if waits[job] <= done]
        if not ready:
            break
        order.append(ready[0])
        done.add(ready[0])
        rest.remove(ready[0])
    return order, rest


def _write_later(plan: Plan, job: Job, clash: set[str]) -> None:
    """Let `job` write temporaries in place of the buffers in `clash`, and copy them at the end."""
    for node, names in list(job.stores.items()):
        for name in [n for n in names if n in clash]:
            temporary = plan.hold(plan.names.unique(f"{name}_new"), plan.types[name])
            job.stores[node] = [temporary if n == name else n for n in job.stores[node]]
            plan.memory[node] = job.stores[node][0]
            _add_copy(plan, node, name)


def _add_copy(plan: Plan, node: Node, name: str) -> None:
    copy = Node(copy_primitive, (node,), (), node.type, node.origin)
    group = Group((copy,), space_of(copy))
    plan.grouping.reads = {**plan.grouping.reads, copy: frozenset((node,))}
    plan.grouping.follows = {**plan.grouping.follows, copy: frozenset()}
    plan.jobs.append(Job(plan.names.numbered("copy"), group, {copy: [name]}))
