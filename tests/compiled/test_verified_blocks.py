"""``tg.deferred(verify=N)``: every Nth step's programs are compared with numpy."""

import numpy as np
import pytest


def train(tg, block, steps=40):
    tg.manual_seed(0)
    model = tg.nn.Sequential(tg.nn.Linear(4, 8), tg.nn.Tanh(), tg.nn.Linear(8, 1))
    optimizer = tg.optim.Adam(model.parameters(), lr=0.01)
    x, losses = tg.randn(16, 4), []
    with block:
        for _ in range(steps):
            loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


@pytest.mark.parametrize("every", [1, 3])
def test_steps_are_compared_and_results_are_the_same(tg, every):
    plain, block = train(tg, tg.deferred()), tg.deferred(verify=every)
    assert train(tg, block) == plain
    compared = int(block.report.split()[0])
    assert compared > 0 and "in 40 steps" in block.report
    assert every == 1 or compared < 30


def test_a_program_that_computes_otherwise_is_an_error_with_the_line(tg, monkeypatch):
    programs = __import__("tracegrad.compiled.verification.programs", fromlist=["programs"])
    evaluate = programs.evaluate_graph

    def otherwise(graph, inputs):
        return {name: np.asarray(value * 1.01, value.dtype) for name, value in evaluate(graph, inputs).items()}

    monkeypatch.setattr(programs, "evaluate_graph", otherwise)
    with pytest.raises(programs.VerificationError, match=r"test_verified_blocks\.py:\d+"):
        train(tg, tg.deferred(verify=1))


def test_a_number_of_steps_is_wanted(tg):
    with pytest.raises(ValueError, match="from 0 on"):
        tg.deferred(verify=-1)
    assert tg.deferred().report == "nothing was compared"
