"""Concatenations, pads and written slices in parts: random ones against numpy, their C clean, and what is decided."""

import random

import numpy as np
import pytest
from harness import compile_asked, compile_graphs

from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.compiler.schedule.plan import make_schedule
from tracegrad.compiler.schedule.records import LoopKernel
from tracegrad.ops import reductions as folds
from tracegrad.ops.core import interpreting
from tracegrad.ops.movement import concatenate, pad, reshape, transpose, update_slice
from tracegrad.ops.types import Type, float32

GRAPHS = 60


def piece(draw, x, shape):
    """`x`, which has as many elements, in that shape; perhaps transposed, perhaps with a step of arithmetic."""
    if draw.random() < 0.5:
        order = list(range(len(shape)))
        draw.shuffle(order)
        x = transpose(reshape(x, tuple(shape[axis] for axis in order)), tuple(np.argsort(order).tolist()))
    else:
        x = reshape(x, tuple(shape))
    return x * 2.0 + 1.0 if draw.random() < 0.3 else x


class Drawing:
    """Random movements that choose, on inputs of random shapes; equal numbers draw equal graphs."""

    def __init__(self, number):
        self.draw = random.Random(number)
        self.builder = Builder()
        self.inputs = []

    def fresh(self, shape):
        """A new input, seen in that shape."""
        self.inputs.append(self.builder.input(f"x{len(self.inputs)}", Type(float32, (int(np.prod(shape)),))))
        return piece(self.draw, self.inputs[-1], shape)

    def concatenated(self, x):
        axis = self.draw.randrange(x.type.ndim)
        parts = [x]
        for _ in range(self.draw.choice([1, 2])):
            extent = self.draw.choice([1, x.type.shape[axis], 2, 20])
            parts.append(self.fresh([extent if a == axis else n for a, n in enumerate(x.type.shape)]))
        self.draw.shuffle(parts)
        return concatenate(parts, axis)

    def padded(self, x):
        axis = self.draw.randrange(x.type.ndim)
        low, high = (tuple(self.draw.choice([0, 1, 17]) * (a == axis) for a in range(x.type.ndim)) for _ in range(2))
        return pad(x, low, high, 5.0)

    def updated(self, x):
        axis = self.draw.randrange(x.type.ndim)
        start = self.draw.randrange(x.type.shape[axis])
        extent = self.draw.randint(1, x.type.shape[axis] - start)
        part = self.fresh([extent if a == axis else n for a, n in enumerate(x.type.shape)])
        return update_slice(x, part, tuple(start * (a == axis) for a in range(x.type.ndim)), (1,) * x.type.ndim)

    def reshaped(self, x):
        return reshape(x, (x.type.size,)) if self.draw.random() < 0.5 else x * 3.0

    def graph(self, summed=False):
        with interpreting(self.builder):
            out = self.fresh([self.draw.choice([1, 2, 3, 4, 16]) for _ in range(self.draw.choice([1, 2, 3, 4]))])
            for _ in range(self.draw.choice([1, 1, 2, 3])):
                change = self.draw.choice([self.concatenated, self.concatenated, self.padded, self.updated,
                                           self.reshaped])  # fmt: skip
                out = change(out)
            if summed:
                axes = self.draw.sample(range(out.type.ndim), self.draw.randint(1, out.type.ndim))
                out = folds.sum(out, tuple(sorted(axes)))
        return Graph(f"parts{id(self)}", tuple(self.inputs), (Result("out", out),))


def values_of(graph):
    return {x.label: np.arange(x.type.size, dtype=np.float32) + 100 * i for i, x in enumerate(graph.inputs)}


@pytest.fixture(scope="module")
def compiled(request):
    return compile_asked(request, {number: Drawing(number).graph() for number in range(GRAPHS)}, "number")


@pytest.mark.long(fast="first", every=11)
@pytest.mark.parametrize("number", range(GRAPHS))
def test_numbers(compiled, number):
    inputs = values_of(compiled[number].graph)
    np.testing.assert_array_equal(
        compiled[number].run(inputs)["out"], evaluate_graph(compiled[number].graph, inputs)["out"]
    )


@pytest.fixture(scope="module")
def summed(request):
    return compile_asked(request, {number: Drawing(number).graph(summed=True) for number in range(GRAPHS)}, "number")


@pytest.mark.long(fast="first", every=11)
@pytest.mark.parametrize("number", range(GRAPHS))
def test_sums_of_parts(summed, number):
    """Each part adds to its own accumulators: whole numbers that float32 holds, in any order."""
    inputs = {label: values % 16 for label, values in values_of(summed[number].graph).items()}
    expected = evaluate_graph(summed[number].graph, inputs)["out"]
    assert np.abs(expected).max(initial=0) < 2**24
    np.testing.assert_array_equal(summed[number].run(inputs)["out"], expected)


def stages(graph):
    return [len(k.stages) for k in make_schedule(graph).kernels if isinstance(k, LoopKernel)]


def test_many_are_in_parts():
    assert sum(max(stages(Drawing(number).graph()), default=0) > 1 for number in range(GRAPHS)) >= GRAPHS // 4


def test_heads_side_by_side_are_copied_without_choices():
    """What the gradient of a split into heads is: three transposed arrays behind each other in each row."""
    builder = Builder()
    heads = [builder.input(name, Type(float32, (4, 3, 16, 8))) for name in "qkv"]
    with interpreting(builder):
        rows = [reshape(transpose(x, (0, 2, 1, 3)), (4, 16, 24)) for x in heads]
        out = reshape(concatenate(rows, 2), (64, 72))
    graph = Graph("heads", tuple(heads), (Result("out", out),))
    (made,) = compile_graphs([graph])
    assert stages(graph) == [3] and "?" not in made.source and "%" not in made.source
    inputs = {x.label: np.random.default_rng(i).random(x.type.shape, np.float32) for i, x in enumerate(heads)}
    np.testing.assert_array_equal(made.run(inputs)["out"], evaluate_graph(graph, inputs)["out"])


def test_a_short_innermost_part_keeps_its_choice():
    builder = Builder()
    x = builder.input("x", Type(float32, (40, 8)))
    with interpreting(builder):
        out = pad(x, (0, 1), (0, 1))
    assert stages(Graph("short", (x,), (Result("out", out),))) == [1]
