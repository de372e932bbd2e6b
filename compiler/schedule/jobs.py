"""Jobs: groups with the buffers that they write. One job becomes one kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...ops.types import Type, int64
from ..checks import REQUIRED, Check
from ..demands import Demand, checked_base, demand_of
from ..errors import CompilerError
from ..graph import Graph, Node, Result
from .fusion.group import Group, Grouping
from .fusion.lowering import Lowering
from .memory import Names
from .records import Kernel
from .repeat import is_repeat, lower_repeat
from .row_blocks.records import RowBlockKernel, with_scratch
from .schedule import Schedule
from .specials import lower_check, lower_special, spare_size
from .values import Unfusable


class ScheduleError(CompilerError):
    """A graph that cannot be scheduled: a fault of the compiler, not of the user's program."""


@dataclass(eq=False)
class Job:
    """One kernel to come. `stores` names the buffers that get each stored node."""

    name: str
    group: Group | None
    stores: dict[Node, list[str]]
    check: tuple[Node, Demand, int] | None = None  # the integers, what is asked of them, code
    spare: str = ""  # more memory of a special kernel


@dataclass
class Plan:
    """Jobs in an order that respects values, and the memory that they use."""

    graph: Graph
    grouping: Grouping
    names: Names
    lowering: Lowering
    scheduled_body: Callable[[Node], Schedule]  # of a loop with carried values
    jobs: list[Job] = field(default_factory=list)
    memory: dict[Node, str] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)  # the buffers of inputs by label
    checks: tuple[Check, ...] = ()
    results: dict[Node, str] = field(default_factory=dict)
    updated: set[str] = field(default_factory=set)
    early: frozenset[str] = frozenset()

    def hold(self, name: str, of: Type) -> str:
        """A new buffer; it gets a place in the arena unless it gets a slot."""
        self.types[name] = of
        return name

    def lower(self, job: Job) -> tuple[Kernel, frozenset[str]]:
        """The kernel of a job, and the buffers that it reads."""
        group = job.group
        if group is not None and group.special is None:
            return self._fused(job, group)
        looked_at: set[str] = set()

        def place(node: Node) -> str | None:
            name = self.memory.get(node)
            looked_at.update([] if name is None else [name])
            return name

        if job.check is not None:
            return lower_check(job.name, *job.check, place), frozenset(looked_at)
        assert group is not None and group.special is not None
        special, output = group.special, job.stores[group.special][0]
        if is_repeat(special):
            body = self.scheduled_body(special)
            inside = body.buffers, body.kernels, body.checks
            return lower_repeat(job.name, special, output, job.spare, place, *inside), frozenset(looked_at)
        return lower_special(job.name, special, output, job.spare, place), frozenset(looked_at)

    def _fused(self, job: Job, group: Group) -> tuple[Kernel, frozenset[str]]:
        try:
            kernel, reads = self.lowering.kernel(job.name, group, job.stores, self.memory)
        except Unfusable as reason:
            raise ScheduleError(
                f"no kernel can compute {group.nodes[0]}: {reason}\n  at {group.nodes[0].origin}\n"
                "  this is a fault of the compiler; run the function without compile, and please report it"
            ) from reason
        return (with_scratch(kernel, job.spare) if isinstance(kernel, RowBlockKernel) else kernel), reads


def jobs_of(graph: Graph, grouping: Grouping, scheduled_body: Callable[[Node], Schedule]) -> Plan:
    """One job for each group and each check; inputs and results get their slots."""
    plan = Plan(graph, grouping, Names(), Lowering(grouping), scheduled_body)
    _add_slots(plan)
    results = {result.node: result for result in graph.results}
    wanted = _wanted_checks(plan)
    read = _read_outside(grouping) | {checked for checked, _ in wanted}
    for group in grouping.groups:
        name = plan.names.numbered(_kernel_name(group))
        stores = {
            node: [_buffer(plan, node, results.get(node))] for node in group.nodes if node in results or node in read
        }
        plan.memory.update({node: names[0] for node, names in stores.items()})
        plan.jobs.append(Job(name, group, stores, spare=_spare(plan, group)))
    _add_checks(plan, wanted)
    return plan


def _add_slots(plan: Plan) -> None:
    for node in plan.graph.inputs:
        name = plan.names.unique(node.label)
        plan.memory[node] = plan.inputs[node.label] = name
        plan.types[name] = node.type
        plan.slots[name] = 2 + len(plan.slots)


def _buffer(plan: Plan, node: Node, result: Result | None) -> str:
    if result is None:
        return plan.hold(plan.names.numbered(node.op.name), node.type)
    if result.into is not None:
        return _overwritten(plan, node, result.into)
    if result.is_check:
        return plan.hold(plan.names.unique(result.name), node.type)
    plan.results[node] = plan.hold(plan.names.unique(result.name), node.type)
    return plan.results[node]


def _spare(plan: Plan, group: Group) -> str:
    if group.blocks:
        size = -(-plan.lowering.scratch_bytes(group) // int64.itemsize)
        return plan.hold(plan.names.numbered("spare"), Type(int64, (size,)))
    if group.special is None:
        return ""
    if is_repeat(group.special):
        size = -(-plan.scheduled_body(group.special).arena_bytes // int64.itemsize)
    else:
        size = spare_size(group.special)
    return plan.hold(plan.names.numbered("spare"), Type(int64, (size,))) if size else ""


def _overwritten(plan: Plan, node: Node, label: str) -> str:
    """The input's own memory, except for special kernels, which may read an operand after they began to write."""
    name = plan.inputs[label]
    plan.updated.add(name)
    return name


def _read_outside(grouping: Grouping) -> set[Node]:
    """Candidates that another kernel reads."""
    found: set[Node] = set()
    for group in grouping.groups:
        for node in group.nodes:
            found.update(n for n in grouping.reads[node] if n not in group.nodes)
    return found


def _kernel_name(group: Group) -> str:
    ops = list(dict.fromkeys(node.op.name for node in group.nodes if node is not group.dot))
    first = [group.dot.op.name] if group.dot is not None else []
    return "_".join([*first, *ops[:4]])


def _wanted_checks(plan: Plan) -> dict[tuple[Node, Demand], Node]:
    """The nodes in memory that are to be checked, with what is asked of them, and the first op that asks."""
    wanted: dict[tuple[Node, Demand], Node] = {}
    for node in plan.graph.nodes():
        demand = demand_of(node)
        if demand is not None:
            wanted.setdefault((checked_base(node, plan.grouping.reads), demand), node)
    wanted.update({(r.node, Demand(0, 1, REQUIRED)): r.node for r in plan.graph.results if r.is_check})
    return wanted


def _add_checks(plan: Plan, wanted: Mapping[tuple[Node, Demand], Node]) -> None:
    """A job for each check; it runs before anything that uses or overwrites what it looks at."""
    checks = []
    for code, ((checked, demand), node) in enumerate(wanted.items(), 1):
        plan.jobs.append(Job(plan.names.numbered("check"), None, {}, (checked, demand, code)))
        checks.append(Check(code, node.op.name, demand.axis, demand.size, str(node.origin)))
    plan.checks = tuple(checks)
