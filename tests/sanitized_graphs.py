"""Graphs for the sanitizers: places, pieces and folds in each element type, edges of shapes, extremes of numbers."""

from functools import partial
from itertools import product

import ml_dtypes
import numpy as np

from tracegrad.compiler.differentiate import differentiate
from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.functional.recurrent.cells import gru_step, lstm_step, tanh_step
from tracegrad.ops.arithmetic import abs as abs_of
from tracegrad.ops.arithmetic import maximum, minimum, sign
from tracegrad.ops.comparison import eq, ge, where
from tracegrad.ops.core import interpreting
from tracegrad.ops.division import floor_divide, fmod, remainder
from tracegrad.ops.elementary import exp, log, pow, sqrt
from tracegrad.ops.indexing import gather, index_add, put, scatter, scatter_add, take
from tracegrad.ops.logic import bitwise_and, bitwise_or, bitwise_xor
from tracegrad.ops.movement import broadcast, concatenate, flip, pad, reshape, slice, transpose, update_slice
from tracegrad.ops.places.folding import scatter_amax, scatter_amin, scatter_prod
from tracegrad.ops.places.searching import search, search_right
from tracegrad.ops.places.strided import strided, unfold
from tracegrad.ops.pointwise import cast
from tracegrad.ops.products import dot
from tracegrad.ops.random import pairs, permutation, random_seed, random_words, uniform24, uniform53
from tracegrad.ops.reductions import amax, amin, argmax, argmin, prod, sum
from tracegrad.ops.scan.primitive import apply_loop, traced
from tracegrad.ops.scans import argsort, cumsum
from tracegrad.ops.sources import full, iota
from tracegrad.ops.trigonometry import cos, sin, tanh
from tracegrad.ops.types import (
    ALL_DTYPES,
    Type,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)

NUMBERS = (int32, int64, float32, float64)
DTYPES = tuple(d for d in ALL_DTYPES if d.is_in_c)
FOLDS = (scatter_prod, scatter_amax, scatter_amin)


def graph_of(function, name, **arrays):
    """The graph of a function of nodes that returns results by name, and its inputs' values."""
    builder = Builder()
    values = {label: np.array(array, order="C") for label, array in arrays.items()}
    inputs = {label: builder.input(label, type_of(array)) for label, array in values.items()}
    with interpreting(builder):
        outputs = function(**inputs)
    results = [Result(key, node, into(key)) for key, node in outputs.items()]
    return Graph(name, tuple(inputs.values()), tuple(results)), values


def into(key):
    """Results called into_x overwrite the input x."""
    return key.removeprefix("into_") if key.startswith("into_") else None


def type_of(array):
    return Type(next(d for d in ALL_DTYPES if d.numpy == array.dtype), array.shape)


def numbers(dtype, *shape):
    """Small numbers, equal ones among them, never 0."""
    drawn = np.random.default_rng(7).integers(-4, 5, shape)
    return (drawn > 0 if dtype is bool_ else np.where(drawn == 0, 5, drawn)).astype(dtype.numpy)


# ------------------------------------------------------------------------------------- the same for each element type


def places(x, src, rows, elements, picked):
    results = {
        "gathered": gather(x, elements, 1),
        "taken": take(x, rows),
        "scattered": scatter(x, elements, gather(src, elements, 1), 1),
        "put": put(x, picked, take(src, picked)),
        "into_src": put(src, picked, take(x, picked)),
    }
    if x.type.dtype is bool_:
        return results
    folded = gather(src, elements, 1)
    added = scatter_add(x, elements, folded, 1)
    results |= {f"{fold.__name__}_{i}": fold(x, elements, folded, 1, bool(i)) for fold in FOLDS for i in range(2)}
    return results | {"added": added, "rows": index_add(x, rows, take(src, rows))}


def pieces(x, y):
    both = concatenate((x, slice(y, (1, 0), (4, 7), (2, 1)), x), 0)
    return {
        "both": both,
        "columns": concatenate((flip(x, (1,)), slice(y, (0, 0), (3, 7), (1, 3))), 1),
        "padded": pad(transpose(x, (1, 0)), (2, 0), (1, 3), 1),
        "cut": slice(flip(both, (0, 1)), (1, 2), (8, 7), (3, 2)),
        "windows": unfold(transpose(x, (1, 0)), 0, 3, 2),
        "strides": strided(reshape(y, (28,)), (2, 3, 4), (5, 9, 1), 1),
        "stacked": broadcast(reshape(x, (3, 1, 7)), (3, 2, 7)),
        "updated": update_slice(y, slice(x, (0, 1), (2, 4), (1, 1)), (1, 0), (2, 3)),
        "into_y": flip(y, (0,)),
        "into_x": update_slice(x, flip(slice(x, (0, 0), (3, 3), (1, 1)), (1,)), (0, 2), (1, 2)),
    }


