"""Attention as one kernel: what joins it, its numbers at odd sizes and at infinities, and how much memory it takes."""

from functools import lru_cache, partial

import numpy as np
import pytest
from attention_graphs import KINDS, SIZES, arrays, attention, attention_graphs, gradients
from harness import compile_and_run, compile_asked, compile_graphs
from sanitized_graphs import graph_of

from tracegrad.compiler.differentiate import differentiate
from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.passes.simplify import simplify
from tracegrad.compiler.schedule.plan import make_schedule
from tracegrad.compiler.schedule.records import DotKernel
from tracegrad.compiler.schedule.row_blocks import recompute
from tracegrad.compiler.schedule.row_blocks.records import RowBlockKernel
from tracegrad.ops.movement import concatenate, reshape, slice, transpose
from tracegrad.ops.products import dot
from tracegrad.ops.types import float32, float64

GRAPHS = {graph.name: (graph, values) for graph, values in attention_graphs()}
# Sums of up to 130 products in another order than numpy's, through an exponential.
TOLERANCE = {"float32": 5e-5, "float64": 1e-11}


@pytest.fixture(scope="module")
def compiled(request):
    return compile_asked(request, {name: graph for name, (graph, _) in GRAPHS.items()})


def compare(graph, actual, values):
    for key, value in evaluate_graph(graph, values).items():
        allowed = TOLERANCE[str(value.dtype)]
        largest = max(1, np.abs(value[np.isfinite(value)]).max(initial=0))
        np.testing.assert_allclose(actual[key], value, rtol=allowed, atol=allowed * largest, err_msg=key)


def blocks(schedule):
    return [kernel for kernel in schedule.kernels if isinstance(kernel, RowBlockKernel)]


@pytest.mark.long(fast=7, by_size=True)
@pytest.mark.parametrize("name", GRAPHS)
def test_one_kernel_forward_and_one_back_with_numpys_numbers(compiled, name):
    graph, values = GRAPHS[name]
    program = compiled[name]
    assert len(blocks(program.schedule)) == (2 if name.endswith("gradients") else 1)
    assert not any(isinstance(kernel, DotKernel) for kernel in program.schedule.kernels)
    compare(graph, program.run({key: np.array(value, order="C") for key, value in values.items()}), values)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("kind", ["causal", "biased"])
def test_scores_that_are_computed_again(kind, monkeypatch):
    """The same numbers where the exponentials are not kept, to the last bit; of the scores nothing is in memory but
    what the gradient of a bias adds up."""
    values = arrays(kind, float32, SIZES[1])
    inputs = {**values, "grad_loss": np.ones((), np.float32)}
    graph = gradients(kind, "again", values)
    kept = compile_and_run(graph, inputs)
    monkeypatch.setattr(recompute, "LARGE_SCORES", 0)
    again = compile_and_run(graph, inputs)
    for key, value in kept.items():
        np.testing.assert_array_equal(value, again[key])
    schedule = make_schedule(graph)
    kept = [b for b in schedule.buffers if b.type.shape == (3, 37, 37) and b.place == "arena"]
    assert len(kept) == (kind == "biased")


SPECIAL = [np.inf, -np.inf, np.nan, 3e38, 1e30, -2e6]


@lru_cache
def special(kind):
    """Both passes, compiled, with their inputs."""
    values = arrays(kind, float32, SIZES[1])
    forward = simplify(graph_of(partial(attention, kind), "special", **values)[0])
    return compile_graphs([forward, gradients(kind, "special", values)]), values


@pytest.mark.long(fast="first", by_size=True)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", SPECIAL)
def test_numbers_that_are_not_finite_or_large(kind, number):
    """What a mask excludes counts where it is no number: 0 * inf and 0 * NaN are NaN, as in eager mode."""
    programs, values = special(kind)
    for name in ("q", "k", "v"):
        inputs = {key: value.copy() for key, value in values.items()} | {"grad_loss": np.ones((), np.float32)}
        inputs[name][1, 30, 3] = number
        for program in programs:
            actual = program.run({key: value.copy() for key, value in inputs.items()})
            for key, value in evaluate_graph(program.graph, inputs).items():
                np.testing.assert_array_equal(np.isnan(actual[key]), np.isnan(value), err_msg=f"{name} {key}")
                usual = np.isfinite(value) & (np.abs(value) < 1e30)
                largest = max(1, np.abs(value[usual]).max(initial=0))
                np.testing.assert_allclose(actual[key][usual], value[usual], rtol=1e-4, atol=1e-4 * largest)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("rows", [[0], [5, 36], list(range(37))])
