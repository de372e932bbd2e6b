"""The segments of one re-recorded function: the tree of what its calls have done so far, and the programs for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from ...compiler.graph import Origin
from ...ops.callers.source_files import user_place
from ...ops.locks import new_lock
from ...runtime.errors import RuntimeFault
from ...tracing.user_warning import warn_at_user
from ..common.budget import Budget
from ..common.expenses import A_POINT
from ..execution.shape_cache import Programs
from .departures import Departures, Looks
from .event_trie import Call, Event, TrieNode, start, writes
from .segment_program import Memories, NumpyRun, Run, SegmentGraph, SegmentProgram
from .tiers import Tiers

LIMIT = 64  # programs; a function that needs more than these is not helped by more
LONGEST = 4096  # events of one way; what goes on for longer is done in parts
FEW_PASSES = 16  # new ones that are noted in any case
ONCE, PASSED = False, True  # in the place of a program: the segment has come once, or when it did not count
VARIANTS = 1  # so many different numbers in one place are constants of as many programs; from the next on they are data


@dataclass
class Passes:
    """How many backward passes were like one before, and how many were not."""

    known: int = 0
    new: int = 0

    @property
    def are_worth_noting(self) -> bool:
        """False once most are new, as where each goes through a list of another length: the engine notes a pass for
        several times what it costs to make it."""
        return self.new <= FEW_PASSES or self.new <= self.known


class Segments:
    """Shared by all calls of one function, in all threads."""

    def __init__(self, name: str, tiered: bool = False) -> None:
        self.name = name
        self.start = start()
        self.programs: list[SegmentProgram] = []
        self.passes = Passes()
        self.sizes = Programs()
        self.budget = Budget() if tiered else None
        self.tiers = None if self.budget is None else Tiers(self.sizes, self.budget)
        self.departures = Departures() if tiered else None
        self.looks = Looks()
        self.calls = 0  # of the function
        self._lock = new_lock()
        self._varied: set[Hashable] = set()  # primitives with a parameter that has varied, and their lines
        self.checked: Callable[[SegmentProgram, Memories, Callable[[], None]], None] | None = None  # runs programs
        self.are_open = True  # as long as programs for new segments are made

    def extend(self, here: TrieNode, key: Hashable, event: Event) -> TrieNode:
        """The point after `event`, new unless another thread has been quicker."""
        with self._lock:
            if key not in here.next:
                tokens, memories = here.tokens + event.tokens, here.memories + event.memories
                line = user_place()
                point = TrieNode(here, event, tokens, memories, Origin(*line))
                if self.departures is not None:
                    self.departures.note(here, point, line)
                point.writes = here.writes or writes(event)
                point.captured = here.captured
                if isinstance(event, Call) and event.numbers:
                    point.captured = (*here.captured, event)
                here.next[key] = point
                self.spend(A_POINT)
            return here.next[key]

    def spend(self, cost: float) -> None:
        """Something is made that has to come again to be worth its cost."""
        if self.budget is not None:
            self.budget.expenses.spend(cost)

    def numbers_vary(self, here: TrieNode, like: Hashable, key: Hashable, is_data: bool = False) -> bool:
        """True once an event has come after `here` with more different numbers than there shall be programs for.

        `key` is that of the event with its numbers. From then on the numbers that came before are data, too. `is_data`:
        so are these from the first time on.
        """
        with self._lock:
            known = here.kinds.setdefault(like, None if is_data else [])
            if known is not None and key not in known:
                known.append(key)
                if len(known) > VARIANTS:
                    here.kinds[like] = None
                    here.ops.clear()
                    for each in known:
                        here.next.pop(each, None)
            return here.kinds[like] is None

    def parameter_varies(self, here: TrieNode, like: Hashable, key: Hashable, primitive: Hashable) -> bool:
        """`numbers_vary` for a parameter: what has varied once at a line of the program is data there from then on."""
        if like not in here.kinds and (primitive, user_place()) in self._varied:
            with self._lock:
                here.kinds[like] = None
        known = here.kinds.get(like, ())
        if known is not None and self.numbers_vary(here, like, key) and len(self._varied) < LONGEST:
            self._varied.add((primitive, user_place()))
        return here.kinds[like] is None

    def program(self, here: TrieNode, alive: tuple[int, ...], may_begin: bool = True) -> SegmentProgram | None:
        """The program for a segment. What comes a second time is worth one, if nothing else is said by `tiers`.

        The first time does not count while what comes is expected to change (not `may_begin`)."""
        program = here.programs.get(alive)
        if program is None:
            here.programs[alive] = ONCE if may_begin else PASSED
            return None
        if program is PASSED:
            here.programs[alive] = ONCE
            return None
        if type(program) is not SegmentProgram:
            return self._program(here, alive)
        if program.runs is not None:
            program.runs.count += 1
        return program

    def _program(self, here: TrieNode, alive: tuple[int, ...]) -> SegmentProgram | None:
        with self._lock:
            known = here.programs[alive]
            if type(known) is not SegmentProgram and self.are_open:
                if self.tiers is None:
                    self._build(here, alive, self._graph_of(here, alive))
                else:
                    self._consider(self.tiers, here, alive)
                known = here.programs[alive]
            return known if type(known) is SegmentProgram else None

    def _consider(self, tiers: Tiers, here: TrieNode, alive: tuple[int, ...]) -> None:
        """Build a program if it is time to."""
        if here.programs[alive] is ONCE:
            graph = self._graph_of(here, alive)
            here.programs[alive] = graph, tiers.candidate(graph.graph, str(here.origin))
        graph, candidate = here.programs[alive]
        if tiers.is_due(candidate):
            tiers.await_built(candidate)
            self._build(here, alive, graph)
            program = here.programs[alive]
            if type(program) is SegmentProgram:
                program.runs = tiers.taken(candidate)

    def _graph_of(self, here: TrieNode, alive: tuple[int, ...]) -> SegmentGraph:
        return SegmentGraph(f"{self.name}_part", here.way(), alive)

    def _build(self, here: TrieNode, alive: tuple[int, ...], graph: SegmentGraph) -> None:
        if len(self.programs) - self.sizes.more_sizes >= LIMIT:
            self._close(
                f"{self.name} has done {LIMIT} different things in its calls; from now on what is new is done eagerly\n"
                "  Shapes or choices change at every call: pad to a few sizes, or compile the parts that stay the same."
            )
            return
        try:
            program = SegmentProgram(graph, self.sizes)
        except RuntimeFault:  # which was said in a warning; the segment is done by numpy
            self.are_open = False
            return
        self.programs.append(program)
        here.programs[alive] = program

    def _close(self, why: str) -> None:
        self.are_open = False
        warn_at_user(why, RuntimeWarning)


class Execution:
    """One segment of one call, to be done once: `finish` after an interrupt does what is left."""

    def __init__(
        self, segments: Segments, here: TrieNode, alive: tuple[int, ...], memories: Memories, is_passing: bool = False
    ) -> None:
        self._segments = segments
        self._is_passing = is_passing  # it is not worth a program of its own
        self._here = here
        self._alive = alive
        self._memories = memories
        self._is_begun = not alive and not here.writes  # there is nothing to do
        self._run: Run | NumpyRun | None = None

    def finish(self) -> None:
        """Read and write the memories, and fill those that are alive."""
        if not self._is_begun:
            self._is_begun = True  # an interrupt while a program is made is not to make it once more
            program = self._segments.program(self._here, self._alive, not self._is_passing)
            self._run = Run(program, self._memories) if program else None
        if self._run is None and (self._alive or self._here.writes):
            self._run = NumpyRun(self._here.way(), self._memories)
            if self._segments.budget is not None and not self._is_passing:
                self._segments.budget.times.interpret()
        if self._run is not None:
            self._do(self._run)

    def _do(self, run: Run | NumpyRun) -> None:
        if self._segments.checked is not None and isinstance(run, Run):
            self._segments.checked(run.program, self._memories, run.finish)
        else:
            run.finish()
