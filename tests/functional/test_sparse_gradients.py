"""Sparse gradients of tables of rows are PyTorch's: texts, errors, training (expected/sparse_gradients.py)."""

import json

import numpy as np
import pytest
from expected import sparse_gradients as cases
from expected.compare import STORE, load

TEXTS = json.loads((STORE / "sparse_gradients.json").read_text(encoding="utf-8"))
#: Sums of a few terms in float64 in another order; what 200 steps carry on of that.
TOLERANCE = 1e-9


@pytest.mark.parametrize("expression", cases.EXPRESSIONS)
def test_expressions(tg, expression):
    assert cases.outcome(tg, expression) == TEXTS[expression]


@pytest.mark.long(fast=4)
@pytest.mark.parametrize("name", cases.OPTIMIZERS)
def test_training(tg, name):
    losses, table = cases.trained(tg, name)
    np.testing.assert_allclose(losses, load("sparse_gradients")[f"{name}/losses"], rtol=TOLERANCE, atol=TOLERANCE)
    np.testing.assert_allclose(table, load("sparse_gradients")[f"{name}/table"], rtol=TOLERANCE, atol=TOLERANCE)


def deferred(tg, step):
    def run(*args):
        with tg.deferred():
            return step(*args)

    return run


@pytest.mark.parametrize("name", ["SGD with Nesterov's", "Adagrad", "SparseAdam"])
@pytest.mark.parametrize("way", ["compiled", "deferred"])
def test_training_re_recorded(tg, name, way):
    steps = []

    def wrapped(step):
        steps.append(tg.compile(step) if way == "compiled" else deferred(tg, step))
        return steps[0]

    found = cases.trained(tg, name, wrapped, steps=12)
    for got, wanted in zip(found, cases.trained(tg, name, steps=12), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=TOLERANCE, atol=TOLERANCE)
    if way == "compiled":
        assert steps[0].way == "re-record" and "a lookup with sparse=True" in str(steps[0].explain())


def test_a_refused_step_changes_nothing(tg):
    """Parameters with dense gradients before the sparse one are left alone as well, as in PyTorch."""
    table, other = tg.nn.Embedding(4, 2, sparse=True), tg.nn.Parameter(tg.ones(2))
    optimizer = tg.optim.Adam([other, table.weight], lr=0.1)
    (table(tg.tensor([1])).sum() + other.sum()).backward()
    with pytest.raises(RuntimeError, match="Adam does not support sparse gradients"):
        optimizer.step()
    assert other.tolist() == [1, 1] and not optimizer.state


def test_states_go_on(tg):
    """A saved state continues as if nothing had happened; the count of steps is a number."""

    def run(reload):
        table = tg.nn.Parameter(tg.ones(4, 2))
        optimizer = tg.optim.SparseAdam([table], lr=0.1)
        for turn in range(6):
            if reload and turn == 3:
                state = optimizer.state_dict()
                assert state["state"][0]["step"] == 3 and isinstance(state["state"][0]["step"], int)
                optimizer = tg.optim.SparseAdam([table], lr=0.1)
                optimizer.load_state_dict(state)
            optimizer.zero_grad()
            tg.nn.functional.embedding(tg.tensor([turn % 3, 0]), table, sparse=True).pow(2).sum().backward()
            optimizer.step()
        return table.tolist()

    assert run(reload=True) == run(reload=False)


def test_second_derivatives(tg):
    w = tg.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
    (g,) = tg.autograd.grad(
        tg.nn.functional.embedding(tg.tensor([0, 2, 2]), w, sparse=True).pow(3).sum(), w, create_graph=True
    )
    g.to_dense().sum().backward()
    assert g.is_sparse and w.grad.to_dense().tolist() == [[6], [0], [36]]
