"""Gradients of graphs against finite differences, and the cut into a forward and a backward program."""

import numpy as np
import pytest

from tracegrad.compiler.differentiate import differentiate
from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.graph import Builder, Graph, Origin, Result
from tracegrad.compiler.split import split
from tracegrad.compiler.text import parse
from tracegrad.compiler.verify import verify
from tracegrad.ops.core import interpreting
from tracegrad.ops.elementary import exp, log
from tracegrad.ops.movement import broadcast_along, concatenate, slice, transpose
from tracegrad.ops.products import dot
from tracegrad.ops.reductions import amax
from tracegrad.ops.reductions import sum as sum_op
from tracegrad.ops.trigonometry import tanh
from tracegrad.ops.types import Type, float64, int64

SHAPES = {"x": (5, 3), "w1": (3, 4), "b1": (4,), "w2": (4, 3), "t": (5, 3)}


def mlp(x, w1, b1, w2):
    return dot(tanh(dot(x, w1) + b1), w2)


def log_softmax(z):
    rows = z.type.shape
    shifted = z - broadcast_along(amax(z, (1,)), (1,), rows)
    return shifted - broadcast_along(log(sum_op(exp(shifted), (1,))), (1,), rows)


PROGRAMS = {
    "square": lambda x, w1, b1, w2, t: sum_op(x * x, (0, 1)),
    "mlp": lambda x, w1, b1, w2, t: sum_op((mlp(x, w1, b1, w2) - t) ** 2.0, (0, 1)) / 15,
    "cross_entropy": lambda x, w1, b1, w2, t: -sum_op(log_softmax(mlp(x, w1, b1, w2)) * t, (0, 1)),
    "parts": lambda x, w1, b1, w2, t: sum_op(
        dot(concatenate([slice(x, (1, 0), (5, 3), (2, 1)), x], 0), transpose(w2, (1, 0))) ** 3.0, (0, 1)
    ),
}


def build(program):
    builder = Builder(Origin("model.py", 1, "net"))
    inputs = {name: builder.input(name, Type(float64, shape)) for name, shape in SHAPES.items()}
    with interpreting(builder):
        loss = program(**inputs)
    return verify(Graph("f", tuple(inputs.values()), (Result("loss", loss),)))


def values(seed=0):
    random = np.random.default_rng(seed)
    return {name: random.standard_normal(shape) for name, shape in SHAPES.items()}


def slope(graph, at, name, direction, result="loss"):
    """The derivative of the result along `direction`, by central differences."""
    step = 1e-6
    ahead, behind = ({**at, name: at[name] + sign * step * direction} for sign in (1, -1))
    return (evaluate_graph(graph, ahead)[result] - evaluate_graph(graph, behind)[result]) / (2 * step)


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_are_the_slopes(program):
    graph = build(PROGRAMS[program])
    gradients = verify(differentiate(graph, ["loss"], list(SHAPES)))
    at = values()
    found = evaluate_graph(gradients, {**at, "grad_loss": np.array(1.0)})
    assert found
    for name, gradient in found.items():
        wrt = name.removeprefix("grad_")
        direction = np.random.default_rng(1).standard_normal(SHAPES[wrt])
        # central differences of step 1e-6 in float64: truncation 1e-12, rounding 1e-16 / 1e-6, times values of order 10
        np.testing.assert_allclose(np.sum(gradient * direction), slope(graph, at, wrt, direction), rtol=1e-6, atol=1e-7)


def test_differentiating_twice_gives_the_second_derivative():
    graph = build(PROGRAMS["cross_entropy"])
    first = differentiate(graph, ["loss"], ["w1"])
    second = verify(differentiate(first, ["grad_w1"], ["w1"]))
    random = np.random.default_rng(2)
    at = {**values(), "grad_loss": np.array(1.0)}
    u, v = random.standard_normal((2, *SHAPES["w1"]))
    found = np.sum(evaluate_graph(second, {**at, "grad_grad_w1": u})["grad_w1"] * v)
    expected = np.sum(slope(first, at, "w1", v, "grad_w1") * u)
    # the slope of an exact gradient, see above
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_inputs_that_no_derivative_reaches_have_no_result():
    graph = parse(
        """
        graph f(x: f32[2], y: f32[2], n: i64[2]):
          %0: f32[2] = detach y
          %1: f32[2] = mul x, %0
          %2: f32[2] = cast n dtype=f32
          %3: f32[2] = add %1, %2
          return out=%3
        """
    )
    gradients = differentiate(graph, ["out"], ["x", "y"])
    assert [r.name for r in gradients.results] == ["grad_x"] and gradients.result("grad_y") is None


def test_text_of_a_gradient():
    graph = parse("graph f(x: f32[2], y: f32[2]):\n  %0: f32[2] = mul x, y\n  %1: f32[2] = tanh %0\n  return out=%1")
    assert differentiate(graph, ["out"], ["x", "y"]) == parse(
        """
        graph f_gradients(x: f32[2], y: f32[2], grad_out: f32[2]):
          %0: f32[2] = mul x, y
          %1: f32[2] = tanh %0
          %2: f32[2] = mul %1, %1
          %3: f32[2] = sub 1.0, %2
          %4: f32[2] = mul grad_out, %3
          %5: f32[2] = mul %4, y
          %6: f32[2] = mul %4, x
          return grad_x=%5, grad_y=%6
        """
    )