def folds(x):
    results = {f"largest_{axis}": argmax(x, axis) for axis in range(3)}
    results |= {f"smallest_{axis}": argmin(x, axis) for axis in range(3)}
    results |= {f"order_{axis}": argsort(x, axis, axis == 1) for axis in range(3)}
    results |= {f"amax_{axis}": amax(x, (axis,)) for axis in range(3)}
    if x.type.dtype is not bool_:
        results |= {f"running_{axis}": cumsum(x, axis) for axis in range(3)}
        results |= {"sum": sum(x, (0, 2)), "prod": prod(x, (1,)), "amin": amin(x, (0, 1, 2)), "all": sum(x, (0, 1, 2))}
    return results


def of_each_type(dtype):
    rows, picked = np.array([[2, 0], [-3, 2]]), np.array([2, -4])
    elements = np.array([[0, 3], [4, 1], [2, 0]])
    x, y = numbers(dtype, 4, 5), numbers(dtype, 4, 5)[::-1]
    yield graph_of(places, f"places_{dtype.short}", x=x, src=y, rows=rows, elements=elements, picked=picked)
    yield graph_of(pieces, f"pieces_{dtype.short}", x=numbers(dtype, 3, 7), y=numbers(dtype, 4, 7))
    yield graph_of(folds, f"folds_{dtype.short}", x=numbers(dtype, 3, 19, 5))


# -------------------------------------------------------------------------------------------------- edges of shapes


def without_dimensions(x, i, b):
    return {
        "sum": sum(x, ()) * 2, "grown": broadcast(x, (3,)) + 1, "chosen": where(b, x, cast(i, float64)),
        "padded": pad(reshape(x, (1,)), (2,), (1,), 7), "into_i": i + 1,
        "joined": concatenate((reshape(x, (1,)),) * 3, 0), "taken": take(full((4,), 3, float32), i),
    }  # fmt: skip


def without_elements(x, y, index, i):
    return {
        "joined": concatenate((x, y), 0), "product": dot(transpose(x, (1, 0)), x), "rows": dot(x, transpose(y, (1, 0))),
        "order": argsort(x, 0), "running": cumsum(x, 1), "sums": sum(x, (0,)), "wider": pad(x, (1, 0), (0, 2), 5),
        "gathered": gather(y, reshape(index, (0, 1)), 1), "taken": take(y, index), "into_i": i * 2,
        "put": put(y, index, x), "added": index_add(y, index, x), "flipped": flip(x, (0, 1)),
        "largest": argmax(x, 1), "cut": slice(y, (1, 1), (1, 3), (1, 1)),
    }  # fmt: skip


def products(x, y):
    """Several results around one product, so that there is an epilogue."""
    product = dot(x, y)
    return {"product": product, "positive": maximum(product, 0), "half": product * 0.5 + 1}


def products_of_views(x, y):
    part = slice(flip(x, (1,)), (1, 3), (30, 33), (2, 1))
    wide = broadcast(reshape(slice(y, (0, 0), (30, 1), (1, 1)), (30,)), (30,))
    return {
        "part": dot(part, y),
        "transposed": dot(transpose(y, (1, 0)), transpose(part, (1, 0))),
        "vector": dot(part, reshape(wide, (30, 1))),
        "repeated": dot(broadcast(reshape(part, (1, 15, 30)), (2, 15, 30)), broadcast(y, (2, 30, 35))),
        "into_y": dot(slice(y, (0, 0), (30, 30), (1, 1)), y),
    }


# m, k and n: single elements, odd tails, a row, a column, few columns, packing, and an inner dimension in passes.
PRODUCT_SIZES = [(1, 1, 1), (17, 33, 19), (1, 50, 33), (33, 50, 1), (40, 9, 3), (70, 64, 133), (3, 1100, 40)]


def of_products():
    for m, k, n in PRODUCT_SIZES:
        for dtype in (float32, float64):
            x, y = numbers(dtype, m, k), numbers(dtype, k, n)
            yield graph_of(products, f"product_{m}_{k}_{n}_{dtype.short}", x=x, y=y)
    yield graph_of(products, "product_of_integers", x=numbers(int32, 5, 9), y=numbers(int32, 9, 7))
    yield graph_of(products_of_views, "products_of_views_cut", x=numbers(float32, 31, 33), y=numbers(float32, 30, 35))


# ---------------------------------------------------------------------------------------------- extremes of numbers


def integers(x, y):
    """Signed overflow is defined here (-fwrapv)."""
    return {
        "sum": x + y, "product": x * y, "negative": -x, "difference": x - y, "size": abs_of(x), "sign": sign(x),
        "power": pow(x, 3), **divisions(x, where(eq(y, 0), 3, y)), "narrow": cast(x, int32), "equal": eq(x, y),
        "and": bitwise_and(x, y), "or": bitwise_or(x, y), "xor": bitwise_xor(x, y), "float": cast(x, float32),
        "true": cast(x, bool_), "least": minimum(x, y), "folded": prod(x, (0,)), "total": sum(x, (0,)),
        "running": cumsum(x, 0),
    }  # fmt: skip


