"""Calls with arguments whose graph a backward pass has freed, before and after calls with others."""

import itertools

import pytest

CALLED = {
    "a model": lambda tg, model: model,
    "a model, twice": lambda tg, model: lambda t: model(t) * model(t),
    "a model, looked at": lambda tg, model: lambda t: model(t) if model(t).sum().item() < 1e9 else t,
}
ORDERS = [
    order for order in itertools.product([True, False], repeat=4) if any(order)
]  # which calls are given freed ones


def gradients(tg, wrap, called, order):
    tg.manual_seed(0)
    w = tg.randn(4, 2).requires_grad_()
    model = tg.nn.Sequential(tg.nn.Linear(2, 2), tg.nn.Tanh())
    step, told = wrap(CALLED[called](tg, model)), []
    for freed in (*order, *order):
        t = (w * w).exp()
        if freed:
            t.sum().backward()
        result = step(t)
        try:
            result.sum().backward()
        except RuntimeError as error:
            told.append(str(error)[:60])
        told.append([p.grad.sum().item() for p in (w, *model.parameters()) if p.grad is not None])
    return told


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("called", CALLED)
def test_an_arguments_freed_graph_is_no_fact_of_the_program(tg, called, order):
    eager, compiled = gradients(tg, lambda f: f, called, order), gradients(tg, tg.compile, called, order)
    for one, other in zip(eager, compiled, strict=True):
        assert other == (one if isinstance(one, str) else pytest.approx(one, rel=1e-5))  # sums in other orders