def test_new_nodes_carry_the_origin_marked_as_derivative():
    graph = build(PROGRAMS["mlp"])
    gradients = differentiate(graph, ["loss"], ["w1"])
    new = [n for n in gradients.nodes() if n not in graph.nodes() and not n.is_input and not n.is_constant]
    assert new and {n.origin for n in new} == {Origin("model.py", 1, "net", derivative=True)}


def test_differentiation_is_deterministic():
    texts = {str(differentiate(build(PROGRAMS["mlp"]), ["loss"], list(SHAPES))) for _ in range(3)}
    assert len(texts) == 1


def test_two_results_and_an_input_that_is_a_result():
    graph = parse("graph f(x: f64[2]):\n  %0: f64[2] = mul x, x\n  return a=%0, b=x, c=%0")
    gradients = differentiate(graph, ["a", "b", "c"], ["x"])
    cotangents = {"grad_a": np.array([1.0, 0]), "grad_b": np.array([10.0, 20]), "grad_c": np.array([0.0, 1])}
    assert evaluate_graph(gradients, {"x": np.array([3.0, 4]), **cotangents})["grad_x"].tolist() == [16, 28]


def test_names_that_are_taken_are_not_reused():
    graph = parse("graph f(x: f32[2], grad_y: f32[2]):\n  %0: f32[2] = mul x, grad_y\n  return y=%0")
    assert [n.label for n in differentiate(graph, ["y"], ["x"]).inputs] == ["x", "grad_y", "grad_y_"]


@pytest.mark.parametrize(
    "of, wrt, message",
    [
        (["z"], ["x"], "no result is called 'z'"),
        (["y"], ["z"], "no input is called 'z'"),
        (["n"], ["x"], "only floating-point values have gradients, the result n is i64"),
    ],
)
def test_what_cannot_be_differentiated_is_named(of, wrt, message):
    graph = parse("graph f(x: f32[2]):\n  %0: i64[2] = cast x dtype=i64\n  return y=x, n=%0")
    with pytest.raises(ValueError, match=message):
        differentiate(graph, of, wrt)


def test_deep_graphs_need_no_recursion():
    builder = Builder()
    x = builder.input("x", Type(float64, (2,)))
    with interpreting(builder):
        y = x
        for _ in range(5_000):
            y = tanh(y)
    gradients = differentiate(Graph("deep", (x,), (Result("y", y),)), ["y"], ["x"])
    assert len(gradients.nodes()) > 15_000


# ------------------------------------------------------------------------------------------------------------- split


@pytest.mark.parametrize("program", PROGRAMS)
def test_forward_and_backward_program_together_give_the_gradients(program):
    graph = build(PROGRAMS[program])
    gradients = differentiate(graph, ["loss"], list(SHAPES))
    parts = split(graph, gradients)
    verify(parts.forward)
    verify(parts.backward)
    at = {**values(), "grad_loss": np.array(1.5)}
    given = evaluate_graph(parts.forward, at)
    found = evaluate_graph(parts.backward, {**at, **{name: given[name] for name in parts.saved}})
    expected = evaluate_graph(gradients, at)
    assert found.keys() == expected.keys()
    assert all(np.array_equal(found[name], expected[name]) for name in found)


def test_the_backward_program_computes_nothing_of_the_forward_one():
    graph = build(PROGRAMS["mlp"])
    parts = split(graph, differentiate(graph, ["loss"], ["w1", "w2"]))
    assert not any(n.op.name == "tanh" for n in parts.backward.nodes())
    assert [n.label for n in parts.backward.inputs] == ["x", "w2", *parts.saved, "grad_loss"]


def test_only_what_is_needed_is_saved():
    graph = parse("graph f(x: f32[9]):\n  %0: f32[9] = tanh x\n  %1: f32[9] = exp %0\n  return y=%1")
    parts = split(graph, differentiate(graph, ["y"], ["x"]))
    saved = [parts.forward.result(name).op.name for name in parts.saved]
    assert saved == ["tanh", "exp"] and [n.label for n in parts.backward.inputs] == [*parts.saved, "grad_y"]


def test_views_are_made_again_from_their_operand():
    graph = parse(
        """
        graph f(x: f32[3], y: f32[2,3]):
          %0: f32[2,3] = broadcast x shape=(2, 3)
          %1: f32[2,3] = mul %0, y
          return out=%1
        """
    )
    parts = split(graph, differentiate(graph, ["out"], ["y"]))
    assert parts.saved == () and [n.label for n in parts.backward.inputs] == ["x", "grad_out"]


def test_an_input_that_the_forward_program_overwrites_is_saved_before():
    graph = parse(
        """
        graph f(x: f32[2], mean: f32[2]):
          %0: f32[2] = mul x, mean
          %1: f32[2] = add mean, x
          return out=%0
          update mean = %1
        """
    )
    parts = split(graph, differentiate(graph, ["out"], ["x"]))
    assert parts.forward.result("saved_0").label == "mean"
    assert [n.label for n in parts.backward.inputs] == ["saved_0", "grad_out"]
    assert parts.backward.inputs[0].type == Type(graph.inputs[1].type.dtype, (2,))


def test_integers_may_be_saved_too():
    graph = parse(
        """
        graph f(x: f64[4,2], n: i64[3]):
          %0: i64[3] = add n, 1i64
          %1: f64[3,2] = take x, %0
          return out=%1
        """
    )
    parts = split(graph, differentiate(graph, ["out"], ["x"]))
    assert [parts.forward.result(name).type for name in parts.saved] == [Type(int64, (3,))]
