"""Which segments of a whole program are worth C, and when: tiered compilation.

A program's segments are done by numpy first. Building the C of one takes from a tenth of a second to several seconds,
so it begins once numpy has done the segment so often that a program would have saved a part of that. A copy of this
process builds beside it, and the program's steps are eager for as long as that should take (`Expenses`). Where nothing
bounds what is spent, or nothing can be built beside it, the program is taken after as many runs again, but not before
numpy has taken half as long as the building: to wait is the one way to spend this time in which nothing is computed.
All of this follows from counts, none from a clock, so that two runs of a program with the same cache give the same
bits: where the copy is not ready by then it is waited for, and where there can be no copy, or it has failed, the
program is built then and there.

What the cache holds already is taken at the second occurrence. A place in the program whose segments come in ever new
forms gets no further programs while those that it has got are not worth their building, unless numpy has taken as long
for one form alone as a program costs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...compiler.graph import Graph, Node
from ...compiler.pipeline import load_stages, stored_key
from ...runtime.forked import Forked, can_be_forked, forked
from ...runtime.provide import remove_private_folder
from ...runtime.threads import usable_cpus
from ..common.budget import A_PRODUCT, Budget
from ..execution.shape_cache import Programs
from ..guards.onlookers import threads_are_absent

# Microseconds on a usual processor. Only how they compare matters.
TO_BUILD, TO_BUILD_A_NODE = 100_000, 1_200
TO_RUN_A_NODE, TO_RUN_AN_ELEMENT = 6.0, 0.001  # by numpy
PART = 4  # building begins when numpy has taken one part in so many of what it costs
FIRST = 3  # occurrence at which building begins at the soonest
MEANWHILE = 2  # of the building, one part in so many is computed in: a program does more than its segments
UNPAID = 3  # times what a program costs, for others of its place that have not been run as often as they have to


@dataclass(eq=False)
class Candidate:
    """A segment that has come twice: its graph, and the occurrences at which its program is begun and taken."""

    graph: Graph
    place: str
    key: str | None  # in the cache
    occurrences: int = 1
    begins: int = 0
    taken: int = 0  # 0 as long as building has not begun
    worth: int = 0  # runs that are worth the building
    cost: float = 0.0  # of the building
    copy: Forked | None = None


@dataclass(eq=False)
class Runs:
    """How often a program was run, and how often it has to be for what its building has cost."""

    worth: int
    cost: float
    count: int = 0


@dataclass(eq=False)
class Tiers:
    """The candidates of one program, and what has become of them."""

    programs: Programs
    budget: Budget
    stored: int = 0  # programs that were found in the cache
    beside: int = 0  # that were built by a copy of this process
    runs: dict[str, list[Runs]] = field(default_factory=dict)  # of programs that were built, by place
    refused: Counter[str] = field(default_factory=Counter)  # by place: how often nothing was built
    _building: dict[str, Candidate] = field(default_factory=dict)  # by key, those that have begun and are not taken
    _copies: int = 0  # of the process that have been made
    _waiting: list[Candidate] = field(default_factory=list)  # for a processor

    def candidate(self, graph: Graph, place: str) -> Candidate:
        """A segment that has come for the second time."""
        key, is_stored = stored_key(graph)
        found = Candidate(graph, place, key)
        is_stored = is_stored and key not in self._building
        if self.programs.has(graph) or is_stored or self.programs.is_stored(graph):
            found.begins = found.taken = 2
            self.stored += 1
            return found
        found.worth, found.cost = runs_worth_building(graph), cost_of_building(graph)
        first = min(FIRST, 1 + found.worth)  # at once where a run takes as long as building
        found.begins = max(first, math.ceil(found.worth / PART) - self.budget.steps)  # eager mode has done it as often
        return found

    def is_due(self, candidate: Candidate) -> bool:
        """Count an occurrence, and begin to build when it is time to; True when the program is to be taken."""
        candidate.occurrences += 1
        self._begin_waiting()
        if not candidate.taken and candidate.occurrences >= candidate.begins:
            self._begin(candidate)
        return 0 < candidate.taken <= candidate.occurrences

    def await_built(self, candidate: Candidate) -> None:
        """Wait for the copy that builds it, if there is one."""
        if candidate in self._waiting:
            self._waiting.remove(candidate)
        if candidate.copy is not None:
            candidate.copy.wait()
        self._building.pop(candidate.key or "", None)

    def taken(self, candidate: Candidate) -> Runs:
        """Its program is there; what counts its runs."""
        runs = Runs(candidate.worth, candidate.cost)
        if candidate.worth:
            self.beside += candidate.copy is not None and not candidate.copy.has_failed
            self.runs.setdefault(candidate.place, []).append(runs)
        return runs

    def _begin(self, candidate: Candidate) -> None:
        unpaid = sum(each.cost for each in self.runs.get(candidate.place, ()) if each.count < each.worth)
        if unpaid >= UNPAID * candidate.cost and candidate.occurrences < candidate.worth:
            self.refused[candidate.place] += 1
            candidate.begins = min(2 * candidate.begins, candidate.worth)
            return
        again = min(candidate.occurrences, candidate.worth)
        candidate.taken = candidate.occurrences + max(again, math.ceil(candidate.worth / MEANWHILE))
        if candidate.key is not None:
            self._waiting.append(self._building.setdefault(candidate.key, candidate))
            self._begin_waiting()
            if self._is_worth_waiting(candidate):
                self.budget.expenses.await_building(self.budget.work, candidate.cost / MEANWHILE)
                candidate.taken = candidate.occurrences + 1

    def _begin_waiting(self) -> None:
        """Build beside the program as long as there are processors for it."""
        if not (self._waiting or self._building):
            return
        running = sum(each.copy is not None and not each.copy.has_ended() for each in self._building.values())
        while self._waiting and running < usable_cpus() - 1:
            candidate = self._waiting.pop(0)
            if candidate.copy is None and self._can_build_beside():
                if self._copies == 1:
                    load_stages()  # once, where each further copy would
                self._copies += 1
                candidate.copy = forked(_building(self.programs, candidate.graph))
            running += candidate.copy is not None

    def _is_worth_waiting(self, candidate: Candidate) -> bool:
        """Whether steps are eager while it is built: not where they would do without more C than they get."""
        in_use = sum(each.cost for runs in self.runs.values() for each in runs)
        return self.budget.expenses.are_bounded and candidate.cost >= in_use and self._can_build_beside()

    def _can_build_beside(self) -> bool:
        return usable_cpus() > 1 and can_be_forked() and threads_are_absent()

    @property
    def text(self) -> str:
        """What became of segments, in one line."""
        built = sum(map(len, self.runs.values()))
        text = f"{self.stored} from the cache, {built} built, {self.beside} of them beside the program"
        if not self.refused:
            return text
        places = ", ".join(place or "an unknown place" for place, _ in self.refused.most_common(3))
        return f"{text}; no further ones at {places}, where too few of them come again"


def _building(programs: Programs, graph: Graph) -> Callable[[], None]:
    def build() -> None:
        try:
            programs.of(graph)
        finally:
            remove_private_folder()  # where the cache is of no use

    return build


def cost_of_building(graph: Graph) -> float:
    """About how long it takes to build the C."""
    return TO_BUILD + TO_BUILD_A_NODE * len(graph.nodes())


def runs_worth_building(graph: Graph) -> int:
    """How many runs by numpy take as long as building the C."""
    return math.ceil(cost_of_building(graph) / cost_by_numpy(graph))


def cost_by_numpy(graph: Graph) -> float:
    """About how long numpy takes for the nodes, which is what a program saves a part of."""
    computed = [node for node in graph.nodes() if not node.is_input]
    elements = sum(node.type.size for node in computed)
    products = sum(map(_multiplications, computed))
    return TO_RUN_A_NODE * max(1, len(computed)) + TO_RUN_AN_ELEMENT * elements + A_PRODUCT * products


# Of each: the array whose elements are sums or are spread over them (None: the result), and the one that says over how
# many terms, by its axes from this one on.
_FACTORS: dict[str, tuple[int | None, int | None, int]] = {
    "dot": (None, 0, -1), "conv": (None, 1, 1), "conv_input": (0, 1, 1), "conv_weight": (1, None, 1),
}  # fmt: skip


def _multiplications(node: Node) -> int:
    """How many multiplications a matrix product or a convolution takes, whichever of its arrays is the result."""
    if node.op.name not in _FACTORS:
        return 0
    sums, terms, axis = _FACTORS[node.op.name]
    arrays = (node if i is None else node.args[i] for i in (sums, terms))
    of, over = (array.type.shape for array in arrays)
    return math.prod(of) * math.prod(over[axis:])


# ------------------------------------------------------------------------------------------------------------- parts

AFTER_FAILURE, AFTER_SUCCESS = 4, 2  # times as many calls before the next recording
WHOLE = 64  # calls in which a part may yet come in forms that have been recorded


class PartTries:
    """Of one part: how many calls could not be noted, and from which of them on the next recording is made.

    A recording takes as long as many calls do. One that fails is tried again after four times as many calls, another
    form of calls is recorded after twice as many. A call that can be made alone only has its C built once that pays.
    """

    def __init__(self) -> None:
        self.calls = 0
        self._next = 1
        self._has_succeeded = False

    @property
    def is_awaited(self) -> bool:
        """True if the part will be recorded as a whole again: until then, none of what it calls need be."""
        return self._has_succeeded and self.calls < self._next and self.calls <= WHOLE

    def is_due(self, part: Any, is_known: bool) -> bool:
        """Count a call; True if it shall be made by the part. `is_known`: its form has been recorded before."""
        self.calls += 1
        if not is_known:
            return self.calls >= self._next
        graphs = [each.graph for each in part.specialisations if not each.binding.is_built]
        if len(graphs) < len(part.specialisations):
            return True
        return any(self.calls >= runs_worth_building(graph) for graph in graphs)

    def made(self, has_succeeded: bool) -> None:
        """The call has been recorded."""
        self._has_succeeded = has_succeeded
        self._next = self.calls * (AFTER_SUCCESS if has_succeeded else AFTER_FAILURE)
