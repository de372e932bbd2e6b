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


#: How many derivatives have gradients: the next one has no history.
ORDERS = {
    "x ** 0": (lambda x: x**0, 1),
    "x ** 1": (lambda x: x**1, 2),
    "x ** 2": (lambda x: x**2, 3),
    "x ** 2.0": (lambda x: x**2.0, 3),
    "x ** 3": (lambda x: x**3, 4),
    "square": (lambda x: x.square(), 3),
    "of a sum": (lambda x: (x + x.detach()) ** 2, 3),
    "product of powers": (lambda x: x**2 * x.detach() ** 3, 3),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ORDERS)
def test_derivatives_of_powers_end(name, way):
    function, order = ORDERS[name]
    wrapped = WAYS[way](function)
    for _ in range(4):
        x = tg.tensor([0.0, 1.0, 2.0], requires_grad=True)
        found = wrapped(x).sum()
        for _ in range(order):
            assert found.requires_grad
            (found,) = tg.autograd.grad(found.sum(), x, create_graph=True)
        assert not found.requires_grad
        assert found.isfinite().all()
