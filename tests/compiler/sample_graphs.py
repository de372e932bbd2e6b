"""Graphs that the tests of scheduling and code generation share: small ones, one for each thing that can go wrong."""

import zlib

import numpy as np

from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.ops.arithmetic import maximum, neg
from tracegrad.ops.comparison import eq, where
from tracegrad.ops.core import interpreting
from tracegrad.ops.elementary import exp, log, sqrt
from tracegrad.ops.indexing import gather, index_add, put, scatter, scatter_add, take
from tracegrad.ops.movement import broadcast, concatenate, flip, pad, reshape, slice, transpose, update_slice
from tracegrad.ops.places.searching import search
from tracegrad.ops.pointwise import cast
from tracegrad.ops.products import dot
from tracegrad.ops.random import pairs, permutation, random_seed, random_words, uniform24, uniform53
from tracegrad.ops.reductions import all as all_of
from tracegrad.ops.reductions import amax, amin, any, argmax, argmin, prod, sum
from tracegrad.ops.scans import argsort, cumsum
from tracegrad.ops.sources import full, iota
from tracegrad.ops.trigonometry import tanh
from tracegrad.ops.types import Type, bool_, dtype_named, float32, float64, int32, int64

CASES = {}


def case(**types):
    """Make a function of graph inputs, given as ``name="f32[3,4]"``, a case; it returns its results by name, those
    that overwrite an input as ``into_<input>``."""

    def register(function):
        builder = Builder()
        inputs = {name: builder.input(name, parse_type(text)) for name, text in types.items()}
        with interpreting(builder):
            outputs = function(**inputs)
        results = tuple(
            Result(key, node, key.removeprefix("into_") if key.startswith("into_") else None)
            for key, node in outputs.items()
        )
        CASES[function.__name__] = Graph(function.__name__, tuple(inputs.values()), results)
        return function

    return register


def parse_type(text):
    name, extents = text.rstrip("]").split("[")
    return Type(dtype_named(name), tuple(int(n) for n in extents.split(",") if n))


def sample_inputs(graph):
    """Seeded values: normal numbers; indices below 5 for integers called index."""
    rng = np.random.default_rng(zlib.crc32(graph.name.encode()))
    return {node.label: _sample(node.label, node.type, rng) for node in graph.inputs}


def _sample(label, of, rng):
    if of.dtype is bool_:
        return rng.random(of.shape) < 0.5
    if of.dtype.is_floating_point:
        return np.asarray(rng.standard_normal(of.shape), of.dtype.numpy)
    low, high = (0, 5) if label.startswith("index") else (-9, 10)
    return np.asarray(rng.integers(low, high, of.shape), of.dtype.numpy)


# -------------------------------------------------------------------------------------------------- element-wise


@case(x="f32[6,7]", y="f32[7]", s="f32[]")
def pointwise_chain(x, y, s):
    return {"a": tanh(x * y + s) / 3, "b": neg(x) * 0.1}


@case(x="f64[3,1,5]", y="f64[4,1]")
def broadcasting(x, y):
    return {"a": x + y, "b": broadcast(x, (3, 4, 5)) * 2}


@case(x="f32[]", t="f64[]")
def without_dimensions(x, t):
    return {"a": x * x, "into_t": t + 1, "b": sqrt(1 - 0.9 ** (t + 1))}


@case(x="f32[0,4]", y="f32[4]")
def empty(x, y):
    return {"a": x + y, "b": sum(x, (0,)), "c": sum(x, (1,)), "d": reshape(x, (4, 0)), "e": prod(x, (0, 1))}


@case(b="bool[4,3]", i="i32[4,3]", j="i64[4,3]", x="f32[4,3]", y="f64[4,3]")
def element_types(b, i, j, x, y):
    return {
        "a": i * 2 + i,
        "b": j - 3,
        "c": where(b, x, 0.5),
        "d": cast(x > 0, int64) + j,
        "e": eq(i, 3),
        "f": cast(x, float64) * y,
        "g": cast(j, float32),
        "h": cast(y, int32),
        "k": maximum(i, 2),
    }