def test_rows_that_a_mask_excludes_altogether(rows):
    values = arrays("masked", float32, (2, 37, 37, 20, 20))
    values["mask"][1, rows] = True
    values["mask"][0, :, 20:] = True
    graph = gradients("masked", "empty", values)
    inputs = {**values, "grad_loss": np.ones((), np.float32)}
    compare(graph, compile_and_run(graph, inputs), inputs)


def test_second_derivatives():
    """They read scores in other ways; what no kernel of rows can hold stays as it is."""
    values = arrays("causal", float64, (2, 19, 23, 5, 6))
    graph = gradients("causal", "twice", values)
    second = simplify(differentiate(graph, ["grad_q"], ["q", "k", "v"]))
    draw = np.random.default_rng(2).standard_normal((2, 19, 5))
    inputs = {**values, "grad_loss": np.ones(()), "grad_grad_q": draw}
    compare(second, compile_and_run(second, inputs), inputs)


def heads(x, weight):
    """Queries, keys and values of 2 heads side by side, as rows of one product."""
    batch, length, width = x.type.shape
    joined = reshape(dot(reshape(x, (batch * length, width)), weight), (batch, length, 3 * width))
    parts = [slice(joined, (0, 0, n * width), (batch, length, (n + 1) * width), (1, 1, 1)) for n in range(3)]
    split = [transpose(reshape(part, (batch, length, 2, width // 2)), (0, 2, 1, 3)) for part in parts]
    return [reshape(part, (batch * 2, length, width // 2)) for part in split]


def test_heads_are_read_and_written_where_they_lie():
    """No copy of queries, keys, values or results: strides."""

    def layer(x, weight):
        batch, length, width = x.type.shape
        out = attention("causal", *heads(x, weight))["out"]
        shown = transpose(reshape(out, (batch, 2, length, width // 2)), (0, 2, 1, 3))
        return {"out": dot(reshape(shown, (batch * length, width)), weight)}

    draw = np.random.default_rng(1).standard_normal
    values = {"x": draw((2, 37, 40)).astype(np.float32), "weight": draw((40, 120)).astype(np.float32) / 6}
    graph, _ = graph_of(layer, "layer", **values)
    compare(graph, compile_and_run(graph, values), values)


@pytest.mark.parametrize("length", [2048, 4096])
def test_memory_grows_with_the_length_of_rows(length):
    """The arena of one long head, both passes: some rows of scores, and results; their square would be 64 MB."""
    for kind in ("causal", "plain"):
        values = arrays(kind, float32, (1, length, length, 64, 64))
        schedule = make_schedule(gradients(kind, "long", values))
        assert len(blocks(schedule)) == 2
        assert schedule.arena_bytes < 3000 * length


def test_what_is_excluded_is_left_out_of_products():
    """Where the mask puts minus infinity in the place of products; a bias can be infinite anywhere."""
    for kind, skips in (("causal", True), ("masked", True), ("plain", False), ("biased", False)):
        schedule = make_schedule(gradients(kind, "skips", arrays(kind, float32, SIZES[4])))
        assert [kernel.blocks.limits is not None for kernel in blocks(schedule)] == [skips, skips]


def test_scores_that_are_read_elsewhere_stay_in_memory():
    """Products whose scores are a result are no part of such a kernel."""

    def both(q, k, v):
        scores = dot(q, transpose(k, (0, 2, 1)))
        return {"scores": scores, **attention("plain", q, k, v)}

    values = arrays("plain", float32, SIZES[1])
    graph = simplify(graph_of(both, "both", **values)[0])
    assert not blocks(make_schedule(graph))
    compare(graph, compile_and_run(graph, values), values)


def test_layers_of_one_size_share_a_function():
    def layers(q, k, v):
        once = attention("causal", q, k, v)["out"]
        return {"out": attention("causal", once, k, v)["out"], "joined": concatenate([once, v], 1)}

    values = arrays("causal", float32, SIZES[1])
    graph = simplify(graph_of(layers, "layers", **values)[0])
    (program,) = compile_graphs([graph])
    assert len(blocks(program.schedule)) == 2
    compare(graph, program.run({key: value.copy() for key, value in values.items()}), values)
