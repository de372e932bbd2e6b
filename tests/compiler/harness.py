"""Compiling graphs with the plain C compiler and running them on numpy arrays, for tests.

Warnings are errors here: generated C has to be clean.
"""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from c_compilers import WARNINGS

from tracegrad.compiler.codegen.render import render
from tracegrad.compiler.schedule.plan import make_schedule

INCLUDE = Path(__file__).parents[2] / "runtime" / "include"
FLAGS = (
    "-O2 -march=native -std=gnu17 -fopenmp-simd -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv "
    "-shared -fPIC"
).split()


class CheckFailed(Exception):
    """The step returned a check's code; `detail` is what it said."""

    def __init__(self, check, detail):
        super().__init__(check, detail)
        self.check = check
        self.detail = detail


class Compiled:
    """A graph as a loaded library. `run(inputs)` overwrites arrays that results go into, as the step does."""

    def __init__(self, graph, schedule, source, library):
        self.graph, self.schedule, self.source = graph, schedule, source
        self.step = library.tracegrad_step
        self.library = library.library

    def run(self, inputs):
        """All results by name; those with `into` are the inputs themselves."""
        arena = aligned(self.schedule.arena_bytes)
        detail = np.zeros(4, np.int64)
        given = [inputs[node.label] for node in self.graph.inputs]
        fresh = {
            r.name: np.full(r.node.type.shape, 77, r.node.type.dtype.numpy)
            for r in self.graph.results
            if r.into is None
        }
        addresses = [a.ctypes.data for a in (arena, detail, *given, *fresh.values())]
        code = self.step((ctypes.c_void_p * len(addresses))(*addresses))
        if code:
            raise CheckFailed(self.schedule.checks[code - 1], detail)
        return {r.name: inputs[r.into] if r.into else fresh[r.name] for r in self.graph.results}


def aligned(nbytes):
    """Bytes at a 64-byte boundary, filled with rubbish."""
    memory = np.full(nbytes + 64, 0xA5, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + nbytes]


def compile_graphs(graphs, compiler="gcc", flags=()):
    """Each graph as a Compiled, by one run of the compiler on all of them; `flags` go after those of this file."""
    folder = Path(tempfile.mkdtemp(prefix="tracegrad-test-"))
    try:
        return _compile(list(graphs), folder, (compiler, *FLAGS, *WARNINGS, *flags))
    finally:
        shutil.rmtree(folder)


def asked_for(request, parameter):
    """The values of a parameter for which tests of this run ask a fixture: the fast tier asks for a few of a family."""
    mine = [item for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    return {item.callspec.params.get(parameter) for item in mine if request.fixturename in item.fixturenames}


def compile_asked(request, graphs, parameter="name"):
    """Those of `graphs` that tests of this run ask a fixture for, by that parameter. One run of the compiler, as
    `compile_graphs`."""
    asked = asked_for(request, parameter)
    names = [name for name in graphs if name in asked]
    return dict(zip(names, compile_graphs([graphs[name] for name in names]), strict=True))


def _compile(graphs, folder, command):
    schedules = [make_schedule(graph) for graph in graphs]
    sources = [render(schedule) for schedule in schedules]
    renamed = [text.replace("tracegrad_step", f"tracegrad_step_{n}") for n, text in enumerate(sources)]
    paths = [folder / f"graph{n}.c" for n in range(len(graphs))]
    for path, text in zip(paths, renamed, strict=True):
        path.write_text(text)
    command = [*command, f"-I{INCLUDE}", *map(str, paths), "-o", str(folder / "all.so"), "-lm"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, f"{result.stderr[:4000]}\n{sources[0][:20000]}"
    library = ctypes.CDLL(str(folder / "all.so"))
    return [
        Compiled(g, s, text, _Step(library[f"tracegrad_step_{n}"], library))
        for n, (g, s, text) in enumerate(zip(graphs, schedules, sources, strict=True))
    ]


class _Step:
    def __init__(self, function, library):
        self.tracegrad_step, self.library = function, library


def compile_and_run(graph, inputs):
    """The results of one step; the arrays in `inputs` stay as they are."""
    copies = {name: np.array(value, order="C") for name, value in inputs.items()}
    return compile_graphs([graph])[0].run(copies)
