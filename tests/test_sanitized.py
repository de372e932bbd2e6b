"""Generated C under the address and undefined-behaviour sanitizers, driven by a C program of its own.

Every buffer, those that would share the arena too, is an allocation of exactly its size, filled with ones: a read or
write beside it stops the program, and reading what nothing has written gives NaN. Each graph runs twice: with buffers
as malloc places them, and with buffers that are aligned to their elements only, as a slice of a user's array may be.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from tracegrad.compiler.codegen.render import render
from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.graph import Graph
from tracegrad.compiler.pipeline import FLAGS, SizedProgram
from tracegrad.compiler.schedule.memory import aligned
from tracegrad.compiler.schedule.plan import make_schedule
from tracegrad.ops.types import Type, int64
from tracegrad.runtime.build import INCLUDE

sys.path.insert(0, str(Path(__file__).parent / "compiler"))  # where the tests of the compiler keep theirs
from attention_graphs import attention_graphs  # noqa: E402
from c_compilers import COMPILERS, WARNINGS  # noqa: E402
from convolution_graphs import window_graphs  # noqa: E402
from named_graphs import KINDS, named_graphs  # noqa: E402
from row_graphs import row_graphs  # noqa: E402
from sample_graphs import CASES, sample_inputs  # noqa: E402
from sample_steps import classifier_step, moons_step, step_inputs  # noqa: E402
from sanitized_graphs import OUTSIDE, divisions_by_zero, right_graphs, wrong_indices  # noqa: E402
from sanitized_sizes import SIZED  # noqa: E402

pytestmark = pytest.mark.long(every=41)

# -g1 is what reports need to name lines; -g would take gcc half as long again.
SANITIZERS = ("-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
# A step allocates nothing, and looking for leaks needs rights that containers may not give.
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}

# Sums are taken in another order than numpy's, and tg_ functions are a few ulp from libm's.
TOLERANCE = {"float16": 2.0**-9, "bfloat16": 2.0**-6, "float32": 2e-5, "float64": 1e-12}

# Hundreds of statements in one body would take gcc ten seconds, and show what a few show.
SAMPLES = {name: graph for name, graph in CASES.items() if name not in ("long_chain", "written_again_and_again")}
STEPS = (moons_step(batch=33), classifier_step("classifier", 19, 24, 40, 10))

MAIN = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arena memory and error details are aligned to 64 bytes; inputs and results are placed as the user's arrays are. */
enum kind { ALIGNED, INPUT, RESULT };
struct slot { enum kind kind; size_t bytes, item; };

static char *allocate(struct slot slot, int shifted)
{
    void *block;
    if (posix_memalign(&block, slot.kind == ALIGNED ? 64 : 16, slot.bytes + (shifted ? slot.item : 0)))
        abort();
    char *memory = (char *)block + (shifted ? slot.item : 0);
    memset(memory, 0xFF, slot.bytes);
    return memory;
}

static void run(int (*step)(void *const *), const struct slot *slots, int count, int shifted, FILE *in, FILE *out)
{
    char *memory[count];
    rewind(in);
    for (int n = 0; n < count; ++n)
    {
        memory[n] = allocate(slots[n], shifted && slots[n].kind != ALIGNED);
        if (slots[n].kind == INPUT && fread(memory[n], 1, slots[n].bytes, in) != slots[n].bytes)
            abort();
    }
    const int code = step((void *const *)memory);
    fwrite(&code, sizeof code, 1, out);
    for (int n = 0; n < count; ++n)
    {
        if (slots[n].kind != ALIGNED)
            fwrite(memory[n], 1, slots[n].bytes, out);
        free(memory[n] - (shifted && slots[n].kind != ALIGNED ? slots[n].item : 0));
    }
}

DECLARATIONS

int main(int argc, char **argv)
{
    FILE *const in = fopen(argv[argc - 2], "rb"), *const out = fopen(argv[argc - 1], "wb");
    for (int shifted = 0; shifted < 2; ++shifted)
        switch (atoi(argv[1]))
        {
CASES
        }
    return fclose(in) || fclose(out);
}
"""


@dataclass(frozen=True, eq=False)
class Subject:
    """A graph, its inputs' values, and its C with every buffer in a slot of its own."""

    graph: Graph
    inputs: dict
    slots: tuple  # (kind, type or None, bytes, bytes of an element)
    source: str
    words: np.ndarray | None = None  # the table of sizes of a program for all sizes

    @property
    def arrays(self):
        """The types of the slots that the driver writes out: inputs, then results, then the table of sizes."""
        return [of for _, of, _, _ in self.slots if of is not None]


