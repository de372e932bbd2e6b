"""The whole compiler on one screen: each stage, what it takes and what it gives.

function   --record-->     Graph      capture.py: the eager run, backward and optimizer included, as nodes
Graph      --simplify-->   Graph      passes/: constants, algebra, duplicates
Graph      --schedule-->   Schedule   schedule/: kernels, fusion, buffers, arena
Schedule   --render-->     C          codegen/ and templates/
C          --build-->      library    runtime/: compiler, cache
library    --load-->       Program    runtime/: one function, one table of addresses

The C of a graph that was compiled before, by any process, is found in the cache (stored.py); the stages are done then
only for whoever asks to see them.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..ops.lazy import late, lazy
from ..runtime.build import Built, Unit
from ..runtime.program import Program as Library
from ..runtime.provide import provide, require, say
from .dump import dump
from .graph import Graph
from .interface import Interface
from .sizes.pattern import Pattern
from .sizes.program import Fit, Sizing, with_stand_ins
from .sizes.standins import NotSized
from .stored import Kept

if TYPE_CHECKING:
    from .schedule.schedule import Schedule

stages = late(".stages", __package__)

FLAGS = (
    "-std=gnu17",
    "-O2",  # vector loops say so themselves (omp simd), register tiles ask for -O3: a fifth less to wait for
    "-fpeel-loops",  # loops of few turns become straight lines: rows of 64 numbers take half the time
    "-march=native",
    "-fopenmp-simd",
    "-ffp-contract=off",  # a*b + c must round twice, as in eager mode; dot kernels ask for FMA themselves
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",  # integers wrap around, as in numpy
    "-fvisibility=hidden",
    "-fPIC",
    "-Wno-ignored-optimization-argument",  # clang unrolls such loops by itself and does not know the flag
    # gcc halves vectors on its own on processors that once ran slower at full width. Arrays below the stack pointer, in
    # functions that call none, it may lay out eight bytes beside where its aligned stores expect them (seen with 12.2).
    *(("-mprefer-vector-width=512", "-mno-red-zone") if platform.machine() in ("x86_64", "AMD64") else ()),
)


class Made(Protocol):
    """What the stages make of a recorded graph, each when it is first asked for."""

    @property
    def graph(self) -> Graph:
        """The simplified graph."""

    @property
    def schedule(self) -> Schedule:
        """Kernels and buffers."""

    @property
    def source(self) -> str:
        """The C."""

    @property
    def units(self) -> tuple[str, ...]:
        """The C as it is compiled: one text, or several side by side."""

    @property
    def interface(self) -> Interface:
        """What callers have to know."""


class Stages:
    """One recorded graph on its way. Its C, a third of a megabyte for some, is rendered anew for who asks."""

    def __init__(self, recorded: Graph, memory_limit: int | None = None) -> None:
        self._recorded = recorded
        self._memory_limit = memory_limit

    @lazy
    def graph(self) -> Graph:
        return stages.simplify(stages.look_up_products(stages.simplify(self._recorded)))

    @lazy
    def schedule(self) -> Schedule:
        return stages.make_schedule(self.graph, memory_limit=self._memory_limit)

    @property
    def source(self) -> str:
        return stages.render(self.schedule)

    @property
    def units(self) -> tuple[str, ...]:
        whole = self.source
        count = stages.number_of_units(whole)
        return stages.render_units(self.schedule, count) if count > 1 else (whole,)

    @lazy
    def interface(self) -> Interface:
        return Interface(self.schedule.checks, self.schedule.early, self.schedule.arena_bytes)


class Code:
    """The C of one program. It is rendered or read, built and loaded when it is first asked for.

    `source` is all of it in one text, also where it is compiled in several units.
    """

    def __init__(self, made: Made, kept: Kept) -> None:
        self.recorded = kept.graph
        self.made = made
        self._kept = kept

    @lazy
    def source(self) -> str:
        """The text."""
        units = self._units()
        return units[0] if len(units) == 1 else self.made.source

    def _units(self) -> tuple[str, ...]:
        return self._kept.texts() or self.made.units

    @property
    def interface(self) -> Interface:
        """What callers have to know of it."""
        return self._kept.interface or self.made.interface

    @lazy
    def built(self) -> Built:
        """The library. RuntimeFault, after a warning, if the C cannot be built or loaded."""
        try:
            dump(self.recorded.name, self._stages)
        except OSError as error:  # the call that is compiled here is done: its result must not be lost
            say(str(error), str(error))
        texts = self._units()
        names = ["step", *(f"step_{number}" for number in range(1, len(texts)))]
        units = [Unit(name, text, FLAGS) for name, text in zip(names, texts, strict=True)]
        built = provide(self.recorded.name, units)
        self._kept.keep(built, self.interface)
        return built

    def _stages(self) -> list[tuple[str, str]]:
        stages = (("recorded.graph", self.recorded), ("graph", self.made.graph), ("schedule", self.made.schedule))
        return [*((suffix, str(stage)) for suffix, stage in stages), ("c", self.source)]


def load_stages() -> None:
    """Import the stages, which is put off until a graph is compiled for the first time."""
    _ = stages.render


@dataclass(frozen=True, eq=False)
class Program:
    """A compiled graph with everything that led to it. A program for all sizes has in `fit` what one of them needs."""

    code: Code
    fit: Fit | None = None

    @property
    def recorded(self) -> Graph:
        """The graph as it was recorded, whose inputs and results are the program's."""
        return self.code.recorded

    @property
    def graph(self) -> Graph:
        """The simplified graph."""
        return self.code.made.graph

    @property
    def schedule(self) -> Schedule:
        """Kernels and buffers."""
        return self.code.made.schedule

    @property
    def interface(self) -> Interface:
        """What callers have to know beside the graph."""
        return self.code.interface

    @property
    def source(self) -> str:
        """The C."""
        return self.code.source

    @property
    def built(self) -> Built:
        """What building it has given; RuntimeFault, after a warning, if the C cannot be built or loaded."""
        return self.code.built

    @property
    def library(self) -> Library:
        """The loaded library."""
        return self.built.program

    @property
    def source_path(self) -> Path:
        """Where the C lies; the first of its files, if it is compiled in several units."""
        return self.built.sources[0]


