"""Products of looked-up rows: computed for the table, equal in value and gradient, and refused where they were."""

import numpy as np
import pytest
from harness import CheckFailed, compile_and_run

from tracegrad.compiler.differentiate import differentiate
from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.compiler.passes.look_up_products import look_up_products
from tracegrad.compiler.passes.simplify import simplify
from tracegrad.ops.core import interpreting
from tracegrad.ops.indexing import take
from tracegrad.ops.movement import reshape, transpose
from tracegrad.ops.products import dot
from tracegrad.ops.types import Type, float64, int64

BATCH, TIME, FEATURES, OUTPUTS = 6, 5, 3, 7


def straight(rows):
    return reshape(rows, (BATCH * TIME, FEATURES))


def by_time(rows):
    return reshape(transpose(rows, (1, 0, 2)), (TIME * BATCH, FEATURES))


def graph_of(symbols, way, of=("out",), wrt=()):
    """``way(table[index]) @ weight``, or its gradients."""
    builder = Builder()
    table = builder.input("table", Type(float64, (symbols, FEATURES)))
    index = builder.input("index", Type(int64, (BATCH, TIME)))
    weight = builder.input("weight", Type(float64, (FEATURES, OUTPUTS)))
    with interpreting(builder):
        out = dot(way(take(table, index)), weight)
    graph = Graph("looked_up", (table, index, weight), (Result("out", out),))
    return differentiate(graph, of, wrt) if wrt else graph


def inputs_of(symbols, seed=0):
    random = np.random.default_rng(seed)
    return {
        "table": random.standard_normal((symbols, FEATURES)),
        "index": random.integers(-symbols, symbols, (BATCH, TIME)),
        "weight": random.standard_normal((FEATURES, OUTPUTS)),
        "grad_out": random.standard_normal((BATCH * TIME, OUTPUTS)),
    }


def given(graph, inputs):
    return {node.label: inputs[node.label] for node in graph.inputs}


def largest_product(graph):
    products = [node for node in graph.nodes() if node.op.name == "dot"]
    return max(np.prod([*node.args[0].type.shape, node.type.shape[1]]) for node in products)


GRAPHS = {"values": (), "of the weight": ("weight",), "of both": ("table", "weight")}


@pytest.mark.parametrize("wrt", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("way", [straight, by_time])
def test_small_tables(way, wrt):
    before = simplify(graph_of(3, way, wrt=wrt))
    after = simplify(look_up_products(before))
    assert largest_product(after) == 3 * FEATURES * OUTPUTS < largest_product(before)
    inputs = given(before, inputs_of(3))
    expected = evaluate_graph(before, inputs)
    # Sums of at most 30 numbers of order one, grouped in another way.
    for name, value in evaluate_graph(after, inputs).items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-13, atol=1e-13)
    for name, value in compile_and_run(after, inputs).items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-13, atol=1e-13)


def test_large_tables_stay_as_they_are():
    graph = graph_of(BATCH * TIME, straight, wrt=("table", "weight"))
    assert look_up_products(graph) is graph


@pytest.mark.parametrize("wrt", [(), ("table",), ("table", "weight")])
@pytest.mark.parametrize("outputs", [1, FEATURES, TIME, OUTPUTS])
@pytest.mark.parametrize("first", [True, False], ids=["rows first", "rows second"])
def test_batches_of_products_stay_as_they_are(first, outputs, wrt):
    """Each batch has a factor of its own, as in skip-grams: the rows of the table have no common one."""
    builder = Builder()
    table = builder.input("table", Type(float64, (2, FEATURES)))
    index = builder.input("index", Type(int64, (BATCH, TIME)))
    weight = builder.input("weight", Type(float64, (BATCH, FEATURES, outputs) if first else (BATCH, outputs, TIME)))
    with interpreting(builder):
        rows = take(table, index)
        out = dot(rows, weight) if first else dot(weight, rows)
    graph = Graph("looked_up", (table, index, weight), (Result("out", out),))
    graph = simplify(differentiate(graph, ("out",), wrt) if wrt else graph)
    assert look_up_products(graph) is graph


def test_rows_that_are_not_looked_up_reach_no_gradient():
    before = graph_of(4, by_time, wrt=("table", "weight"))
    inputs = given(before, inputs_of(4))
    inputs["index"] = inputs["index"] % 3  # never row 3
    inputs["table"][3] = [np.inf, -np.inf, np.nan]
    after = evaluate_graph(look_up_products(before), inputs)
    for name, value in evaluate_graph(before, inputs).items():
        assert np.isfinite(value).all()
        np.testing.assert_allclose(after[name], value, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("wrong", [3, -4])
def test_rows_that_are_not_there_are_refused(wrong):
    graph = look_up_products(graph_of(3, straight))
    inputs = given(graph, inputs_of(3))
    inputs["index"][2, 1] = wrong
    with pytest.raises(CheckFailed):
        compile_and_run(graph, inputs)