@case(x="f32[4]")
def special_numbers(x):
    nan, inf = full((), float("nan"), float32), full((), float("inf"), float32)
    return {"a": x * nan, "b": where(x > 0, inf, -inf), "c": maximum(x, nan), "d": x * 1e-30, "e": x - -0.1}


@case()
def constants_only():
    return {"a": full((2, 3), 7, int64), "b": iota((3, 4), 1, float32), "c": iota((3, 4), 0, int32)}


# ------------------------------------------------------------------------------------------------------ movement


@case(x="f32[4,6]")
def movement(x):
    y = tanh(x)
    return {
        "a": transpose(x, (1, 0)) + 1,
        "b": reshape(x, (2, 2, 3, 2)) * 2,
        "c": reshape(transpose(x, (1, 0)), (3, 8)),
        "d": slice(x, (1, 0), (4, 5), (2, 2)) * 3,
        "e": flip(x, (0, 1)),
        "f": transpose(y, (1, 0)) + reshape(y, (6, 4)),
    }


@case(x="f32[3,4]", y="f32[2,4]")
def assembled(x, y):
    return {
        "a": pad(x, (1, 0), (0, 2), 7) + 1,
        "b": concatenate((x, y, x), 0) * 2,
        "c": update_slice(x, slice(y, (0, 0), (2, 2), (1, 1)), (0, 1), (2, 2)),
        "d": pad(pad(tanh(x), (1, 1), (1, 1)), (0, 2), (1, 0), 5),
        "e": concatenate((tanh(x), exp(y)), 0) + pad(y, (2, 0), (1, 0)),
    }


@case(x="f32[12]")
def pieces_added(x):
    pieces = [slice(x, (k,), (k + 4,), (1,)) for k in range(0, 12, 4)]
    windows = reshape(x, (3, 4))
    return {"a": pieces[0] * pieces[1] + pieces[2], "b": transpose(windows, (1, 0)) * reshape(pieces[0], (4, 1))}


@case(x="f32[40]")
def written_again_and_again(x):
    """Each part is made of what the last one left; a chain that must not be computed anew for each reader."""
    for k in range(38):
        x = update_slice(x, slice(x, (k,), (k + 2,), (1,)) * 0.5 + 1, (k + 1,), (1,))
    return {"x": x}


@case(x="f32[50]")
def long_chain(x):
    for _ in range(400):
        x = x * 0.5 + 1
    return {"x": x}


# --------------------------------------------------------------------------------------------------------- folds


@case(x="f32[5,6,7]")
def sums(x):
    every = ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2))
    return {f"over_{'_'.join(map(str, axes))}": sum(x, axes) for axes in every}


@case(x="f32[9,4]", i="i32[9,4]", b="bool[9,4]")
def other_folds(x, i, b):
    return {
        "a": amax(x, (0,)),
        "b": amin(x, (1,)),
        "c": prod(x, (1,)),
        "d": amax(i, (0, 1)),
        "e": amin(i, (0,)),
        "f": any(b, (0,)),
        "g": all_of(b, (1,)),
        "h": sum(i, (1,)),
        "k": sum(cast(b, int64), (0, 1)),
    }


@case(x="f32[6,10]")
def softmax(x):
    e = exp(x - reshape(amax(x, (1,)), (6, 1)))
    p = e / reshape(sum(e, (1,)), (6, 1))
    return {"p": p, "entropy": sum(p * log(p), (1,)), "total": sum(p, (0, 1))}


@case(x="f32[6,3,5]")
def column_statistics(x):
    mean = sum(x, (0, 2)) / 30
    centred = x - reshape(mean, (1, 3, 1))
    variance = sum(centred * centred, (0, 2)) / 30
    return {"y": centred / sqrt(reshape(variance, (1, 3, 1)) + 1e-5), "mean": mean, "variance": variance}


