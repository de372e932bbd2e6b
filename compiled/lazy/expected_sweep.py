"""The expected backward pass: a `SweepPlan`, written as one function.

Between two changes of anything that is counted, a pass through the same calls can differ from the one before in what
was written since, in gradients that are there, and in the memory of what it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ops.core import interpreted
from ...ops.exposure import exposed_owners
from ...ops.types import defaults
from ...tape.grad_mode import is_recording, switches
from ...tape.nodes import AccumulateGrad, Saved
from ...tensors.tensor import EAGER, Tensor
from ...tracing.watch import changes, served
from ..common.expenses import A_PASS, A_VISITED_NODE
from ..common.tensor_memory import memory_of
from ..common.written_code import each, lines, written
from .deferred_calls import NOT_NOTED
from .event_trie import key_of
from .gradient_pool import GradientPool
from .sweep_ops import VisitedOp, places_of_slice
from .sweep_reads import Read, met_lines, text_of, text_of_fresh_leaf
from .sweeps import MOST_PASSES, Observed, SweepPlan, VisitedCall, is_hooked

OBSERVED = frozenset((*range(1, 9), *(2**i for i in range(4, 16))))  # which of the passes from one point are

SOURCE = """
def note(deferred, args):
    if not switches.enabled or defaults.dtype is not default_dtype:
        return NOT_NOTED
    if changes.count + changes.memories != leaves.count and not leaves.fit():
        return NOT_NOTED
    [loss] = args
    if type(loss) is not Tensor or loss._base is not None or loss._output != {output}:
        return NOT_NOTED
    segment, x0 = deferred.segment, loss._node
    {nodes}
    if {refused} or not ({order}):
        return NOT_NOTED
    {reads}
    pool = leaves.pool()
    kept = pool.kept
    deferred.pools.append(pool)
    deferred.memories[{first}:] = pool.references
    deferred.number_of.update(pool.numbers)
    {met}
    deferred.ops += {ops}
    {sums}
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
    if x{i}.made_at != still{i}.now() or x{i}._outputs or x{i}._watched:
        if not x{i}.is_intact(): return NOT_NOTED
    elif x{i}.versions != ({versions}){given}:
        return NOT_NOTED"""


class Leaves:
    """The leaves of a plan: whether they are still as the plan has them, and gradients for them."""

    def __init__(self, plan: SweepPlan) -> None:
        self._plan = plan
        self._fresh = frozenset(id(leaf.tensor) for leaf in plan.leaves if leaf.is_fresh)
        self._tensors = [*(leaf.tensor for leaf in plan.leaves if not leaf.is_fresh), *plan.sums]
        self._shown = [tensor.ndarray for tensor in self._tensors]
        self._pools: list[GradientPool] = []
        self.count = changes.count + changes.memories  # at which they were found to be so
        # By visited node: whether edges lead to leaves that may be others, which are not kept alive.
        self._has_fresh = [not self._fresh.isdisjoint(map(id, v.edges)) for v in plan.visited]
        self.edges: list[Any] = [v.node.edges if isinstance(v, VisitedCall) else () for v in plan.visited]

    def fit(self) -> bool:
        """True if they take gradients as they did, after something was rebound somewhere."""
        count = changes.count + changes.memories
        for tensor, shown in zip(self._tensors, self._shown, strict=True):
            if not tensor._requires or tensor._node is not None or is_hooked(tensor) or tensor.ndarray is not shown:
                return False
        self.count = count
        return True

    def are_behind(self, call: int, edges: tuple[Any, ...]) -> bool:
        """True if the edges that lead to no other call lead where the plan says."""
        for edge, leads_to in zip(edges, self._plan.visited[call].edges, strict=True):
            node = edge[0]
            if isinstance(leads_to, Tensor):
                if id(leads_to) in self._fresh:
                    continue  # the function looks at it
                if type(node) is not AccumulateGrad or node.variable is not leads_to:
                    return False
            elif leads_to is None and node is not None:
                return False
        if not self._has_fresh[call]:
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
            types, memories = [leaf.type for leaf in plan.leaves], [leaf.memory for leaf in plan.leaves]
            pool = GradientPool(types, memories, plan.before.memories, plan.after.memories - plan.before.memories)
        self._pools.append(pool)
        return pool


def _function(plan: SweepPlan) -> Callable[..., Any]:
    """The function for passes like `plan`, which has just been observed."""
    names: dict[str, Any] = {
        "switches": switches, "defaults": defaults, "default_dtype": defaults.dtype, "changes": changes,
        "leaves": Leaves(plan), "NOT_NOTED": NOT_NOTED, "Tensor": Tensor, "AccumulateGrad": AccumulateGrad,
        "after": plan.after, "memory_of": memory_of, "exposed": exposed_owners, "array": np.array, "key_of": key_of,
        "Saved": Saved,
        "taken": frozenset().union(*(call.owners for call in plan.before.captured)), "places": places_of_slice,
    }  # fmt: skip
    names.update((f"leaf{j}", leaf.tensor) for j, leaf in enumerate(plan.leaves) if not leaf.is_fresh)
    names.update((f"sum{j}", leaf) for j, leaf in enumerate(plan.sums))
    nodes = _nodes(plan, names)
    first, reads = plan.before.memories, plan.reads
    text = plan.kept.text_of_sums() + "".join(text_of(i, read, first, reads, names) for i, read in enumerate(reads))
    text += plan.kept.text_of_same()
    given = [
        f"leaf{j}._grad = g = kept[{j}][0]; g.place = (segment, {leaf.token})" for j, leaf in enumerate(plan.leaves)
    ]
    text += _of_different_owners(reads)
    source = SOURCE.format(
        output=plan.output, first=first, ops=plan.ops, nodes=nodes.strip(), reads=text.strip() or "pass",
        order=" > ".join(f"x{i}.sequence" for i in reversed(plan.order)),
        refused=" or ".join(f"leaf{j}._grad is not None" for j in range(len(plan.leaves))) or "False",
        sums=lines(4, [f"deferred.note_write(sum{j}._grad)" for j in range(len(plan.sums))]),
        met=lines(4, [line for i, read in enumerate(reads) for line in met_lines(i, read)]),
        gradients=lines(4, given), released=lines(4, [f"x{i}.release()" for i in range(len(plan.visited))]),
    )  # fmt: skip
    return written(source, "backward pass", names)


def _of_different_owners(reads: Sequence[Read]) -> str:
    """The check that no memory that is met as it is belongs to another one that is met; of copies several may be."""
    shown = [i for i, read in enumerate(reads) if read.kind == "shown"]
    copies = [i for i, read in enumerate(reads) if read.kind == "copy"]
    if not shown or len(shown) + len(copies) == 1:
        return ""
    text = f"    owners = {{{each('o{}', shown)}}}\n    if len(owners) != {len(shown)}"
    text += f" or not owners.isdisjoint(({each('o{}', copies)},))" if copies else ""
    return text + ": return NOT_NOTED\n"


def _nodes(plan: SweepPlan, names: dict[str, Any]) -> str:
    """The checks of all nodes, in the order in which edges lead there."""
    text, reached = "", {0}
    fresh = {id(leaf.tensor): n for n, leaf in enumerate(plan.leaves) if leaf.is_fresh}
    found: list[int] = []  # of the fresh leaves
    for i, visited in enumerate(plan.visited):
        if isinstance(visited, VisitedOp):
            text += plan.kept.text_of_node(i, names) + f"    e{i} = x{i}.edges\n"
        else:
            text += _call(i, visited, names)
        for j, leads_to in enumerate(visited.edges):
            n = fresh.get(id(leads_to))
            if n is not None and n not in found:
                found.append(n)
                text += text_of_fresh_leaf(f"e{i}[{j}][0]", f"leaf{n}", plan.leaves[n].tensor, names)
            elif type(leads_to) is not int:
                text += _end(plan, i, j, leads_to) if isinstance(visited, VisitedOp) or n is not None else ""
            elif leads_to in reached:
                text += f"    if e{i}[{j}][0] is not x{leads_to}: return NOT_NOTED\n"
            else:
                reached.add(leads_to)
                text += f"    x{leads_to} = e{i}[{j}][0]\n"
        text += "".join(
            f"    if i{i}[{position}][1].place != (segment, {token}): return NOT_NOTED\n"
            for call, position, token in plan.known
            if call == i
        )
    if found:
        every = [*(f"leaf{n}" for n in range(len(plan.leaves))), *(f"sum{n}" for n in range(len(plan.sums)))]
        text += f"    if len({{{', '.join(f'id({name})' for name in every)}}}) != {len(every)}: return NOT_NOTED\n"
    return text


def _call(i: int, visited: VisitedCall, names: dict[str, Any]) -> str:
    node = visited.node
    names.update({f"kind{i}": type(node), f"backward{i}": node.backward_programs, f"still{i}": node.still})
    text = NODE.format(
        i=i, is_pending="is not" if visited.is_pending else "is", intact=_intact(i, visited),
        token=f"x{i}.token != {node.token}" if visited.is_pending else "False",
    )  # fmt: skip
    text += f"    e{i} = x{i}.edges\n"
    return text + f"    if e{i} is not leaves.edges[{i}] and not leaves.are_behind({i}, e{i}): return NOT_NOTED\n"


def _end(plan: SweepPlan, i: int, j: int, leaf: Any) -> str:
    """The check that an edge of an op leads to the leaf, or nowhere."""
    if leaf is None:
        return f"    if e{i}[{j}][0] is not None: return NOT_NOTED\n"
    names = {f"leaf{n}": other.tensor for n, other in enumerate(plan.leaves)}
    names.update((f"sum{n}", other) for n, other in enumerate(plan.sums))
    name = next(each for each, other in names.items() if other is leaf)
    return f"    n = e{i}[{j}][0]\n    if type(n) is not AccumulateGrad or n.variable is not {name}: return NOT_NOTED\n"


def _intact(i: int, visited: Any) -> str:
    """The check that nothing has been written to what the call has kept."""
    if visited.node.still is None:
        return f"if x{i}.still is not None or not x{i}.is_intact(): return NOT_NOTED"
    count = len(visited.inputs)
    versions = "".join(f"i{i}[{j}][3].version, " for j in range(count))
    arguments = range(len(visited.node.still.labels), count)
    given = "".join(f" or i{i}[{j}][1].ndarray is not i{i}[{j}][2]" for j in arguments)
    return INTACT.format(i=i, versions=versions, given=given)


def backward_of(deferred: Any, otherwise: Any, loss: Any) -> None:
    """``loss.backward()`` in a re-recorded call."""
    if not (is_recording() and deferred.segments.are_open):
        otherwise(loss)
        return
    counts = deferred.segments.passes
    for known in deferred.here.passes:
        if known(deferred, (loss,)) is not NOT_NOTED:
            counts.known += 1
            return
    counts.new += 1
    if deferred.is_idle and not counts.are_worth_noting:
        deferred.settle()
        served(None, interpreted, EAGER, otherwise, loss)
        return
    here, segment, before = deferred.here, deferred.segment, deferred.is_idle
    deferred.is_idle, deferred.at_once = False, 0  # the pass is to be noted as a whole
    try:
        _observed(deferred, otherwise, loss)
    finally:
        deferred.is_idle = before
    if deferred.segment is not segment:  # which begins where each begins
        return
    if deferred.here in here.ends_of_passes:  # no plan repeats it, as with a Function of the user's, but its C is there
        counts.new, counts.known = counts.new - 1, counts.known + 1
    here.ends_of_passes.add(deferred.here)


def _observed(deferred: Any, otherwise: Any, loss: Any) -> None:
    """Let the engine note a pass, and learn from it."""
    passes = deferred.here.passes
    deferred.here.observed += 1
    if deferred.here.observed not in OBSERVED:
        otherwise(loss)
        return
    observed = Observed(deferred, loss)
    try:
        otherwise(loss)
    finally:
        observed.end()
    deferred.segments.spend(A_PASS + A_VISITED_NODE * observed.nodes)
    plan = observed.plan()
    if plan is not None:
        passes[:] = [_function(plan), *passes[: MOST_PASSES - 1]]
