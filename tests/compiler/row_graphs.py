"""Graphs of row work, powers, sorting and turned loops, in sizes around those at which the kernels change."""

import numpy as np

from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.ops.arithmetic import maximum
from tracegrad.ops.comparison import gt, lt, where
from tracegrad.ops.core import interpreting
from tracegrad.ops.elementary import erf, exp, log, pow, rsqrt
from tracegrad.ops.indexing import gather, index_add, put, scatter_add
from tracegrad.ops.logic import logical_and
from tracegrad.ops.movement import broadcast, reshape, transpose
from tracegrad.ops.reductions import all, amax, amin, any, argmax, argmin, sum
from tracegrad.ops.scans import argsort, cumsum
from tracegrad.ops.sources import full
from tracegrad.ops.types import ALL_DTYPES, Type, float32, float64, int32, int64

#: (rows, columns): rows that fill lanes, that leave some over, primes; short, full and long rows; memory that is in no
#: cache.
SIZES = ((64, 10), (50, 3), (13, 7), (40, 37), (9, 64), (5, 300), (96, 17), (3, 4500), (1, 10), (128, 1), (277, 2048),
         (32, 16), (24, 8), (16, 4))  # fmt: skip
EXPONENTS = (0.5, -0.5, 1.5, 3, 4, -1, -2)


def graph_of(function, name, **arrays):
    """The graph of a function of nodes that returns results by name, and its inputs' values."""
    builder = Builder()
    dtypes = {np.dtype(d.numpy): d for d in ALL_DTYPES}
    inputs = {k: builder.input(k, Type(dtypes[a.dtype], a.shape)) for k, a in arrays.items()}
    with interpreting(builder):
        outputs = function(**inputs)
    return Graph(name, tuple(inputs.values()), tuple(Result(k, node) for k, node in outputs.items())), arrays


def _on_rows(folded, like):
    rows, columns = like.type.shape
    return broadcast(reshape(folded, (rows, 1)), (rows, columns))


def row_work(x, scale, labels):
    """A layer norm of erf, a softmax, sums along both axes and of everything, and what is computed of these."""
    rows, columns = x.type.shape
    scaled = x * broadcast(scale, (rows, columns))
    bent = scaled * (1 + erf(scaled))
    centred = bent - _on_rows(sum(bent, (1,)) * (1 / columns), x)
    normal = centred * _on_rows(rsqrt(sum(centred * centred, (1,)) * (1 / columns) + 1e-5), x)
    powers = exp(normal - _on_rows(amax(normal, (1,)), x))
    chances = powers / _on_rows(sum(powers, (1,)), x)
    gradient = (chances + chances) * exp(-scaled * scaled)
    picked = reshape(gather(chances, reshape(labels, (rows, 1)), 1), (rows,))
    total = sum(gradient * x, (0,))
    return {
        "chances": chances, "gradient": gradient, "scale_gradient": total, "scale_new": scale - total * 0.1,
        "shift_gradient": sum(gradient, (0,)), "loss": sum(log(picked), (0,)), "square": sum(chances * chances, (0, 1)),
        "least": amin(bent, (0,)),
    }  # fmt: skip


def truths(x, y):
    """Truth values as values of loops: folds, choices and logic."""
    both = logical_and(gt(x, 0), lt(y, 1))
    return {"both": both, "any": any(both, (1,)), "all": all(gt(x, -9), (0,)), "chosen": where(both, x, y)}


def powers(x):
    return {f"power_{n}": pow(x, exponent) for n, exponent in enumerate(EXPONENTS)}


def orders(x):
    extent = x.type.shape[1]
    counts = sorted({0, 1, extent // 20, extent // 2, extent})
    results = {f"first_{n}_{down}": argsort(x, 1, down, n) for n in counts for down in (False, True)}
    return results | {"columns": argsort(x, 0), "largest": argmax(x, 1), "smallest": argmin(x, 0)}


def scans(x):
    return {"rows": cumsum(x, 1), "columns": cumsum(x, 0)}


def turned(x, y):
    """Memory in another order than the loops; all of it, and cut by a reshape."""
    rows, columns = y.type.shape
    return {
        "times": transpose(x, (1, 0)) * y,
        "turned": maximum(transpose(reshape(x, (columns, rows)), (1, 0)), 0),
    }


def added_to_zero(index, src, elements):
    size, width = 7, src.type.shape[1]
    lines = full((size, width), 0, float32)
    return {
        "added": index_add(lines, index, src), "put": put(lines, index, src),
        "elements": scatter_add(lines, elements, src, 0),
        "not_zero": index_add(full((size, width), -0.0, float32), index, src),
    }  # fmt: skip


def _drawn(rng, dtype, *shape):
    """Many equal numbers; for floats NaN, infinities and both zeros among them."""
    x = rng.integers(-30, 30, shape).astype(dtype.numpy)
    if dtype.is_floating_point:
        odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 0.25], dtype.numpy)
        x = np.where(rng.random(shape) < 0.2, rng.choice(odd, shape), x)
    return x


def row_graphs():
    """Each graph with the values of its inputs."""
    rng = np.random.default_rng(11)
    for rows, columns in SIZES:
        for dtype in (np.float32, np.float64):
            arrays = {"x": rng.standard_normal((rows, columns)), "scale": rng.uniform(0.5, 1.5, columns)}
            arrays = {k: a.astype(dtype) for k, a in arrays.items()}
            labels = rng.integers(0, columns, rows)
            name = f"row_work_{rows}_{columns}_{np.dtype(dtype).name}"
            yield graph_of(row_work, name, labels=labels, **arrays)
        two = {k: rng.standard_normal((rows, columns)).astype(np.float32) for k in "xy"}
        yield graph_of(truths, f"truths_{rows}_{columns}", **two)
    for dtype in (float32, float64, int32, int64):
        for shape in ((5, 31), (3, 40), (2, 700), (1, 5000), (9, 33)):
            yield graph_of(orders, f"orders_{dtype.short}_{shape[1]}", x=_drawn(rng, dtype, *shape))
        for shape in ((19, 33), (8, 300), (3, 5)):
            yield graph_of(scans, f"scans_{dtype.short}_{shape[0]}", x=rng.integers(-9, 9, shape).astype(dtype.numpy))
    for rows, columns in ((64, 64), (70, 33), (33, 129)):
        x, y = (rng.standard_normal(s).astype(np.float32) for s in ((columns, rows), (rows, columns)))
        yield graph_of(turned, f"turned_{rows}_{columns}", x=x, y=y)
    src = rng.standard_normal((4, 5)).astype(np.float32)
    at = {"index": np.array([2, -1, 2, 0]), "elements": rng.integers(0, 7, (4, 5))}
    yield graph_of(added_to_zero, "added_to_zero", src=src, **at)
    for dtype in (np.float32, np.float64):
        limits = np.finfo(dtype)
        odd = [0.0, -0.0, np.inf, -np.inf, np.nan, -2.0, limits.tiny, limits.max, 2.0**70, 2.0**-70, 1.0]
        numbers = np.concatenate((np.array(odd), rng.uniform(0.01, 30, 500))).astype(dtype)
        yield graph_of(powers, f"powers_{np.dtype(dtype).name}", x=numbers)