def subject(graph, inputs):
    schedule = make_schedule(graph)
    fresh = [r.node.type for r in graph.results if r.into is None]
    slots = [("ALIGNED", None, schedule.arena_bytes, 64), ("ALIGNED", None, 32, 8)]
    slots += [("INPUT", n.type, n.type.nbytes, n.type.dtype.itemsize) for n in graph.inputs]
    slots += [("RESULT", t, t.nbytes, t.dtype.itemsize) for t in fresh]
    buffers = []
    for buffer in schedule.buffers:
        if buffer.place == "arena":
            slots.append(("ALIGNED", None, buffer.type.nbytes, buffer.type.dtype.itemsize))
            buffer = replace(buffer, place="slot", number=len(slots) - 1)
        buffers.append(buffer)
    return Subject(graph, inputs, tuple(slots), render(replace(schedule, buffers=tuple(buffers))))


def sized_subject(make, n):
    """One size of a program for all sizes. Scratch memory of products ends where its allocation ends."""
    graph = make(n)
    sizing = SizedProgram(*map(make, make.examples)).plan
    fit, schedule = sizing.fit(graph), sizing.way.schedule
    count = len(fit.sizes)
    nbytes = [lifetime.at(fit.sizes) for lifetime, _, _ in sizing.way.lifetimes]
    held = {buffer.number: buffer for buffer in schedule.buffers if buffer.place == "sized"}
    scratch = [number for number in range(count, count + len(nbytes)) if number not in held]
    arena = max((aligned(nbytes[number - count]) for number in scratch), default=0)
    words = fit.words.copy()
    words[scratch] = [arena - aligned(nbytes[number - count]) for number in scratch]
    inputs = (*graph.inputs, *sizing.way.graph.inputs[len(graph.inputs) :])
    slots = [("ALIGNED", None, arena, 64), ("ALIGNED", None, 32, 8)]
    slots += [("INPUT", of, of.nbytes, of.dtype.itemsize) for of in (n.type for n in inputs)]
    slots += [("RESULT", of, of.nbytes, of.dtype.itemsize) for of in fit.result_types]
    slots.append(("INPUT", Type(int64, words.shape), words.nbytes, 8))
    placed = {}
    for number, buffer in held.items():
        slots.append(("ALIGNED", None, nbytes[number - count], buffer.type.dtype.itemsize))
        placed[buffer.name] = replace(buffer, place="slot", number=len(slots) - 1)
    buffers = tuple(placed.get(buffer.name, buffer) for buffer in schedule.buffers)
    whole = Graph(f"{make.name}_{n}", inputs, graph.results)
    values = make.inputs(graph) | fit.numbers
    return Subject(whole, values, tuple(slots), render(replace(schedule, buffers=buffers)), words)


# Locals of templates, macros and types, as users' names: what reads and writes the wrong memory shows here.
NAMES = """row column line k place before best value from to left right middle i0 v1 acc p scratch dot_row dot_sum linux
    NAN INT64_MAX int64_t memcpy double n in0 out0 sum x x_ a.b a_b 0.weight""".split()


def graphs_with_names():
    for kind in KINDS:
        for number, (graph, values) in enumerate(named_graphs(kind, NAMES)):
            yield replace(graph, name=f"{kind}_with_names_{number}"), values


#: Those of other sizes show nothing more here, and take the compilers long.
ROWS = [(g, x) for g, x in row_graphs() if not re.search("_(3_4500|1_10|128_1|9_64|96_17|float64)", g.name)]


def own_graphs():
    return [*right_graphs(), *ROWS, *window_graphs(8), *wrong_indices(), *divisions_by_zero(), *graphs_with_names()]


@lru_cache
def subjects():
    """Every graph of this file by name."""
    graphs = [*own_graphs(), *attention_graphs()]
    graphs += [(graph, sample_inputs(graph)) for graph in SAMPLES.values()]
    graphs += [(graph, step_inputs(graph)) for graph in STEPS]
    sized = [sized_subject(make, n) for make in SIZED for n in make.sizes]
    return {graph.name: subject(graph, inputs) for graph, inputs in graphs} | {one.graph.name: one for one in sized}


NAMES_OF_RIGHT = [graph.name for graph, _ in (*right_graphs(), *ROWS, *window_graphs(8), *graphs_with_names())]
NAMES_OF_RIGHT += [graph.name for graph, _ in attention_graphs()]
NAMES_OF_RIGHT += [*SAMPLES, *(graph.name for graph in STEPS)]
NAMES_OF_RIGHT += [f"{make.name}_{n}" for make in SIZED for n in make.sizes]


@pytest.fixture(scope="module", params=COMPILERS)
def compiler(request):
    return request.param


