"""Graphs as text: what is printed reads back to the same graph, and text that is no graph is refused with its line."""

import math
from textwrap import dedent

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracegrad.compiler.graph import Builder, Graph, Origin, Result
from tracegrad.compiler.text import GraphTextError, parse
from tracegrad.ops.core import interpreting
from tracegrad.ops.movement import concatenate, pad, reshape
from tracegrad.ops.products import dot
from tracegrad.ops.reductions import sum as sum_op
from tracegrad.ops.sources import full
from tracegrad.ops.trigonometry import tanh
from tracegrad.ops.types import ALL_DTYPES, Type, float32, float64, int64

STEP = """\
graph step(x: f32[32,8], fc1.weight: f32[8,4], lr: f64[]):
  %0: f32[32,4] = dot x, fc1.weight           # model.py:4 fc1
  %1: f32[32,4] = mul 2.0, %0                 # ∂ model.py:5 fc1
  %2: f32[]     = sum %1 axes=(0, 1)
  %3: f64[]     = mul lr, 3.0f64              # train.py:17
  %4: f32[8,4]  = full shape=(8, 4) value=0.5 dtype=f32
  return loss=%2, rate=%3
  update fc1.weight = %4
  return zero=0i64"""


def test_printing_is_what_was_read():
    lines = [line.split("  #")[0].rstrip() for line in STEP.splitlines()]
    assert [line.split("  #")[0].rstrip() for line in str(parse(STEP)).splitlines()] == lines


CHECKED = """\
graph step(p: f32[4], state: f32[4]):
  %0: f32[4]  = add state, p
  %1: bool[4] = gt p, 1.0
  %2: bool[]  = any %1 axes=(0,)
  return result=%0
  update state = %0
  check "too large" = %2"""


def test_a_check_reads_back():
    graph = parse(CHECKED)
    assert str(graph) == CHECKED and parse(str(graph)) == graph
    assert [(r.is_check, r.is_returned) for r in graph.results] == [(False, True), (False, False), (True, False)]


def test_a_check_is_no_update():
    assert parse(CHECKED) != parse(CHECKED.replace("  check", "  return"))


def test_comments_stand_in_one_column():
    columns = {line.index("#") for line in str(parse(STEP)).splitlines() if "#" in line}
    assert len(columns) == 1


def test_origins_are_read_back():
    graph = parse(STEP)
    assert [n.origin for n in graph.nodes() if n.op.name in ("dot", "mul")] == [
        Origin("model.py", 4, "fc1"),
        Origin("model.py", 5, "fc1", derivative=True),
        Origin("train.py", 17),
    ]
    assert str(parse(str(graph))) == str(graph)


def returning(*nodes, inputs=()):
    return Graph("f", tuple(inputs), tuple(Result(f"r{i}", node) for i, node in enumerate(nodes)))


def returned(text):
    return parse(text).results[0].node


@pytest.mark.parametrize(
    "value, dtype, text",
    [
        (2, float32, "2.0"),
        (0.1, float32, "0.1"),
        (0.1, float64, "0.1f64"),
        (-0.0, float32, "-0.0"),
        (1e-45, float32, "1e-45"),
        (math.inf, float32, "inf"),
        (-math.inf, float64, "-inff64"),
        (math.nan, float64, "nanf64"),
        (-3, int64, "-3i64"),
        (True, ALL_DTYPES[0], "true"),
    ],
)
def test_constants_are_literals(value, dtype, text):
    graph = returning(Builder().constant(value, dtype))
    assert str(graph) == f"graph f():\n  return r0={text}"
    assert parse(str(graph)) == graph


@settings(deadline=None)
@given(st.sampled_from([d for d in ALL_DTYPES if d.is_in_c]), st.binary(min_size=8, max_size=8))
def test_every_number_reads_back_bit_for_bit(dtype, bits):
    number = np.frombuffer(bits, np.uint8)[0] % 2 == 0 if dtype.category == 0 else np.frombuffer(bits, dtype.numpy)[0]
    node = returned(str(returning(Builder().constant(number, dtype))))
    again = dtype.numpy.type(node.param("value"))
    assert node.type == Type(dtype, ()) and (again.tobytes() == dtype.numpy.type(number).tobytes() or number != number)


@settings(deadline=None)
@given(st.text(min_size=1))
def test_every_name_reads_back(name):
    x = Builder().input(name, Type(float32, (2,)))
    with interpreting(Builder()):
        graph = Graph(name, (x,), (Result(name, x + 1, into=name), Result(name + "_", x)))
    assert parse(str(graph)) == graph


@settings(deadline=None)
@given(st.text())
def test_files_of_any_name_stay_inside_the_comment(file):
    with interpreting(Builder(Origin(file, 3, "fc"))):
        node = full((2,), 1, float32)
    assert parse(str(returning(node))) == returning(node)


