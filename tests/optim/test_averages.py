"""``optim.swa_utils`` against PyTorch's numbers (stored; see expected/averages.py)."""

import numpy as np
import pytest
from expected.averages import PLANS, WAYS, averaged, rates
from expected.compare import load

STORED = load("averages")


@pytest.mark.parametrize("way", WAYS)
def test_averaged_models(tg, maybe_compile, way):
    found, keys = averaged(tg, way, maybe_compile)
    np.testing.assert_allclose(found, STORED[way], rtol=1e-12, atol=1e-13)  # some hundred roundings of float64
    assert keys[0] == "n_averaged" and keys[1] == "module.0.weight" and len(keys) == 10


@pytest.mark.parametrize("plan", PLANS)
def test_rates(tg, plan):
    np.testing.assert_allclose(rates(tg, plan), STORED[f"rates {plan}"], rtol=1e-15)


def test_state_of_a_plan(tg):
    def made():
        optimizer = tg.optim.SGD([tg.nn.Parameter(tg.ones(1))], lr=1.0)
        return optimizer, tg.optim.swa_utils.SWALR(optimizer, swa_lr=0.5, anneal_epochs=3, anneal_strategy="linear")

    optimizer, plan = made()
    optimizer.step()
    plan.step()
    state = plan.state_dict()
    assert state["_anneal_strategy"] == "linear" and "anneal_func" not in state
    other_optimizer, other = made()
    other.load_state_dict(state)
    other_optimizer.load_state_dict(optimizer.state_dict())
    for each in (optimizer, other_optimizer):
        each.step()
    plan.step()
    other.step()
    assert plan.get_last_lr() == other.get_last_lr()


@pytest.mark.parametrize(
    "make, error, words",
    [
        (lambda swa, o: swa.SWALR(o, 0.1, anneal_strategy="x"), ValueError, "must be one of 'cos' or 'linear'"),
        (lambda swa, o: swa.SWALR(o, 0.1, anneal_epochs=-1), ValueError, "anneal_epochs must be equal or greater"),
        (lambda swa, o: swa.SWALR(o, [0.1, 0.2]), ValueError, "swa_lr must have the same length"),
        (lambda swa, o: swa.get_ema_avg_fn(1.5), ValueError, "Invalid decay value 1.5"),
        (lambda swa, o: swa.get_ema_multi_avg_fn(-1), ValueError, "Invalid decay value -1"),
    ],
)
def test_wrong_arguments(tg, make, error, words):
    optimizer = tg.optim.SGD([tg.nn.Parameter(tg.ones(1))], lr=1.0)
    with pytest.raises(error, match=words):
        make(tg.optim.swa_utils, optimizer)


def test_two_functions(tg):
    swa, model = tg.optim.swa_utils, tg.nn.Linear(1, 1)
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
        swa.AveragedModel(model, avg_fn=swa.get_swa_avg_fn(), multi_avg_fn=swa.get_swa_multi_avg_fn())
