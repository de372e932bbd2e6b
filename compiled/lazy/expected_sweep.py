"""The expected backward pass: a `SweepPlan`, written as one function.

Between two changes of anything that is counted, a pass through the same calls can differ from the one before in what
was written since, in gradients that are there, and in the memory of what it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.exposure import exposed_owners
from ...tape.grad_mode import is_grad_enabled, switches
from ...tape.nodes import AccumulateGrad
from ...tensors.tensor import Tensor
from ...tracing.watch import changes
from ..common.tensor_memory import memory_of
from ..common.written_code import lines, written
from .expected_call import NOT_NOTED
from .gradient_pool import GradientPool
from .program_calls import PendingResults
from .sweeps import MOST_PASSES, Observed, Read, SweepPlan, is_hooked

SOURCE = """
def note(deferred, args):
    if not switches.enabled or changes.count != leaves.count and not leaves.fit():
        return NOT_NOTED
    [loss] = args
    if type(loss) is not Tensor or loss._base is not None or loss._output != {output}:
        return NOT_NOTED
    segment, x0 = deferred.segment, loss._node
    {nodes}
    if {refused}:
        return NOT_NOTED
    {reads}
    pool = leaves.pool()
    kept = pool.kept
    deferred.pools.append(pool)
    deferred.memories[{first}:] = pool.references
    deferred.number_of.update(pool.numbers)
    {met}
    deferred.ops += {ops}
    deferred.here = after
    {gradients}
    changes.grads += 1
    {released}
"""

NODE = """
    if (type(x{i}) is not kind{i} or x{i}._backward is not backward{i} or x{i}.segment {is_pending} segment
            or {token} or x{i}._released or x{i}.tensor_hooks or x{i}.retained or x{i}.pre_hooks or x{i}.post_hooks):
        return NOT_NOTED
    i{i} = x{i}.inputs
    {intact}
"""
INTACT = """if x{i}.still is not still{i}:
        return NOT_NOTED
    if x{i}.made_at != still{i}.now() or x{i}._outputs:
        if not x{i}.is_intact(): return NOT_NOTED
    elif x{i}.versions != ({versions}){given}:
        return NOT_NOTED"""

SHOWN = """
    t{i} = i{call}[{position}][1]
    m{i} = memory_of(t{i})
    w{i}, _, _, o{i} = m{i}
    if (m{i}[1] is not layout{i} or t{i}.steps or t{i}.buffer.whole is not w{i} or o{i} in taken
            or o{i} in deferred.owners or o{i} in exposed or id(w{i}) in deferred.number_of):
        return NOT_NOTED
"""
COPY = """
    t{i} = i{call}[{position}][1]
    m{i}, h{i} = memory_of(t{i}), t{i}.buffer.whole
    o{i} = m{i}[3]
    if (m{i}[1] is not layout{i} or o{i} not in exposed and (not t{i}.steps or t{i}.ndarray.size == h{i}.size
            or o{i} in taken or deferred.owners.get(o{i}, id(h{i})) != id(h{i}) or id(h{i}) in deferred.number_of)):
        return NOT_NOTED
    w{i} = array(t{i}.ndarray, order="C")