@pytest.mark.parametrize("name", ["nan", "inff64", "true", "None", "0", "a b", 'say "hi"', "ünï.0"])
def test_odd_names_are_quoted_where_needed(name):
    x = Builder().input(name, Type(float32, ()))
    with interpreting(Builder()):
        graph = returning(x + x, inputs=[x])
    assert parse(str(graph)) == graph and ('"' in str(graph)) == (name != "ünï.0")


def test_long_headers_have_a_line_for_each_input():
    inputs = [Builder().input(f"layers.{i}.weight", Type(float32, (16, 16))) for i in range(6)]
    graph = returning(*inputs, inputs=inputs)
    assert str(graph).splitlines()[1] == "    layers.0.weight: f32[16,16],"
    assert parse(str(graph)) == graph


def test_parameters_of_all_kinds():
    builder = Builder()
    x = builder.input("x", Type(float32, (2, 3)))
    with interpreting(builder):
        parts = concatenate([x, x], 0)
        padded = pad(reshape(x, (6,)), (1,), (0,), -math.inf)
        graph = returning(parts, padded, dot(x, reshape(x, (3, 2))), sum_op(x, ()), inputs=[x])
    assert parse(str(graph)) == graph


OPS = st.sampled_from(["add", "mul", "tanh", "neg", "sum", "reshape", "half"])


@st.composite
def graphs(draw):
    """Random graphs over f32[2,3] values."""
    builder = Builder(Origin("random.py", 1))
    values = [builder.input(name, Type(float32, (2, 3))) for name in ("x", "layers.0.w")]
    inputs = tuple(values)
    with interpreting(builder):
        for op in draw(st.lists(OPS, max_size=12)):
            x, y = draw(st.sampled_from(values)), draw(st.sampled_from(values))
            values.append(made(op, x, y))
    chosen = draw(st.lists(st.sampled_from(values), min_size=1, max_size=4))
    results = [Result(f"r{i}", node, draw(st.sampled_from([None, "x"]))) for i, node in enumerate(chosen)]
    return Graph("random", inputs, tuple(results))


def made(op, x, y):
    return {
        "add": lambda: x + y,
        "mul": lambda: x * y,
        "tanh": lambda: tanh(x),
        "neg": lambda: -x,
        "sum": lambda: sum_op(x, (0, 1)) + y,
        "reshape": lambda: reshape(reshape(x, (6,)), (2, 3)),
        "half": lambda: x * 0.5,
    }[op]()


@settings(deadline=None)
@given(graphs())
def test_generated_graphs_read_back(graph):
    again = parse(str(graph))
    assert again == graph and str(again) == str(graph)


HEAD = "graph f(x: f32[2], y: f64[2]):\n"


@pytest.mark.parametrize(
    "text, problem",
    [
        ("", "no graph in the text"),
        ("graph f(x: f32[2]:", "expected ')', found ':'"),
        ("graph f(x: f33[2]):", "no element type is called 'f33'"),
        ("graph f(x: f32[2.5]):", "expected an extent"),
        ("graph f(x: f32[2], x: f32[2]):", "x is defined twice"),
        ("graph f(\n  x: f32[2],", "expected a name, found 'the end of the line'"),
        (HEAD + "  %0: f32[2] = tanhh x", "did you mean tanh?"),
        (HEAD + "  %0: f32[3] = tanh x", r"tanh gives f32[2], not f32[3]"),
        (HEAD + "  %0: f32[2] = tanh z", "z is not known here"),
        (HEAD + "  %0: f32[2] = tanh %1", "%1 is not known here"),
        (HEAD + "  %0: f32[2] = add x", "add takes 2 operands, not 1"),
        (HEAD + "  %0: f32[] = sum x axis=(0,)", "sum: "),
        (HEAD + "  %0: f32[] = sum x axes=(0,", "'the end of the line' is no value"),
        (HEAD + "  %0: f32[2] = tanh x tanh", "expected '='"),
        (HEAD + "  tanh x", "'tanh' begins no statement"),
        (HEAD + "  return out=x, x", "expected '='"),
        (HEAD + "  return out=x x", "'x' was not expected here"),
        (HEAD + "  update = x", "expected a name, found '='"),
        (HEAD + "  $", "'$' begins no statement"),
    ],
)
def test_bad_text_is_refused_in_three_parts(text, problem):
    with pytest.raises(GraphTextError) as caught:
        parse(text)
    message = str(caught.value)
    assert problem in message and len(message.splitlines()) == 3
    assert text == "" or f"in line {len(text.splitlines())}: " in message


def test_indented_text_is_read():
    assert parse(dedent(STEP)) == parse("\n\n" + STEP + "\n")