@pytest.fixture(scope="module")
def folder(request, compiler, tmp_path_factory):
    """The C, one file for each graph that a test of this run asks for, and the driver."""
    folder = tmp_path_factory.mktemp("sanitized")
    parameters = [item.callspec.params for item in request.session.items if item.path == request.path]
    asked = {of["name"] for of in parameters if "name" in of} or set(subjects())
    chosen = [(number, one) for number, (name, one) in enumerate(subjects().items()) if name in asked]
    for number, one in chosen:
        (folder / f"graph{number}.c").write_text(one.source.replace("tracegrad_step", f"step_{number}"))
    (folder / "main.c").write_text(driver(chosen))
    return folder


def driver(chosen):
    declarations, cases = [], []
    for number, one in chosen:
        slots = ", ".join(f"{{{kind}, {nbytes}, {item}}}" for kind, _, nbytes, item in one.slots)
        declarations.append(f"int step_{number}(void *const *slots);")
        declarations.append(f"static const struct slot slots_{number}[] = {{{slots}}};")
        cases += [f"case {number}: run(step_{number}, slots_{number}, {len(one.slots)}, shifted, in, out); break;"]
    return MAIN.replace("DECLARATIONS", "\n".join(declarations)).replace("CASES", "\n".join(cases))


def compile_all(compiler, folder, flags):
    files = sorted(path.name for path in folder.glob("*.c"))
    command = [compiler, *FLAGS, *flags, f"-I{INCLUDE}", *files]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def program(compiler, folder):
    compile_all(compiler, folder, (*SANITIZERS, "-o", "program", "-lm"))
    return folder / "program"


def run(program, name, inputs):
    """For each of both placements: the step's code, inputs after the step, fresh results."""
    one, number = subjects()[name], list(subjects()).index(name)
    given, written = program.with_name(f"{number}.in"), program.with_name(f"{number}.out")
    values = [inputs[n.label] for n in one.graph.inputs] + ([] if one.words is None else [one.words])
    given.write_bytes(b"".join(np.ascontiguousarray(array).tobytes() for array in values))
    command = [str(program), str(number), str(given), str(written)]
    result = subprocess.run(command, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and not result.stderr, f"{result.stderr}\n{one.source}"
    return parsed(one, written.read_bytes())


def parsed(one, text):
    runs, at = [], 0
    for _ in range(2):
        code, arrays = int(np.frombuffer(text, np.int32, 1, at)[0]), []
        at += 4
        for of in one.arrays:
            arrays.append(np.frombuffer(text, of.dtype.numpy, of.size, at).reshape(of.shape))
            at += of.nbytes
        ends = len(one.graph.inputs), len(one.arrays) - (one.words is not None)
        runs.append((code, arrays[: ends[0]], arrays[ends[0] : ends[1]]))
    assert at == len(text)
    return runs


def close(actual, expected, name):
    allowed = TOLERANCE.get(str(expected.dtype), 0)
    if expected.dtype.kind == "V":  # bfloat16
        actual, expected = actual.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_allclose(actual, expected, rtol=allowed, atol=allowed, err_msg=name)


@pytest.mark.parametrize("name", NAMES_OF_RIGHT)
def test_right_numbers_and_nothing_undefined(program, name):
    one = subjects()[name]
    expected = evaluate_graph(one.graph, one.inputs)
    updates = {r.into: expected[r.name] for r in one.graph.results if r.into}
    fresh = {r.name: expected[r.name] for r in one.graph.results if r.into is None}
    for code, inputs, results in run(program, name, one.inputs):
        assert code == 0
        for node, after in zip(one.graph.inputs, inputs, strict=True):
            close(after, updates.get(node.label, one.inputs[node.label]), node.label)
        for actual, (key, wanted) in zip(results, fresh.items(), strict=True):
            close(actual, wanted, key)


@pytest.mark.parametrize("wrong", OUTSIDE)
@pytest.mark.parametrize("name", [graph.name for graph, _ in wrong_indices()])
def test_a_wrong_index_is_refused_before_memory_is_touched(program, name, wrong):
    one = subjects()[name]
    index = one.inputs["index"].copy()
    index[2] = wrong
    for code, (x, _), _ in run(program, name, one.inputs | {"index": index}):
        assert code > 0
        np.testing.assert_array_equal(x, one.inputs["x"])


@pytest.mark.parametrize("name", [graph.name for graph, _ in divisions_by_zero()])
def test_integer_division_by_zero_is_refused_and_does_not_stop_the_process(program, name):
    for code, (x, _), _ in run(program, name, subjects()[name].inputs):
        assert code > 0
        np.testing.assert_array_equal(x, subjects()[name].inputs["x"])


def test_no_warnings(compiler, folder):
    """With the flags that users get: what gcc warns of depends on what it optimises."""
    compile_all(compiler, folder, (*WARNINGS, "-shared", "-o", "all.so"))
