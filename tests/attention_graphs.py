"""Graphs of attention by matrices of a batch: causal, masked, biased, forward and backward, in odd sizes."""

from functools import partial

import numpy as np
from sanitized_graphs import graph_of

from tracegrad.compiler.differentiate import differentiate
from tracegrad.compiler.passes.simplify import simplify
from tracegrad.ops.comparison import ge, where
from tracegrad.ops.core import bind
from tracegrad.ops.elementary import exp
from tracegrad.ops.identity import detach_primitive
from tracegrad.ops.movement import broadcast, reshape, transpose
from tracegrad.ops.products import dot
from tracegrad.ops.reductions import amax, sum
from tracegrad.ops.sources import iota
from tracegrad.ops.types import float32, float64, int64

KINDS = ("plain", "causal", "masked", "biased")
#: batch, queries, keys, width of queries and keys, width of values
SIZES = ((2, 8, 17, 1, 3), (3, 37, 37, 20, 20), (2, 37, 53, 16, 33), (1, 130, 77, 33, 8), (2, 64, 64, 32, 32))


def softmax(scores):
    """Along the last axis; the maximum counts as a number."""
    shape, last = scores.type.shape, scores.type.ndim - 1
    raised = exp(scores - reshape(bind(detach_primitive, amax(scores, (last,))), (*shape[:-1], 1)))
    return raised / reshape(sum(raised, (last,)), (*shape[:-1], 1))


def attention(kind, q, k, v, mask=None):
    """``softmax(q @ k.T * 0.3 with a mask) @ v``."""
    scores = dot(q, transpose(k, (0, 2, 1))) * 0.3
    shape = scores.type.shape
    if kind == "causal":
        scores = where(ge(iota(shape[1:], 0, int64), iota(shape[1:], 1, int64)), scores, -np.inf)
    elif kind == "masked":
        scores = where(broadcast(mask, shape), -np.inf, scores)
    elif kind == "biased":
        scores = scores + mask
    return {"out": dot(softmax(scores), v)}


def arrays(kind, dtype, sizes):
    """Inputs by name."""
    batch, queries, keys, width, wide = sizes
    draw = np.random.default_rng(11)
    shapes = {"q": (batch, queries, width), "k": (batch, keys, width), "v": (batch, keys, wide)}
    found = {name: draw.standard_normal(shape).astype(dtype.numpy) for name, shape in shapes.items()}
    if kind == "masked":
        found["mask"] = draw.random((batch, queries, keys)) < 0.7
        found["mask"][:, :, 0] = False
    if kind == "biased":
        found["mask"] = draw.standard_normal((queries, keys)).astype(dtype.numpy)
    return found


def of_kind(kind, dtype, sizes):
    """The graph of one attention, and that of the gradients of its squares, which holds both passes."""
    name = f"rows_{kind}_{dtype.short}_{'_'.join(map(str, sizes))}"
    graph, values = graph_of(partial(attention, kind), name, **arrays(kind, dtype, sizes))
    yield simplify(graph), values
    yield gradients(kind, name, values), {**values, "grad_loss": np.ones((), dtype.numpy)}


def gradients(kind, name, values):
    """The graph of the gradients of the sum of squares, forward pass included."""

    def loss(**inputs):
        out = attention(kind, **inputs)["out"]
        return {"loss": sum(out * out, (0, 1, 2))}

    wanted = [label for label in values if values[label].dtype != bool]
    return simplify(differentiate(graph_of(loss, name, **values)[0], ["loss"], wanted))


def attention_graphs():
    """Each kind in some sizes, each size in some kinds."""
    for number, kind in enumerate(KINDS):
        for place, sizes in enumerate(SIZES):
            if (number + place) % 2:
                yield from of_kind(kind, float64 if place == 2 else float32, sizes)
