"""Convolutions and maxima of windows, compiled: the family of `convolution_graphs`, what is fused, what is refused."""

import platform
import sys
from pathlib import Path

import numpy as np
import pytest
from harness import compile_graphs

from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.schedule.plan import make_schedule
from tracegrad.compiler.schedule.records import ConvKernel, LoopKernel
from tracegrad.ops.types import float32

sys.path.insert(0, str(Path(__file__).parents[1]))  # where the sanitized tests find the family, too
from convolution_graphs import CHOSEN, convolutions, pools, window_graphs  # noqa: E402


def assert_equal(graphs, flags=()):
    graphs = list(graphs)
    for compiled, (graph, values) in zip(compile_graphs([g for g, _ in graphs], flags=flags), graphs, strict=True):
        expected = evaluate_graph(graph, values)
        actual = compiled.run({name: array.copy() for name, array in values.items()})
        for name, wanted in expected.items():
            np.testing.assert_array_equal(actual[name], wanted, err_msg=f"{graph.name} {name}")


def test_a_few_of_the_family_are_equal_to_numpy():
    assert_equal([*map(convolutions, CHOSEN[1::4]), *list(pools(float32))[:4]])


@pytest.mark.long(every=5)
@pytest.mark.parametrize("part", range(5))
def test_the_family_is_equal_to_numpy(part):
    assert_equal(list(window_graphs(120))[part::5])


@pytest.mark.long(every=2)
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the names of narrower x86 machines")
@pytest.mark.parametrize("machine", ["x86-64", "x86-64-v3"])
def test_narrower_vectors_give_the_same(machine):
    assert_equal(window_graphs(4), (f"-march={machine}",))


@pytest.mark.parametrize("config", CHOSEN, ids=lambda config: config.name)
def test_no_window_is_written_out_and_work_on_results_joins(config):
    """One kernel for each contraction, and none beside them: nothing is larger than inputs and results."""
    graph, _ = convolutions(config)
    schedule = make_schedule(graph)
    kernels = [kernel for kernel in schedule.kernels if isinstance(kernel, ConvKernel)]
    assert sorted(kernel.kind for kernel in kernels) == ["conv", "conv_input", "conv_weight"]
    assert not [kernel for kernel in schedule.kernels if isinstance(kernel, LoopKernel)]
    assert not [buffer for buffer in schedule.buffers if buffer.place == "arena"]
