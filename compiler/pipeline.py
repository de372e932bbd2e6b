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
from dataclasses import dataclass, replace
from pathlib import Path

from ..runtime.build import Built, Unit
from ..runtime.program import Program as Library
from ..runtime.provide import provide, require, say
from .codegen.render import render
from .dump import dump
from .graph import Graph
from .passes.simplify import simplify
from .schedule.plan import make_schedule
from .schedule.schedule import Schedule
from .sizes.program import Fit, Sizing

FLAGS = (
    "-std=gnu17",
    "-O2",  # vector loops say so themselves (omp simd), register tiles ask for -O3: a fifth less to wait for
    "-march=native",
    "-fopenmp-simd",
    "-ffp-contract=off",  # a*b + c must round twice, as in eager mode; dot kernels ask for FMA themselves
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",  # integers wrap around, as in numpy
    "-fvisibility=hidden",
    "-fPIC",
    # gcc halves vectors on its own on processors that once ran slower at full width
    *(("-mprefer-vector-width=512",) if platform.machine() in ("x86_64", "AMD64") else ()),
)


@dataclass(frozen=True, eq=False)
class Program:
    """A compiled graph with everything that led to it. A program for all sizes has in `fit` what one of them needs."""

    graph: Graph
    schedule: Schedule
    source: str
    built: Built
    library: Library
    fit: Fit | None = None

    @property
    def source_path(self) -> Path:
        """Where the C lies."""
        return self.built.sources[0]


def require_toolchain() -> None:
    """RuntimeFault unless programs can be built and loaded; to be asked before a call that must be compiled."""
    require(FLAGS)


def compile_graph(recorded: Graph) -> Program:
    """All stages after recording. RuntimeFault, after a warning, if the C cannot be built or loaded."""
    graph = simplify(recorded)
    schedule = make_schedule(graph)
    return _built(recorded, graph, schedule, render(schedule))


class SizedProgram:
    """The program for all sizes that two recordings for two sizes are examples of; NotSized if there is none."""

    def __init__(self, one: Graph, other: Graph) -> None:
        self.plan = Sizing(one, other)
        way = self.plan.way
        self.program = _built(self.plan.recorded, way.graph, way.schedule, way.source)

    def fit(self, recorded: Graph) -> Program:
        """The program for the size of a recorded graph; NotSized if it does not serve that."""
        return replace(self.program, fit=self.plan.fit(recorded))


def _built(recorded: Graph, graph: Graph, schedule: Schedule, source: str) -> Program:
    stages = (("recorded.graph", str(recorded)), ("graph", str(graph)), ("schedule", str(schedule)), ("c", source))
    try:
        dump(recorded.name, stages)
    except OSError as error:  # the call that is compiled here is done: its result must not be lost
        say(str(error), str(error))
    built = provide(recorded.name, [Unit("step", source, FLAGS)])
    return Program(graph, schedule, source, built, built.program)
