"""Windows that are added up at their places by blocks of a step: the values of the sum over the whole kernel."""

import itertools

import numpy as np
import pytest

from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.compiler.schedule.plan import make_schedule
from tracegrad.compiler.schedule.prepare import prepared
from tracegrad.compiler.schedule.records import LoopKernel
from tracegrad.compiler.schedule.rewrites.overlaps import by_blocks
from tracegrad.ops.core import interpreting
from tracegrad.ops.reductions import sum
from tracegrad.ops.types import Type, float32, int64
from tracegrad.ops.windows import spread

#: Kernel, step, windows, places before the first, places: windows that overlap, touch, and leave gaps; ends that are
#: cut, and places behind the last window.
ALONG = [(3, 2, 5, 1, 9), (4, 4, 3, 0, 12), (2, 3, 4, 0, 13), (7, 2, 4, 3, 8), (1, 1, 4, 0, 4), (5, 5, 2, 2, 6)]


def graph_of(along, batch=(2,), dtype=float32, gaps=1):
    kernel, steps, windows, low, extents = zip(*along, strict=True)
    builder, axes = Builder(), len(along)
    x = builder.input("x", Type(dtype, (*batch, *kernel, *windows)))
    with interpreting(builder):
        back = spread(x, extents, steps, (gaps,) * axes, low)
        added = sum(back, tuple(range(len(batch), len(batch) + axes)))
    return Graph("added", (x,), (Result("a", added, None),))


@pytest.mark.parametrize("along", [*[(a,) for a in ALONG], *itertools.product(ALONG, ALONG[:4])])
@pytest.mark.parametrize("dtype", [float32, int64])
def test_the_sums_are_those_of_the_whole_kernel(along, dtype):
    graph = graph_of(along, dtype=dtype)
    shape = graph.inputs[0].type.shape
    x = np.random.default_rng(0).integers(-4, 5, shape).astype(dtype.numpy)
    x *= np.where(np.random.default_rng(1).random(shape) < 0.5, x.dtype.type(-1), x.dtype.type(1))  # some are -0
    expected, actual = (evaluate_graph(each, {"x": x})["a"] for each in (graph, by_blocks(graph)))
    np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(np.signbit(actual), np.signbit(expected))


def test_a_place_is_asked_for_as_many_windows_as_overlap():
    """Windows of 64 places that begin each 16: four terms for each place, not 64."""
    kernels = [k for k in make_schedule(graph_of([(64, 16, 20, 0, 368)])).kernels if isinstance(k, LoopKernel)]
    loops = [(*kernel.outer, *stage.loops) for kernel in kernels for stage in kernel.stages]
    assert max(np.prod([v.extent for v in nest]) for nest in loops) == 2 * 368 * 4


@pytest.mark.parametrize(("along", "gaps"), [([(3, 1, 5, 1, 5)], 1), ([(3, 2, 5, 0, 13)], 2), ([(1, 3, 4, 0, 10)], 1)])
def test_other_windows_stay_as_they_are(along, gaps):
    graph = graph_of(along, gaps=gaps)
    assert by_blocks(graph) is graph
    assert prepared(graph).results