def require_toolchain() -> None:
    """RuntimeFault unless programs can be built and loaded; to be asked before a call that must be compiled."""
    require(FLAGS)


def compile_graph(recorded: Graph, memory_limit: int | None = None, later: bool = False) -> Program:
    """All stages after recording but for the last two, which `built` does; none for a graph that is in the cache, and
    with `later` none before somebody asks.

    MemoryLimitError beyond `memory_limit` bytes.
    """
    made, kept = Stages(recorded, memory_limit), Kept(recorded, FLAGS, memory_limit=memory_limit)
    if kept.interface is None and (memory_limit is not None or not later):
        made.schedule  # noqa: B018 - which may refuse
    return Program(Code(made, kept))


def stored_key(recorded: Graph) -> tuple[str | None, bool]:
    """Under which key the cache knows the program of a graph, None if it never does; and whether it does now."""
    kept = Kept(recorded, FLAGS)
    return kept.key, kept.interface is not None


def is_stored_for_all_sizes(one: Graph, other: Graph) -> bool:
    """Whether the cache knows the C of a program for all sizes of which two recordings are examples."""
    try:
        recorded = with_stand_ins(Pattern(one, other))
    except NotSized:
        return False
    return bool(Kept(recorded, FLAGS, for_all_sizes=True).texts())


class SizedProgram:
    """The program for all sizes that two recordings for two sizes are examples of; NotSized if there is none."""

    def __init__(self, one: Graph, other: Graph) -> None:
        self.plan = Sizing(one, other, self._find)
        self.program = Program(Code(self.plan, self._kept))

    def _find(self, recorded: Graph) -> Kept:
        self._kept = Kept(recorded, FLAGS, for_all_sizes=True)
        return self._kept

    def fit(self, recorded: Graph) -> Program:
        """The program for the size of a recorded graph; NotSized if it does not serve that."""
        return replace(self.program, fit=self.plan.fit(recorded))
