"""Nodes and graphs: order, identity, structure; and the reference evaluation."""

import itertools
import tracemalloc

import numpy as np
import pytest

from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.graph import Builder, Graph, Origin, Result, topological, users
from tracegrad.compiler.text import parse
from tracegrad.ops.core import interpreting
from tracegrad.ops.movement import transpose
from tracegrad.ops.reductions import sum as sum_op
from tracegrad.ops.trigonometry import tanh
from tracegrad.ops.types import Type, float32


def build(function, *shapes):
    builder = Builder()
    inputs = [builder.input(name, Type(float32, shape)) for name, shape in zip("xyz", shapes, strict=False)]
    with interpreting(builder):
        return Graph("f", tuple(inputs), (Result("out", function(*inputs)),))


def test_order_has_operands_before_users_and_no_dead_nodes():
    graph = build(lambda x, y: [x * y, tanh(x) + y][1], (2,), (2,))
    assert [n.op.name for n in graph.nodes()] == ["input", "input", "tanh", "add"]


def test_deep_graphs_need_no_recursion():
    def deep(x):
        for _ in range(6_000):
            x = tanh(x)
        return x

    graph = build(deep, (1,))
    assert len(topological([graph.result("out")])) == 6_001
    assert parse(str(graph)) == graph
    assert evaluate_graph(graph, {"x": np.ones(1, np.float32)})["out"][0] < 0.02


def test_users_are_listed_once_and_in_order():
    graph = build(lambda x: x * x + x, (2,))
    x, product, total = graph.nodes()
    assert users(graph) == {x: [product, total], product: [total], total: []}


def test_graphs_compare_by_structure_and_nodes_by_identity():
    one, two = build(lambda x: x + 1, (2,)), build(lambda x: x + 1, (2,))
    assert one == two and hash(one) == hash(two)
    assert one.result("out") is not two.result("out") and one.result("out") != two.result("out")


@pytest.mark.parametrize("other", [lambda x: x + 2, lambda x: x - 1, lambda x: 1 + x, lambda x: x + 1 + 0])
def test_graphs_with_another_structure_differ(other):
    assert build(lambda x: x + 1, (2,)) != build(other, (2,))


def test_zeros_of_different_sign_differ():
    assert build(lambda x: x + 0.0, (2,)) != build(lambda x: x + -0.0, (2,))


def test_origins_do_not_count():
    builder = Builder(Origin("model.py", 3))
    x = builder.input("x", Type(float32, (2,)))
    with interpreting(builder):
        placed = Graph("f", (x,), (Result("out", x + 1),))
    assert placed == build(lambda x: x + 1, (2,))


def test_rewriting_reads_the_replacement_everywhere():
    graph = build(lambda x, y: tanh(x) * tanh(x), (2,), (2,))
    x, y = graph.inputs
    assert graph.rewritten({x: y}) == build(lambda x, y: tanh(y) * tanh(y), (2,), (2,))


def test_replacements_read_each_other():
    graph = build(lambda x: -tanh(-tanh(x)), (2,))
    outer, inner = (n for n in reversed(graph.nodes()) if n.op.name == "neg")
    with interpreting(Builder()):
        doubled = {node: (node.args[0] * 2.0) * 1.0 for node in (inner, outer)}
    assert graph.rewritten(doubled) == build(lambda x: tanh(tanh(x) * 2.0 * 1.0) * 2.0 * 1.0, (2,))


def test_mapped_rules_see_operands_already_replaced():
    graph = build(lambda x: tanh(tanh(tanh(x))), (2,))
    assert graph.mapped(lambda n: n.args[0] if n.op.name == "tanh" else n) == build(lambda x: x, (2,))


def test_evaluation_of_each_result():
    graph = parse(
        """
        graph f(x: f32[2,3], n: i64[]):
          %0: f32[2] = sum x axes=(1,)
          %1: f32[2] = cast %0 dtype=f32
          %2: i64[] = mul n, 3i64
          return total=%1
          update n as tripled = %2
        """
    )
    n = np.array(5)
    results = evaluate_graph(graph, {"x": np.ones((2, 3), np.float32), "n": n})
    assert results["total"].tolist() == [3, 3] and results["tripled"] == 15 and n == 5


def test_results_are_memory_of_their_own():
    graph = build(lambda x: x, (2,))
    x = np.ones(2, np.float32)
    assert not np.shares_memory(evaluate_graph(graph, {"x": x})["out"], x)


def test_results_share_no_memory_with_each_other_or_with_an_input():
    """The same value twice, views of it and of an input, and an input itself, in either order."""
    builder = Builder()
    x = builder.input("x", Type(float32, (2, 3)))
    with interpreting(builder):
        y = tanh(x)
        nodes = [y, transpose(y, (1, 0)), y, x, transpose(x, (1, 0)), tanh(y)]
    at = np.ones((2, 3), np.float32)
    for order in (nodes, nodes[::-1]):
        results = tuple(Result(f"r{i}", node) for i, node in enumerate(order))
        found = [*evaluate_graph(Graph("f", (x,), results), {"x": at}).values(), at]
        assert all(each.flags.writeable and each.flags.c_contiguous for each in found)
        assert not any(np.shares_memory(a, b) for a, b in itertools.combinations(found, 2))


def test_a_result_that_nothing_else_has_is_not_copied():
    graph = build(lambda x: tanh(x), (1_000_000,))
    x = np.ones(1_000_000, np.float32)
    evaluate_graph(graph, {"x": x})
    tracemalloc.start()
    evaluate_graph(graph, {"x": x})
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert x.nbytes <= most < 1.5 * x.nbytes


def test_missing_and_mistyped_inputs_are_named():
    graph = build(lambda x: sum_op(x, (0,)), (2,))
    with pytest.raises(ValueError, match=r"no value for the input x: f32\[2\]"):
        evaluate_graph(graph, {})
    with pytest.raises(TypeError, match=r"the input x is f64\[2\], wanted f32\[2\]"):
        evaluate_graph(graph, {"x": np.ones(2)})


def test_a_rule_is_asked_once_for_what_it_leaves_as_it_is():
    graph, asked, settled = build(lambda x: tanh(tanh(x)) * 2.0, (2,)), [], set()

    def rule(node):
        asked.append(node)
        return node

    assert graph.mapped(rule, settled) is graph
    assert graph.mapped(rule, settled) is graph
    assert asked == list(graph.nodes()) and settled == set(asked)


def test_equal_graphs_have_equal_hashes():
    """Constants and inputs have no line of their own: how many nodes stand for them does not count."""

    def two():
        return Builder().constant(2.0, float32)

    one, other = build(lambda x: x * 2.0 + 2.0, (2,)), build(lambda x: x * two() + two(), (2,))
    assert len(one.nodes()) < len(other.nodes())
    assert one == other and hash(one) == hash(other)
    assert hash(one) != hash(build(lambda x: x * 2.0, (2,)))
    assert hash(one) != hash(build(lambda x: x * 2.0 + 2.0, (3,)))