@case(x="f32[8,16]")
def column_normalised(x):
    mean = sum(x, (0,)) / 8
    centred = x - mean
    variance = sum(centred * centred, (0,)) / 8
    return {"y": centred / sqrt(variance + 1e-5), "variance": variance}


@case(x="f32[100000]")
def long_sum(x):
    return {"s": sum(x, (0,)) / 1000, "m": amax(x, (0,))}


@case(x="f32[3,20000]")
def wide_columns(x):
    return {"s": sum(x, (0,)) * 2, "m": amax(x, (0,))}


@case(x="f32[7,1,3]", y="f32[1,1]")
def folds_of_single_axes(x, y):
    return {"a": sum(x, (1,)), "b": sum(y, (0, 1)), "c": sum(y, (0,)) + 1}


# ------------------------------------------------------------------------------------------------------ products


@case(x="f32[32,8]", w="f32[4,8]", b="f32[4]")
def linear(x, w, b):
    h = dot(x, transpose(w, (1, 0))) + b
    return {"h": maximum(h, 0), "positive": h > 0}


@case(x="f32[2,3,4,5]", y="f32[2,3,5,6]")
def batched_products(x, y):
    return {"a": dot(x, y), "b": dot(transpose(y, (0, 1, 3, 2)), transpose(x, (0, 1, 3, 2))) * 2}


@case(x="f32[12,6]", y="f32[6,20]")
def products_of_views(x, y):
    part = slice(x, (2, 1), (10, 5), (2, 1))
    heads = transpose(reshape(y, (6, 4, 5)), (1, 0, 2))
    return {
        "a": dot(part, slice(y, (0, 3), (4, 19), (1, 1))),
        "b": dot(broadcast(reshape(x, (1, 12, 6)), (4, 12, 6)), heads),
        "c": dot(flip(x, (0,)), y),
        "d": dot(tanh(x), broadcast(slice(y, (0, 0), (6, 1), (1, 1)), (6, 9))),
    }


@case(i="i64[3,4]", j="i64[4,2]")
def integer_products(i, j):
    return {"a": dot(i, j)}


# ------------------------------------------------------------------------------------------------------ indexing


@case(x="f32[6,5]", index="i64[6,1]", index2="i64[6,2]")
def single_elements(x, index, index2):
    y = tanh(x)
    zeros = full((6, 5), 0, float32)
    return {
        "a": gather(x, index, 1),
        "b": gather(y, index2, 1),
        "c": scatter_add(zeros, index, gather(x, index, 1) * 2, 1),
        "d": scatter_add(x, index2, gather(y, index2, 1), 1),
        "e": scatter(x, index, full((6, 1), 9, float32), 1),
        "f": scatter(x, index2, full((6, 2), 9, float32), 1),
    }


@case(table="f32[5,4]", index="i64[3,2]")
def rows(table, index):
    picked = take(table, index - 5)
    return {
        "a": picked * 2,
        "b": index_add(table, index, picked),
        "c": put(table, index, full((3, 2, 4), 1, float32)),
    }


@case(x="f32[4,6,3]")
def places_and_scans(x):
    return {
        "a": argmax(x, 1),
        "b": argmin(x, 2),
        "c": cumsum(x, 1),
        "d": argsort(x, 1),
        "e": argsort(x, 2, True),
    }


@case(seed="i64[]", cumulative="f64[2,6]", wanted="f64[2,5]")
def random_numbers(seed, cumulative, wanted):
    state, words = random_words(random_seed(seed), 1500)
    after, few = random_words(state, 7)
    return {
        "uniform": uniform24(words),
        "double": uniform53(*pairs(words)),
        "state": after,
        "order": permutation(few, 8),
        "places": search(cumsum(exp(cumulative), 1), exp(wanted)),
    }


