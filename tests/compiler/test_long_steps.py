"""A step of many kernels is several functions in C; it computes, and refuses, what one function does."""

from functools import lru_cache

import numpy as np
import pytest
from harness import CheckFailed, compile_graphs
from sample_steps import classifier_step, step_inputs

from tracegrad.compiler.codegen import render

GRAPH = classifier_step("classifier", 32, 24, 40, 20, 10)


@lru_cache
def compiled(most_calls):
    """The step with at most so many calls in one function."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "MOST_CALLS", most_calls)
        return compile_graphs([GRAPH])[0]


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("most_calls", [1, 2, 5])
def test_parts_compute_what_the_whole_does(most_calls):
    whole, parts = step_inputs(GRAPH), step_inputs(GRAPH)
    expected, results = compiled(1000).run(whole), compiled(most_calls).run(parts)
    assert "step_part1" not in compiled(1000).source
    kernels = len(compiled(most_calls).schedule.kernels)
    assert compiled(most_calls).source.count("static int step_part") == -(-kernels // most_calls)
    for name, value in expected.items():
        np.testing.assert_array_equal(results[name], value, err_msg=name)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("most_calls", [1, 2, 5])
def test_what_a_part_refuses_ends_the_step(most_calls):
    inputs = step_inputs(GRAPH)
    inputs["index"][7] = 10
    before = {key: value.copy() for key, value in inputs.items()}
    with pytest.raises(CheckFailed) as failure:
        compiled(most_calls).run(inputs)
    assert failure.value.detail[0] == 10
    for key, value in before.items():
        np.testing.assert_array_equal(inputs[key], value, err_msg=key)
