"""The whole compiler on one screen: each stage, what it takes and what it gives.

function   --record-->     Graph      capture.py: the eager run, backward and optimizer included, as nodes
Graph      --simplify-->   Graph      passes/: constants, algebra, duplicates
Graph      --schedule-->   Schedule   schedule/: kernels, fusion, buffers, arena
Schedule   --render-->     C          codegen/ and templates/
C          --build-->      library    runtime/: compiler, cache
library    --load-->       Program    runtime/: one function, one table of addresses
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ..ops.lazy import lazy
from ..runtime.build import Built, Unit
from ..runtime.program import Program as Library
from ..runtime.provide import provide, require, say
from .codegen.render import render
from .dump import dump
from .graph import Graph
from .passes.look_up_products import look_up_products
from .passes.simplify import simplify
from .schedule.plan import make_schedule
from .schedule.schedule import Schedule
from .sizes.program import Fit, Sizing

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
    # gcc halves vectors on its own on processors that once ran slower at full width
    *(("-mprefer-vector-width=512",) if platform.machine() in ("x86_64", "AMD64") else ()),
)


class Code:
    """The C of one program. It is rendered, built and loaded when it is first asked for."""

    def __init__(self, recorded: Graph, graph: Graph, schedule: Schedule, rendered: Callable[[], str]) -> None:
        self._stages = (("recorded.graph", recorded), ("graph", graph), ("schedule", schedule))
        self._name = recorded.name
        self._rendered = rendered

    @lazy
    def source(self) -> str:
        """The text."""
        return self._rendered()

    @lazy
    def built(self) -> Built:
        """The library. RuntimeFault, after a warning, if the C cannot be built or loaded."""
        try:
            dump(self._name, ((suffix, str(stage)) for suffix, stage in (*self._stages, ("c", self.source))))
        except OSError as error:  # the call that is compiled here is done: its result must not be lost
            say(str(error), str(error))
        return provide(self._name, [Unit("step", self.source, FLAGS)])


@dataclass(frozen=True, eq=False)
class Program:
    """A compiled graph with everything that led to it. A program for all sizes has in `fit` what one of them needs."""

    graph: Graph
    schedule: Schedule
    code: Code
    fit: Fit | None = None

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
        """Where the C lies."""
        return self.built.sources[0]


def require_toolchain() -> None:
    """RuntimeFault unless programs can be built and loaded; to be asked before a call that must be compiled."""
    require(FLAGS)


def compile_graph(recorded: Graph, memory_limit: int | None = None) -> Program:
    """All stages after recording but for the last two: `built` does those. MemoryLimitError beyond `memory_limit`."""
    graph = simplify(look_up_products(simplify(recorded)))
    schedule = make_schedule(graph, memory_limit=memory_limit)
    return Program(graph, schedule, Code(recorded, graph, schedule, lambda: render(schedule)))


class SizedProgram:
    """The program for all sizes that two recordings for two sizes are examples of; NotSized if there is none."""

    def __init__(self, one: Graph, other: Graph) -> None:
        self.plan = Sizing(one, other)
        way = self.plan.way
        code = Code(self.plan.recorded, way.graph, way.schedule, lambda: way.source)
        self.program = Program(way.graph, way.schedule, code)

    def fit(self, recorded: Graph) -> Program:
        """The program for the size of a recorded graph; NotSized if it does not serve that."""
        return replace(self.program, fit=self.plan.fit(recorded))
