"""Graphs of a size for the sanitized tests: two examples make a program, which then runs for other sizes."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sample_steps import classifier_step, moons_step, step_inputs

from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.ops.core import REGISTRY, bind, interpreting
from tracegrad.ops.elementary import exp
from tracegrad.ops.indexing import gather
from tracegrad.ops.movement import concatenate, flip, reshape, transpose
from tracegrad.ops.products import dot
from tracegrad.ops.reductions import amax, sum
from tracegrad.ops.spatial.convolution import conv, conv_input, conv_weight
from tracegrad.ops.spatial.pooling import pick, unpick, window_argmax
from tracegrad.ops.types import Type, float32, int64


@dataclass(frozen=True)
class Sized:
    """``make(n)`` is the graph of size n. `examples` make the program; it runs for `sizes`.

    `whole` inputs are small whole numbers: sums of a thousand products are exact then, in every order. (Of numbers
    that cancel, the error of a sum is a part of its terms, not of the sum, and two libraries may differ by it.)
    """

    name: str
    make: Callable[[int], Graph]
    examples: tuple[int, int]
    sizes: tuple[int, ...]
    whole: bool = False

    def __call__(self, n):
        return self.make(n)

    def inputs(self, graph):
        inputs = step_inputs(graph, seed=graph.inputs[0].type.size)
        return {label: np.rint(2 * array) for label, array in inputs.items()} if self.whole else inputs


def _graph(types, compute):
    """``compute(*inputs)`` as a graph; it gives a tuple."""
    builder = Builder()
    nodes = [builder.input(label, of) for label, of in types.items()]
    with interpreting(builder):
        results = compute(*nodes)
    return Graph("sized", tuple(nodes), tuple(Result(f"result_{i}", r) for i, r in enumerate(results)))


def _floats(*shape):
    return Type(float32, shape)


def products(n):
    """The size as rows, as inner dimension, as columns, as two of them; results read by other work."""

    def compute(x, w, long, v):
        wide = concatenate([long * 0.5] * 220, 1)  # 1320 columns: more than one pass over the inner dimension
        rows = dot(x, transpose(w, (1, 0))) + v
        gram = dot(x, transpose(x, (1, 0)))
        inner = dot(transpose(x, (1, 0)), rows)
        columns = dot(w, transpose(x, (1, 0)))
        few = dot(x, transpose(long, (1, 0)))
        deep = dot(dot(x, wide), transpose(wide, (1, 0)))
        return exp(rows * 0.1), gram, inner, columns, few, deep, dot(gram, x)

    shapes = {"x": _floats(n, 6), "w": _floats(150, 6), "long": _floats(6, 6), "v": _floats(150)}
    return _graph(shapes, compute)


def thin_products(n):
    """One row or column beside the size, integers, batches of products."""

    def compute(x, w, batches, others):
        line = reshape(sum(x, (1,)), (1, n))
        return (
            dot(x, w),
            dot(line, x),
            dot(transpose(w, (1, 0)), transpose(x, (1, 0))),
            dot(batches, others),
            dot(transpose(line, (1, 0)), line),
        )

    shapes = {"x": _floats(n, 6), "w": _floats(6, 1), "batches": _floats(n, 3, 5), "others": _floats(n, 5, 9)}
    return _graph(shapes, compute)


def rows(n):
    """Folds, softmax along both axes, movement, places that are data."""

    def compute(x, index):
        shifted = exp(x - reshape(amax(x, (1,)), (n, 1)))
        softmax = shifted / reshape(sum(shifted, (1,)), (n, 1))
        joined = concatenate([x, flip(x, (0,)), softmax], 0)
        picked = gather(x, reshape(index, (n, 1)), 1)
        return (
            softmax,
            sum(x, (0,)),
            sum(x, (0, 1)),
            joined,
            picked,
            reshape(transpose(x, (1, 0)), (n * 12,)),
            bind(REGISTRY["cumsum"], x, axis=0),
            bind(REGISTRY["argsort"], transpose(x, (1, 0)), axis=1, descending=False),
            exp(shifted) / (reshape(sum(exp(transpose(x, (1, 0))), (0,)), (n, 1)) + 1),
        )

    return _graph({"x": _floats(n, 12), "index": Type(int64, (n,))}, compute)


def windows(n):
    """The size as a number of images: convolutions with work on their results, maxima of windows."""

    def compute(x, w, g):
        forward = conv(x, w, (4, 5), (2, 1), (1, 1), (1, 1))
        places = reshape(window_argmax(forward, (2, 2), (2, 2), (2, 2), (1, 1), (0, 0)), (n * 5, 4))
        picked = pick(reshape(forward, (n * 5, 20)), places)
        back = conv_input(g, w, (7, 5), (2, 1), (1, 1), (1, 1))
        slope = conv_weight(x, g, (3, 3), (2, 1), (1, 1), (1, 1))
        return forward * 2, picked, unpick(picked, places, 20), back + x, slope

    return _graph({"x": _floats(n, 3, 7, 5), "w": _floats(5, 3, 3, 3), "g": _floats(n, 5, 4, 5)}, compute)


def classifier(n):
    return classifier_step("sized", n, 24, 40, 10)


def moons(n):
    return moons_step("sized", n)


#: Simplified graphs of training steps divide by powers of two in another way: their sizes are none.
SIZED = (
    Sized("products_of_size", products, (12, 33), (0, 1, 2, 13, 14, 15, 40, 1030), whole=True),
    Sized("thin_products_of_size", thin_products, (12, 33), (0, 1, 7, 1100), whole=True),
    Sized("rows_of_size", rows, (12, 33), (1, 2, 100)),
    Sized("windows_of_size", windows, (12, 33), (0, 1, 2, 13), whole=True),
    Sized("classifier_of_size", classifier, (19, 33), (3, 7, 100)),
    Sized("moons_of_size", moons, (19, 33), (3, 100)),
)