def divisions(x, y):
    return {"quotient": floor_divide(x, y), "rest": remainder(x, y), "fmod": fmod(x, y)}


def floats(x, y):
    return {
        "sum": x + y, "quotient": x / y, "exp": exp(x), "log": log(x), "sin": sin(x), "cos": cos(x), "tanh": tanh(x),
        "sqrt": sqrt(x), "power": pow(x, y), "rest": remainder(x, y), "floor": floor_divide(x, y),
        "largest": argmax(x, 0), "order": argsort(x, 0), "max": amax(x, (0,)), "true": cast(x, bool_),
        "double": cast(x, float64), "float": cast(x, float32), "sign": sign(x), "running": cumsum(x, 0),
    }  # fmt: skip


def pairs_of(values, dtype):
    """Every pair of the values."""
    x, y = np.meshgrid(np.array(values, dtype.numpy), np.array(values, dtype.numpy))
    return {"x": x.ravel(), "y": y.ravel()}


def of_extremes():
    for dtype in (uint8, int8, int16, int32, int64):
        limits = np.iinfo(dtype.numpy)
        values = [limits.min, limits.min + 1, 0, 1, 2, 7, limits.max - 1, limits.max, *([-7, -1] * dtype.is_signed)]
        yield graph_of(integers, f"integers_{dtype.short}", **pairs_of(values, dtype))
    for dtype in (float16, bfloat16, float32, float64):
        limits = ml_dtypes.finfo(dtype.numpy)
        large = 1e10 if dtype is not float16 else 3e4
        sizes = [
            0.0,
            float(limits.smallest_subnormal),
            float(limits.tiny),
            0.1,
            1,
            88,
            large,
            float(limits.max),
            np.inf,
        ]
        yield graph_of(floats, f"floats_{dtype.short}", **pairs_of([*sizes, *(-s for s in sizes), np.nan], dtype))


def conversions(x):
    return {f"to_{dtype.short}": cast(x, dtype) for dtype in DTYPES}


def of_conversions():
    """Between all types: numbers that each holds, and halves between numbers of the 16-bit types."""
    for dtype in DTYPES:
        values = [0, 1, 2, 77, 100, 127]
        if dtype.is_floating_point:
            values = [
                *values,
                -0.0,
                0.5,
                1 + 2**-11,
                1 + 3 * 2**-11,
                1 + 2**-8,
                1 + 3 * 2**-8,
                2**-24,
                2**-25,
                3 * 2**-26,
            ]
        yield graph_of(conversions, f"conversions_{dtype.short}", x=np.array(values).astype(dtype.numpy))


# ------------------------------------------------------------------------------------------------------ random words


def draws(seed, weights, wanted):
    """Counts around the 624 words that the generator makes at once."""
    state, results = random_seed(seed), {}
    for count in (1, 2, 620, 1, 1, 623, 624, 625):
        state, words = random_words(state, count)
        results[f"words_{len(results)}"] = uniform24(words)
    state, even = random_words(state, 10)
    results |= {"order": permutation(even, 11), "double": uniform53(*pairs(even))}
    return results | {
        "state": state,
        "at": search(cumsum(weights, 1), wanted),
        "above": search_right(cumsum(weights, 1), wanted),
    }


def of_random_numbers():
    weights, wanted = np.full((2, 9), 0.125), np.array([[0, 0.125, 0.3, 1.2], [1.125, 9, 0.5, 0.5]])
    yield graph_of(draws, "draws", seed=np.int64(-5), weights=weights, wanted=wanted)


# ----------------------------------------------------------------------------------------------------- wrong indices


def refused(function, x, index):
    """The input would be overwritten, if the check did not come first."""
    return {"into_x": x * 2, "out": function(x, index)}


READERS_AND_WRITERS = {
    "gather": lambda x, index: gather(x, reshape(index, (4, 1)), 1),
    "scatter": lambda x, index: scatter(x, reshape(index, (4, 1)), full((4, 1), 9, float32), 1),
    "scatter_add": lambda x, index: scatter_add(x, reshape(index, (4, 1)), full((4, 1), 9, float32), 1),
    "scatter_prod": lambda x, index: scatter_prod(x, reshape(index, (4, 1)), full((4, 1), 9, float32), 1),
    "scatter_amax": lambda x, index: scatter_amax(x, reshape(index, (4, 1)), full((4, 1), 9, float32), 1, False),
    "take": take,
    "put": lambda x, index: put(x, index, full((4, 5), 9, float32)),
    "index_add": lambda x, index: index_add(x, index, full((4, 5), 9, float32)),
}


