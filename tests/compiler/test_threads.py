"""Kernels that threads share: which ones, and the same bits whatever the number of threads is.

Grains are made as small as they can be, so that each kernel that can be shared is, however small the graph.
"""

import ctypes
import shutil
from pathlib import Path

import numpy as np
import pytest
from convolution_graphs import window_graphs
from harness import compile_graphs
from row_graphs import row_graphs
from sample_graphs import CASES, sample_inputs
from sample_steps import classifier_step, moons_step, step_inputs

from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.compiler.schedule import threads
from tracegrad.ops.arithmetic import maximum
from tracegrad.ops.core import interpreting
from tracegrad.ops.movement import transpose
from tracegrad.ops.products import dot
from tracegrad.ops.types import Type, float32, float64

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="these tests compile C with gcc")

POOL = Path(__file__).parents[2] / "runtime" / "pool.c"
NUMBERS = (1, 2, 3, 7)
#: Hundreds of statements in one body would take gcc ten seconds, and are split as a few are.
SAMPLES = {name: graph for name, graph in CASES.items() if name not in ("long_chain", "written_again_and_again")}


class Record(ctypes.Structure):
    """`tg_threads` of runtime/include/tg_pool.h."""

    _fields_ = [("threads", ctypes.c_long), ("run", ctypes.c_void_p)]


def shared(graphs):
    """The graphs compiled together with the pool, and the record that says how many threads they use."""
    compiled = compile_graphs(graphs, flags=(str(POOL), "-pthread"))
    library = compiled[0].library
    record = Record(1, ctypes.cast(library.tracegrad_pool_run, ctypes.c_void_p).value)
    ctypes.c_void_p.in_dll(library, "tracegrad_threads").value = ctypes.addressof(record)
    return compiled, record


def counts(library):
    """Workers, shared kernels, pieces that workers have computed."""
    found = (ctypes.c_long * 3)()
    library.tracegrad_pool_counts(found)
    return list(found)


def copies(inputs):
    return {name: np.array(value, order="C") for name, value in inputs.items()}


def results(one, record, inputs, number):
    record.threads = number
    given = copies(inputs)
    found = {name: np.array(value) for name, value in one.run(given).items()}
    return found | {f"input {name}": value for name, value in given.items()}


def assert_close(graph, inputs, found):
    """Sums in parts are sums: numpy's, but for the order of additions."""
    with np.errstate(all="ignore"):
        expected = evaluate_graph(graph, copies(inputs))
    for name, wanted in expected.items():
        allowed = {"float32": 1e-4, "float64": 1e-11}.get(str(wanted.dtype), 0)
        scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=0) if allowed else 0
        np.testing.assert_allclose(found[name], wanted, rtol=allowed, atol=allowed * scale, err_msg=graph.name)


def assert_same_bits(graphs, monkeypatch, at_least):
    """All graphs give the same bits with each number of threads; so many of their kernels are shared."""
    graphs = list(graphs)
    monkeypatch.setattr(threads, "GRAIN", 0.01)
    compiled, record = shared([graph for graph, _ in graphs])
    splits = [k.split for one in compiled for k in one.schedule.kernels if getattr(k, "split", None) is not None]
    assert len(splits) >= at_least
    for _ in range(50):
        for one, (graph, inputs) in zip(compiled, graphs, strict=True):
            alone = results(one, record, inputs, 1)
            assert_close(graph, inputs, alone)
            for number in NUMBERS:
                together = results(one, record, inputs, number)
                for name, value in alone.items():
                    assert value.tobytes() == together[name].tobytes(), (graph.name, name, number, splits)
        workers, regions, taken = counts(compiled[0].library)
        if taken:  # on a busy machine the caller may have done everything before a worker came
            break
    assert 0 < workers < max(NUMBERS) and regions >= at_least and taken


# ------------------------------------------------------------------------------------------------ products


def product(m, n, k, layout="NN", dtype=float32, batch=(), epilogue=True):
    """A graph with one product, whose operands are transposed or not, and what is done with its elements."""
    builder = Builder()
    shapes = {"a": (*batch, m, k) if layout[0] == "N" else (*batch, k, m)}
    shapes["b"] = (*batch, k, n) if layout[1] == "N" else (*batch, n, k)
    inputs = {name: builder.input(name, Type(dtype, shape)) for name, shape in shapes.items()}
    bias = builder.input("bias", Type(dtype, (n,)))
    turn = (*range(len(batch)), len(batch) + 1, len(batch))
    with interpreting(builder):
        a, b = (x if way == "N" else transpose(x, turn) for x, way in zip(inputs.values(), layout, strict=True))
        result = dot(a, b)
        if epilogue:
            result = maximum(result + bias, 0.0)
    name = "_".join(map(str, ("product", m, n, k, layout, dtype.name, *batch)))
    graph = Graph(name, (*inputs.values(), bias), (Result("result", result),))
    rng = np.random.default_rng(3)
    return graph, {i.label: rng.standard_normal(i.type.shape).astype(dtype.numpy) for i in graph.inputs}


LAYOUTS = ("NN", "NT", "TN", "TT")
PRODUCTS = [
    *((*shape, layout) for shape in [(29, 300, 7), (70, 150, 40), (300, 37, 33), (270, 260, 9)] for layout in LAYOUTS),
    *((*shape, layout) for shape in [(30, 300, 1100), (170, 40, 2100)] for layout in LAYOUTS),
    (130, 2, 33, "NN"), (1, 1500, 9, "NN"), (1, 70, 90, "NT"), (70, 1, 90, "NN"), (70, 1, 90, "TN"), (3, 2, 3, "NN"),
    (20, 300, 1024, "NN"), (65, 280, 128, "NT", float64), (1030, 24, 1030, "TN", float64),
    (270, 290, 601, "TN"), (600, 250, 540, "NT"), (131, 263, 333, "NN", float64),
    (9, 33, 12, "NT", float32, (2, 3)), (290, 250, 11, "TN", float32, (2,)), (20, 40, 1100, "NN", float32, (3,)),
    (1, 40, 30, "NN", float32, (5,)), (4, 3, 2, "NN", float64, (2, 9)),
]  # fmt: skip


def test_some_products(monkeypatch):
    """Of most forms: in tiles with packed operands, blocked, plain, of a vector, batched."""
    assert_same_bits([product(*case) for case in PRODUCTS[::6]], monkeypatch, at_least=5)


@pytest.mark.long(every=1)
def test_products(monkeypatch):
    """All forms of a product, along rows, columns or the batch: nearly each is shared."""
    assert_same_bits([product(*case) for case in PRODUCTS], monkeypatch, at_least=len(PRODUCTS) - 2)


# ------------------------------------------------------------------------------------------------ other kernels


@pytest.mark.long(every=1)
def test_sample_graphs(monkeypatch):
    graphs = [(graph, sample_inputs(graph)) for graph in SAMPLES.values()]
    assert_same_bits(graphs, monkeypatch, at_least=20)


@pytest.mark.long(every=1)
def test_rows(monkeypatch):
    assert_same_bits(row_graphs(), monkeypatch, at_least=15)


@pytest.mark.long(every=1)
def test_windows(monkeypatch):
    assert_same_bits(window_graphs(4), monkeypatch, at_least=20)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("step", [moons_step(batch=33), classifier_step("classifier", 19, 24, 40, 10)])
def test_training_steps(monkeypatch, step):
    assert_same_bits([(step, step_inputs(step))], monkeypatch, at_least=5)
