"""Generated C against numpy: one graph a feature, all compiled together."""

import numpy as np
import pytest
from harness import compile_asked
from sample_graphs import CASES, sample_inputs

from tracegrad.compiler.evaluate import evaluate_graph

# Sums are taken in another order than numpy's, and tg_ functions are a few ulp from libm's.
TOLERANCE = {"float32": 2e-5, "float64": 1e-12}


@pytest.fixture(scope="module")
def compiled(request):
    return compile_asked(request, CASES)


@pytest.mark.long(fast=9, every=3)
@pytest.mark.parametrize("name", CASES)
def test_the_c_gives_what_numpy_gives(compiled, name):
    graph = CASES[name]
    inputs = sample_inputs(graph)
    expected = evaluate_graph(graph, inputs)
    actual = compiled[name].run({key: value.copy() for key, value in inputs.items()})
    for key, value in expected.items():
        assert actual[key].dtype == value.dtype
        scale = TOLERANCE.get(str(value.dtype), 0)
        np.testing.assert_allclose(actual[key], value, rtol=scale, atol=scale, err_msg=key)