OUTSIDE = (6, -7, 2**62, -(2**63), 2**63 - 1)


def wrong_indices():
    """Graphs that refuse an index of which one element is in OUTSIDE; x has six rows and five columns."""
    for name, function in READERS_AND_WRITERS.items():
        right = np.array([0, 1, 4, 2])
        yield graph_of(partial(refused, function), f"wrong_{name}", x=numbers(float32, 6, 5), index=right)


def divisions_by_zero():
    """Numpy raises an error here; the C refuses, and must not stop the process before or afterwards."""
    for dtype in (int32, int64):
        x = [np.iinfo(dtype.numpy).min, -1, 0, 7]
        arrays = {"x": np.array(x, dtype.numpy), "y": np.zeros(4, dtype.numpy)}
        yield graph_of(divisions, f"divisions_by_zero_{dtype.short}", **arrays)


def of_loops():
    """Recurrent steps over time and the loops back, with sizes that are no multiple of a vector."""
    kinds = {"lstm": (lstm_step, 4, 2), "gru": (gru_step, 3, 1), "rnn": (tanh_step, 1, 1)}
    for (name, (body, gates, states)), dtype in product(kinds.items(), (float32, float64)):
        for turns, batch, size in ((1, 1, 1), (4, 3, 17)):
            initial, slices = [Type(dtype, (batch, size))] * states, [Type(dtype, (batch, gates * size))]
            weights = [Type(dtype, (size, gates * size)), Type(dtype, (gates * size,))]
            loop, _ = traced(body, turns, initial, slices, weights, True, turns == 4)
            rows = [Type(dtype, (turns * batch, gates * size))]
            arrays = {f"x{n}": numbers(dtype, *of.shape) / 8 for n, of in enumerate([*initial, *rows, *weights])}

            def whole(loop=loop, **inputs):
                return {"out": apply_loop(loop, list(inputs.values()))}

            graph, values = graph_of(whole, f"{name}_{dtype.short}_{turns}", **arrays)
            yield graph, values
            back = differentiate(graph, ["out"], list(arrays))
            yield back, {**values, "grad_out": numbers(dtype, loop.size) / 8}


def attention(x, weight, g):
    """Causal attention of 3 heads to 7 places, the gradient of its split, and a bias's gradient beside it."""
    batch, length, width = x.type.shape
    projected = reshape(dot(reshape(x, (batch * length, width)), weight), (batch, length, 3 * width))
    parts = [slice(projected, (0, 0, n * width), (batch, length, (n + 1) * width), (1, 1, 1)) for n in range(3)]
    q, k, v = (transpose(reshape(part, (batch, length, 3, width // 3)), (0, 2, 1, 3)) for part in parts)
    scores = dot(q, transpose(k, (0, 1, 3, 2))) * 0.25
    mask = ge(iota((length, length), 0, int64), iota((length, length), 1, int64))
    raised = exp(where(mask, scores, -np.inf) - 1.0)
    shape = (batch, 3, length, 1)
    seen = dot(raised / reshape(sum(raised, (3,)), shape), v)
    rows = [reshape(transpose(y * g, (0, 2, 1, 3)), (batch, length, width)) for y in (q, k, v)]
    joined = reshape(concatenate(rows, 2), (batch * length, 3 * width))
    out = transpose(seen, (0, 2, 1, 3))
    return {"out": out, "x_grad": dot(joined, transpose(weight, (1, 0))), "bias_grad": sum(joined, (0,))}


def of_attention():
    draw = np.random.default_rng(5).random
    for dtype, batch, length, width in ((float32, 2, 7, 9), (float64, 1, 5, 6), (float32, 2, 37, 48)):
        shapes = {"x": (batch, length, width), "weight": (width, 3 * width), "g": (batch, 3, length, width // 3)}
        arrays = {name: draw(shape).astype(dtype.numpy) for name, shape in shapes.items()}
        yield graph_of(attention, f"attention_{dtype.name}_{length}", **arrays)


def right_graphs():
    """Each graph with the values of its inputs."""
    for dtype in DTYPES:
        yield from of_each_type(dtype)
    yield from of_conversions()
    scalars = {"x": np.float64(1.5), "i": np.int64(2), "b": np.bool_(True)}
    yield graph_of(without_dimensions, "without_dimensions_mixed", **scalars)
    nothing = {"x": np.ones((0, 3), np.float32), "index": np.zeros(0, np.int64), "i": np.zeros(0, np.int32)}
    yield graph_of(without_elements, "without_elements", y=numbers(float32, 4, 3), **nothing)
    yield from of_products()
    yield from of_attention()
    yield from of_extremes()
    yield from of_random_numbers()
    yield from of_loops()
