"""Whole training steps in generated C against numpy, and what happens when an index is wrong."""

from functools import lru_cache

import numpy as np
import pytest
from harness import CheckFailed, compile_graphs
from sample_graphs import CASES, sample_inputs
from sample_steps import classifier_step, moons_step, step_inputs

from tracegrad.compiler.evaluate import evaluate_graph

STEPS = {"moons": moons_step(), "classifier": classifier_step("classifier", 32, 24, 40, 20, 10)}


@lru_cache
def compiled():
    """The steps and the cases of this file by name, from one compiler run."""
    graphs = STEPS | {name: CASES[name] for name in ("single_elements", "rows")}
    return dict(zip(graphs, compile_graphs(graphs.values()), strict=True))


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("name", STEPS)
def test_training_follows_numpy(name):
    """Ten steps, each from the state that the last one left."""
    graph = STEPS[name]
    expected = step_inputs(graph)
    actual = {key: value.copy() for key, value in expected.items()}
    for _ in range(10):
        results = evaluate_graph(graph, expected)
        loss = compiled()[name].run(actual)["loss"]
        # Products and sums round in another order than numpy's; ten steps let the differences grow.
        np.testing.assert_allclose(loss, results["loss"], rtol=2e-5)
        expected |= {r.into: results[r.name] for r in graph.results if r.into}
    for key, value in expected.items():
        np.testing.assert_allclose(actual[key], value, rtol=2e-3, atol=2e-5, err_msg=key)


@pytest.mark.parametrize(
    ("name", "label", "wrong", "kind", "size"),
    [
        ("single_elements", "index", 5, "gather", 5),
        ("single_elements", "index2", -1, "gather", 5),
        ("rows", "index", 7, "index_add", 5),
    ],
)
def test_a_wrong_index_is_reported(name, label, wrong, kind, size):
    inputs = sample_inputs(CASES[name])
    inputs[label].flat[2] = wrong
    with pytest.raises(CheckFailed) as failure:
        compiled()[name].run(inputs)
    assert (failure.value.check.kind, failure.value.check.size) == (kind, size)
    assert failure.value.detail[0] == wrong


def test_a_wrong_index_leaves_every_input_as_it_was():
    graph = STEPS["classifier"]
    inputs = step_inputs(graph)
    inputs["index"][7] = 10
    before = {key: value.copy() for key, value in inputs.items()}
    with pytest.raises(CheckFailed):
        compiled()["classifier"].run(inputs)
    for key, value in before.items():
        np.testing.assert_array_equal(inputs[key], value, err_msg=key)


@pytest.mark.parametrize("kind", ["nan in one row", "all -inf", "huge"])
def test_softmax_of_special_numbers(kind):
    graph = CASES["softmax"]
    inputs = sample_inputs(graph)
    if kind == "nan in one row":
        inputs["x"][2, 9] = np.nan
    elif kind == "all -inf":
        inputs["x"][1] = -np.inf
    else:
        inputs["x"][:, 3] = 1e30
    expected = evaluate_graph(graph, inputs)
    actual = softmax().run(inputs)
    np.testing.assert_allclose(actual["p"], expected["p"], rtol=1e-5)


@lru_cache
def softmax():
    return compile_graphs([CASES["softmax"]])[0]
