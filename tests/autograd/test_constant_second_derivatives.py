"""Second derivatives that are constants: PyTorch's of powers and running products have a history all the same, those
of products have none."""

import pytest

import tracegrad as tg

WITH_HISTORY = {
    "square": lambda x: x.square(),
    "square_": lambda x: (x * 1).square_(),
    "** 2": lambda x: x**2,
    "pow of a tensor": lambda x: x.pow(tg.tensor(2.0)),
    "norm squared": lambda x: x.norm() ** 2,
    "mean of squares": lambda x: x.square().mean(),
    "cumprod": lambda x: x[:2].cumprod(0),
    "prod": lambda x: x[:2].prod(),
}
WITHOUT = {
    "product": lambda x: x * x,
    "dot": lambda x: x.dot(x),
    "matrix product": lambda x: x[None] @ x[:, None],
    "mse_loss": lambda x: tg.nn.functional.mse_loss(x, tg.zeros(4)),
}
WAYS = {"eager": lambda f: f, "compiled": tg.compile, "deferred": lambda f: tg.deferred()(f)}


def second(function, x):
    (g,) = tg.autograd.grad(function(x).sum(), x, create_graph=True)
    return tg.autograd.grad(g.sum(), x, create_graph=True)[0]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WITH_HISTORY)
def test_with_a_history(name, way):
    function = WAYS[way](WITH_HISTORY[name])
    for _ in range(4):
        x = tg.ones(4, requires_grad=True)
        second(function, x).sum().backward()
        assert x.grad.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WITHOUT)
def test_without_one(name, way):
    function = WAYS[way](WITHOUT[name])
    for _ in range(4):
        assert not second(function, tg.ones(4, requires_grad=True)).requires_grad
