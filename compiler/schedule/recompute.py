"""Values computed again instead of kept, until the memory between kernels is as small as it has to be.

A value that waits for a late reader, as those of a forward pass do for the backward pass, need not be kept if it is
pointwise in what is there then: a kernel of its own computes it again ahead of that reader. All other kernels stay as
they are, but for the names of what they read, so that every result has the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...ops.core import Movement, Pointwise
from ..errors import MemoryLimitError
from ..graph import Node
from .arena import lifetimes
from .fusion.candidates import is_contraction, is_special
from .fusion.group import Group, alone, union
from .jobs import Plan
from .live import cost_of
from .lower import is_fold
from .memory import AGAIN, offsets
from .records import Kernel
from .steps import Steps, step_of
from .values import Unfusable

#: Of the values that may be computed again at one place, so many are looked at closely.
MOST_TRIED = 16
_LINES = 3  # of the largest values, in a message


def within(plan: Plan, kernels: Sequence[Kernel], limit: int) -> list[Kernel]:
    """The kernels with as many values computed again as it takes for an arena of at most `limit` bytes.

    MemoryLimitError if that is not enough.
    """
    again = _Recomputation(plan, kernels)
    target = limit
    while True:
        live = again.steps.live_bytes()
        most = int(live.max(initial=0))
        if most > target:
            if not again.shrinks(live):
                raise _beyond(plan, again.steps, live, limit)
            continue
        found = again.steps.kernels()
        if offsets(lifetimes(plan, found))[1] <= limit:
            return found
        target = most - 1  # gaps between values take memory, too


@dataclass(frozen=True)
class _Recipe:
    """How a value comes of others that are in memory: by which kernel, of which nodes, at what cost of an element."""

    group: Group
    sources: tuple[Node, ...]
    cost: int


@dataclass(frozen=True)
class _Choice:
    """A buffer that may be computed again ahead of step `reader`, from other buffers by their nodes."""

    name: str
    reader: int
    recipe: _Recipe
    sources: dict[Node, str]


@dataclass
class _Recomputation:
    """The steps of a plan as they become."""

    plan: Plan
    begin: Sequence[Kernel]
    steps: Steps = field(init=False)
    _recipes: dict[Node, _Recipe | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        plan = self.plan
        slots = frozenset((*plan.slots, *plan.results.values()))
        stored = {name: node for job in plan.jobs for node, names in job.stores.items() for name in names}
        holds = {name: node for name, node in stored.items() if name not in slots}
        self.steps = Steps([step_of(kernel) for kernel in self.begin], plan.types, slots, holds)
        self._order = {node: place for place, node in enumerate(plan.graph.nodes())}

    def shrinks(self, live: np.ndarray) -> bool:
        """Compute one value again that waits where most is live; False if that never makes it less there."""
        most = _most(live)
        choices = sorted(self._choices(int(live.argmax())), key=lambda found: found[0])
        for _, choice in choices[:MOST_TRIED]:
            steps = self._with(choice)
            if steps is not None and _most(steps.live_bytes()) < most:
                self.steps = steps
                return True
        return False

    def _choices(self, place: int) -> Iterator[tuple[tuple[float, int, str], _Choice]]:
        """What waits at `place` for a later reader and can be computed again ahead of it; the best have small keys."""
        steps = self.steps
        for name, used in steps.uses.items():
            if not used[0] < place < used[-1] or place in used or not steps.is_made_at_once(name):
                continue
            node, reader = steps.holds[name], next(at for at in used if at > place)
            recipe = self._recipe(node)
            sources = None if recipe is None else self._held(recipe, reader)
            if recipe is None or sources is None:
                continue
            gain = steps.size(name) - sum(steps.size(n) for n in sources.values() if steps.ends_before(n, place))
            if gain > 0:
                key = recipe.cost * node.type.size / gain, -gain, name
                yield key, _Choice(name, reader, recipe, sources)

    def _held(self, recipe: _Recipe, place: int) -> dict[Node, str] | None:
        """The memory that holds what a recipe reads ahead of step `place`; None if something is not there."""
        found: dict[Node, str] = {}
        for node in recipe.sources:
            name = self.steps.input_at(self.plan.memory[node], place) if node.is_input else self.steps.held(node, place)
            if name is None:
                return None
            found[node] = name
        return found

    def _with(self, choice: _Choice) -> Steps | None:
        """The steps with a value computed again; None if no kernel can."""
        node, plan = self.steps.holds[choice.name], self.plan
        kernel_name = plan.names.numbered(f"{AGAIN}{node.op.name}")
        name = plan.hold(plan.names.numbered(f"{node.op.name}_again"), node.type)
        try:
            kernel, _ = plan.lowering.kernel(kernel_name, choice.recipe.group, {node: [name]}, choice.sources)
        except Unfusable:
            self._recipes[node] = None
            return None
        return self.steps.with_again(choice.reader, step_of(kernel), choice.name, name)

    # ------------------------------------------------------------------------------------------------ what can be

    def _recipe(self, node: Node) -> _Recipe | None:
        if node not in self._recipes:
            self._recipes[node] = self._found(node)
        return self._recipes[node]

    def _found(self, node: Node) -> _Recipe | None:
        """Pointwise work and movements, down to what is in memory; None where something else is on the way."""
        inside, sources, pending = {node}, set[Node](), [node]
        while pending:
            current = pending.pop()
            if not _is_light(current):
                return None
            for other in self.plan.grouping.reads[current]:
                if other.is_input or other in self.plan.memory:
                    sources.add(other)
                elif other not in inside:
                    inside.add(other)
                    pending.append(other)
        nodes = tuple(sorted(inside, key=self._order.__getitem__))
        group = alone(node) if len(nodes) == 1 else union([alone(each) for each in nodes], nodes)
        in_order = tuple(sorted(sources, key=self._order.__getitem__))
        return None if group is None else _Recipe(group, in_order, _cost(inside, sources))


def _is_light(node: Node) -> bool:
    if is_fold(node) or is_contraction(node) or is_special(node):
        return False
    return isinstance(node.op.lower, (Pointwise, Movement))


def _cost(inside: set[Node], sources: set[Node]) -> int:
    """What an element costs, in additions."""
    seen, pending, total = set(inside), list(inside), 0
    while pending:
        node = pending.pop()
        total += cost_of(node)
        more = {arg for arg in node.args if arg not in seen and arg not in sources and not arg.is_input}
        seen |= more
        pending.extend(more)
    return max(total, 1)


def _most(live: np.ndarray) -> tuple[int, int]:
    """The most bytes that are live, and in how many steps they are."""
    most = int(live.max())
    return most, int((live == most).sum())


def _beyond(plan: Plan, steps: Steps, live: np.ndarray, limit: int) -> MemoryLimitError:
    """What is wrong, where the largest values come from, what to do."""
    place, least = int(live.argmax()), offsets(lifetimes(plan, steps.kernels()))[1]
    there = [name for name, used in steps.uses.items() if used[0] <= place <= used[-1]]
    largest = sorted(there, key=lambda name: (-steps.size(name), name))[:_LINES]
    made = [f"{plan.types[n]} made at {steps.holds[n].origin}" for n in largest if n in steps.holds]
    kernel = steps.steps[place].kernel.name
    message = (
        f"{plan.graph.name} needs {least} bytes between its kernels, and memory_limit is {limit}\n"
        f"  at {kernel}, where most is live: {', '.join(made) or 'what this kernel has for itself'}\n"
        f"  Pass memory_limit={least} or more, or smaller batches: what is cheap to compute again already is."
    )
    return MemoryLimitError(message, least)