"""


class Leaves:
    """The leaves of a plan: whether they are still as the plan has them, and gradients for them."""

    def __init__(self, plan: SweepPlan) -> None:
        self._plan = plan
        self._shown = [leaf.tensor.ndarray for leaf in plan.leaves]
        self._pools: list[GradientPool] = []
        self.count = changes.count  # at which they were found to be so
        self.edges: list[Any] = [visited.node.edges for visited in plan.visited]

    def fit(self) -> bool:
        """True if they take gradients as they did, after something was rebound somewhere."""
        count = changes.count
        for leaf, shown in zip(self._plan.leaves, self._shown, strict=True):
            tensor = leaf.tensor
            if not tensor._requires or tensor._node is not None or is_hooked(tensor) or tensor.ndarray is not shown:
                return False
        self.count = count
        return True

    def are_behind(self, call: int, edges: tuple[Any, ...]) -> bool:
        """True if the edges that lead to no other call lead where the plan says."""
        for edge, leads_to in zip(edges, self._plan.visited[call].edges, strict=True):
            node = edge[0]
            if isinstance(leads_to, Tensor):
                if type(node) is not AccumulateGrad or node.variable is not leads_to:
                    return False
            elif leads_to is None and node is not None:
                return False
        self.edges[call] = edges
        return True

    def pool(self) -> GradientPool:
        """Gradients that nobody holds; threads take turns."""
        try:
            pool = self._pools.pop()
        except IndexError:
            pool = None
        if pool is None or not pool.renewed():
            plan = self._plan
            tensors, memories = [leaf.tensor for leaf in plan.leaves], [leaf.memory for leaf in plan.leaves]
            pool = GradientPool(tensors, memories, plan.before.memories, plan.after.memories - plan.before.memories)
        self._pools.append(pool)
        return pool


def _function(plan: SweepPlan, deferred: Any) -> Callable[..., Any]:
    """The function for passes like `plan`, which has just been observed."""
    names: dict[str, Any] = {
        "switches": switches, "changes": changes, "leaves": Leaves(plan), "NOT_NOTED": NOT_NOTED, "Tensor": Tensor,
        "after": plan.after, "memory_of": memory_of, "exposed": exposed_owners, "array": np.array,
        "taken": frozenset().union(*(call.owners for call in plan.before.captured)),
    }  # fmt: skip
    names.update((f"leaf{j}", leaf.tensor) for j, leaf in enumerate(plan.leaves))
    nodes = _nodes(plan, names)
    reads = "".join(_read(i, read, plan, deferred, names) for i, read in enumerate(plan.reads))
    given = [
        f"leaf{j}._grad = g = kept[{j}][0]; g.place = (segment, {leaf.token})" for j, leaf in enumerate(plan.leaves)
    ]
    shown = [i for i, read in enumerate(plan.reads) if not read.is_saved]
    if len(shown) > 1:
        reads += f"    if len({{{', '.join(f'o{i}' for i in shown)}}}) != {len(shown)}: return NOT_NOTED\n"
    source = SOURCE.format(
        output=plan.output, first=plan.before.memories, ops=plan.ops, nodes=nodes.strip(),
        reads=reads.strip() or "pass",
        refused=" or ".join(f"leaf{j}._grad is not None" for j in range(len(plan.leaves))) or "False",
        met=lines(4, [line for i, read in enumerate(plan.reads) for line in _met(i, read)]),
        gradients=lines(4, given), released=lines(4, [f"x{i}.release()" for i in range(len(plan.visited))]),
    )  # fmt: skip
    return written(source, f"<backward pass of {plan.visited[0].node.title}>", names)


def _nodes(plan: SweepPlan, names: dict[str, Any]) -> str:
    """The checks of all calls, in the order in which edges lead there."""
    text, reached = "", {0}
    for i, visited in enumerate(plan.visited):
        node = visited.node
        names.update({f"kind{i}": type(node), f"backward{i}": node.backward_programs, f"still{i}": node.still})
        text += NODE.format(
            i=i, is_pending="is not" if visited.is_pending else "is", intact=_intact(i, visited),
            token=f"x{i}.token != {node.token}" if visited.is_pending else "False",
        )  # fmt: skip
        text += f"    e{i} = x{i}.edges\n"
        text += f"    if e{i} is not leaves.edges[{i}] and not leaves.are_behind({i}, e{i}): return NOT_NOTED\n"
        for j, leads_to in enumerate(visited.edges):
            if type(leads_to) is int and leads_to in reached:
                text += f"    if e{i}[{j}][0] is not x{leads_to}: return NOT_NOTED\n"
            elif type(leads_to) is int:
                reached.add(leads_to)
                text += f"    x{leads_to} = e{i}[{j}][0]\n"
        text += "".join(
            f"    if i{i}[{position}][1].place != (segment, {token}): return NOT_NOTED\n"
            for call, position, token in plan.known
            if call == i
        )
    return text


def _intact(i: int, visited: Any) -> str:
    """The check that nothing has been written to what the call has kept."""
    if visited.node.still is None:
        return f"if x{i}.still is not None or not x{i}.is_intact(): return NOT_NOTED"
    count = len(visited.inputs)
    versions = "".join(f"i{i}[{j}][3].version, " for j in range(count))
    arguments = range(len(visited.node.still.labels), count)
    given = "".join(f" or i{i}[{j}][1].ndarray is not i{i}[{j}][2]" for j in arguments)
    return INTACT.format(i=i, versions=versions, given=given)


def _read(i: int, read: Read, plan: SweepPlan, deferred: Any, names: dict[str, Any]) -> str:
    """What is met: a tensor that a call has kept, or a value that it has saved."""
    if read.is_saved:
        names["saved_value"] = _saved_value
        return f"    w{i} = saved_value(x{read.call}._saved, {read.position})\n"
    whole = deferred.memories[read.memory]
    names[f"layout{i}"] = plan.layouts[read.token]
    assert whole.shape == names[f"layout{i}"].shape
    return (SHOWN if read.as_it_is else COPY).format(i=i, call=read.call, position=read.position)


def _met(i: int, read: Read) -> list[str]:
    met = [f"deferred.memories[{read.memory}] = w{i}"]
    if read.as_it_is and not read.is_saved:
        met.append(f"deferred.owners[o{i}], deferred.number_of[id(w{i})] = id(w{i}), {read.memory}")
        met.append(f"t{i}.place = (segment, {read.token})")
    return met


def _saved_value(saved: Any, position: int) -> np.ndarray:
    """A value that was saved for the backward pass, of a call whose segment is done."""
    if type(saved) is PendingResults:
        return saved.now(saved.memory + position)
    value = saved[position]
    array: np.ndarray = value if type(value) is np.ndarray else value.now()
    return array


def backward_of(deferred: Any, otherwise: Any, loss: Any) -> None:
    """``loss.backward()`` in a re-recorded call."""
    if not (is_grad_enabled() and deferred.segments.are_open):
        otherwise(loss)
        return
    passes = deferred.here.passes
    for known in passes:
        if known(deferred, (loss,)) is not NOT_NOTED:
            return
    observed = Observed(deferred, loss)
    otherwise(loss)
    plan = observed.plan()
    if plan is not None:
        passes[:] = [_function(plan, deferred), *passes[: MOST_PASSES - 1]]