@case(x="f32[2,19,70,9]", y="f32[2,70,19,9]", z="f64[16,64,24]", w="f32[70,100]")
def turned_in_tiles(x, y, z, w):
    """By pieces of 9 and 24 numbers, by single numbers; with tiles left over, and without."""
    return {
        "pieces": transpose(x, (0, 2, 1, 3)) + y,
        "whole": transpose(z, (1, 0, 2)) * 2,
        "numbers": transpose(w, (1, 0)) * 2,
    }


# --------------------------------------------------------------------------------------------------------- memory


@case(a="f32[5]", b="f32[5]")
def swap(a, b):
    return {"into_a": b, "into_b": a}


@case(a="f32[3,4]", b="f32[4]")
def old_values(a, b):
    return {"into_a": a * 2, "total": sum(a, (0, 1)), "into_b": sum(a, (0,)), "old": b + 0}


@case(a="f32[4,4]", b="f32[4,4]")
def transposed_in_place(a, b):
    return {"into_a": transpose(a, (1, 0)) + 1, "into_b": dot(b, a)}


@case(a="f32[6]", b="f32[6]")
def rotated(a, b):
    return {"into_a": a + b, "into_b": sum(a, (0,)) * b, "again": a + b, "a_before": a}


@case(x="f32[3,4]")
def results_that_are_inputs(x):
    y = x * 2
    return {"x1": x, "x2": x, "y1": y, "y2": y, "flat": reshape(x, (12,))}


@case(a="f32[4,5]")
def rows_normalised_in_place(a):
    return {"into_a": a / reshape(sum(a * a, (1,)), (4, 1)), "column": sum(a, (0,))}


@case(x="f32[8,6]", a="f32[6,6]", b="f32[6,6]", c="f32[6,6]", p="f32[7]", q="f32[30]")
def equal_layers(x, a, b, c, p, q):
    """Three layers of one shape, and updates that differ in their length only."""
    for weight in (a, b, c):
        x = tanh(dot(x, weight))
    return {"x": x, "into_p": p - p * 0.1, "into_q": q - q * 0.1}


# ------------------------------------------------------------------------------------------- made again, or kept


@case(x="f32[24,40]", y="f32[18,40]")
def differences_of_pairs(x, y):
    apart = broadcast(reshape(x, (24, 1, 40)), (24, 18, 40)) - broadcast(reshape(y, (1, 18, 40)), (24, 18, 40))
    squares = sum(apart * apart, (2,))
    is_same = eq(squares, 0)
    distances = where(is_same, 0.0, sqrt(where(is_same, 1.0, squares)))
    slope = where(is_same, 0.0, 1 / (2 * distances))
    return {"a": distances, "b": sum(broadcast(reshape(slope, (24, 18, 1)), (24, 18, 40)) * apart, (1,))}


@case(x="f32[6,40]", y="f32[40]")
def read_through_views(x, y):
    costly = tanh(exp(x) * y + 1)
    return {"a": transpose(costly, (1, 0)) + 1, "b": sum(reshape(costly, (12, 20)), (0,)), "c": reshape(costly, (240,))}


@case(x="f32[2,5,6,8]", index="i64[7]", b="bool[7,5]")
def rows_of_channels_last(x, index, b):
    return {"a": where(b, take(reshape(transpose(x, (0, 2, 3, 1)), (96, 5)), index * 21 + 3), 0.5)}


@case(b="bool[24,40]", x="f32[24]", y="f64[24,40]")
def choices_in_rows(b, x, y):
    column = broadcast(reshape(x, (24, 1)), (24, 40))
    chosen = where(b, column, -1.0)
    return {
        "a": sum(chosen, (1,)),
        "b": sum(chosen * chosen, (0, 1)),
        "c": cast(where(column > 0, 1 / column, column), float64) + y,
    }


@case(x="f32[9,70,16]")
def turned_short_rows(x):
    return {"a": transpose(x, (0, 2, 1)) * 2, "b": sum(transpose(x, (0, 2, 1)) * 3, (0, 2))}
