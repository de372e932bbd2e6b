"""Work on the rows of products: random graphs keep their values, and layers on three axes get their epilogues."""

import random

import numpy as np
import pytest
from harness import compile_asked, compile_graphs

from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.compiler.schedule.plan import make_schedule
from tracegrad.compiler.schedule.prepare import prepared
from tracegrad.compiler.schedule.records import DotKernel
from tracegrad.compiler.schedule.rewrites.token_rows import in_rows
from tracegrad.ops.arithmetic import maximum
from tracegrad.ops.comparison import where
from tracegrad.ops.core import interpreting
from tracegrad.ops.elementary import erf, exp
from tracegrad.ops.movement import broadcast, broadcast_along, reshape, transpose
from tracegrad.ops.products import dot
from tracegrad.ops.reductions import amax, sum
from tracegrad.ops.types import Type, float32

GRAPHS = 200
BATCH, LENGTH = 3, 4


class Drawing:
    """A product shown with three axes, and what random layers make of it; equal numbers draw equal graphs."""

    def __init__(self, number):
        self.draw = random.Random(number)
        self.builder = Builder()
        self.inputs = []

    def input(self, *shape):
        self.inputs.append(self.builder.input(f"x{len(self.inputs)}", Type(float32, shape)))
        return self.inputs[-1]

    def product(self, x):
        width, more = x.type.shape[-1], self.draw.choice([1, 5, 8])
        rows = reshape(x, (x.type.size // width, width))
        return reshape(dot(rows, self.input(width, more)), (*x.type.shape[:-1], more))

    def other(self, x):
        """What `x` may be combined with: of its shape, or broadcast to it in one way or another."""
        width = x.type.shape[-1]
        shapes = [x.type.shape, (width,), (1, 1, width), (BATCH, LENGTH, 1), (LENGTH, width), (1, 1, 1), ()]
        return self.input(*self.draw.choice(shapes))

    def combined(self, x):
        change = self.draw.choice([lambda a, b: a + b, lambda a, b: b * a, maximum, lambda a, b: where(a < b, b, a)])
        return change(x, self.other(x))

    def normalised(self, x):
        shape, last = x.type.shape, x.type.ndim - 1
        fold = self.draw.choice([sum, amax])
        numbers = reshape(fold(x, (last,)), (*shape[:-1], 1)) * 0.25
        return x - (broadcast(numbers, shape) if self.draw.random() < 0.5 else numbers)

    def summed(self, x):
        axes = self.draw.choice([(0, 1), (0, 1, 2), (2,), (0,), (1, 2)])
        return x + broadcast_along(sum(x, axes), axes, x.type.shape)

    def activated(self, x):
        return self.draw.choice([exp, erf, lambda a: a * 0.5])(x * 0.1)

    def turned(self, x):
        moved = transpose(x, (1, 0, 2)) * 2.0
        return transpose(moved, (1, 0, 2)) if self.draw.random() < 0.5 else x

    def graph(self):
        results = []
        with interpreting(self.builder):
            x = self.product(self.input(BATCH, LENGTH, self.draw.choice([1, 6])))
            for _ in range(self.draw.randint(1, 7)):
                changes = [self.combined, self.combined, self.normalised, self.summed, self.activated, self.turned]
                x = self.draw.choice([*changes, self.product])(x)
                if self.draw.random() < 0.3:
                    results.append(x)
            results.append(x)
        distinct = dict.fromkeys(results)
        return Graph("rows", tuple(self.inputs), tuple(Result(f"r{i}", node) for i, node in enumerate(distinct)))


def values_of(graph):
    draw = np.random.default_rng(3)
    return {x.label: draw.uniform(-1, 1, x.type.shape).astype(np.float32) for x in graph.inputs}


def assert_same(graph, found):
    for name, expected in evaluate_graph(graph, values_of(graph)).items():
        # Sums are taken in another order: some roundings of numbers of order ten.
        np.testing.assert_allclose(found[name].reshape(expected.shape), expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("number", range(GRAPHS))
def test_values_stay(number):
    graph = Drawing(number).graph()
    moved = in_rows(graph)
    assert [r.node.type.size for r in moved.results] == [r.node.type.size for r in graph.results]
    assert_same(graph, evaluate_graph(moved, values_of(graph)))


@pytest.fixture(scope="module")
def compiled(request):
    return compile_asked(request, {place: Drawing(8 * place).graph() for place in range(GRAPHS // 8)}, "place")


@pytest.mark.parametrize("place", range(GRAPHS // 8))
def test_compiled_values(compiled, place):
    assert_same(compiled[place].graph, compiled[place].run(values_of(compiled[place].graph)))


def layers():
    """x, in three axes, after a product, an activation, another product and a residual."""
    builder = Builder()
    x, one, other = (
        builder.input(name, Type(float32, shape))
        for name, shape in [("x", (8, 16, 32)), ("one", (32, 64)), ("other", (64, 32))]
    )
    with interpreting(builder):
        hidden = reshape(dot(reshape(x, (128, 32)), one), (8, 16, 64))
        active = hidden * (1 + erf(hidden * 0.5))
        out = x + reshape(dot(reshape(active, (128, 64)), other), (8, 16, 32))
    return Graph("layers", (x, one, other), (Result("out", out),))


def test_activation_and_residual_are_epilogues():
    kernels = make_schedule(layers()).kernels
    assert [type(kernel) for kernel in kernels] == [DotKernel, DotKernel]
    (made,) = compile_graphs([layers()])
    assert_same(layers(), made.run(values_of(layers())))


def test_results_of_a_reshape_are_what_it_shows():
    builder = Builder()
    x, y = builder.input("x", Type(float32, (6, 4))), builder.input("y", Type(float32, (4, 5)))
    with interpreting(builder):
        out = reshape(dot(x, y), (2, 3, 5))
    assert len(make_schedule(Graph("shown", (x, y), (Result("out", out),))).kernels) == 1
    twice = prepared(Graph("twice", (x, y), (Result("a", out), Result("b", out))))
    assert twice.results[0].node is not twice.results[1].node
