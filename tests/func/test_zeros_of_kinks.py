"""Derivatives of networks with kinks by `func` and by `autograd.functional`, differentiated by the parameters outside:
where PyTorch has zeros, there are zeros, since an optimizer makes its step for them, and where it has none, none."""

import pytest

import tracegrad as tg
from tracegrad import func, nn
from tracegrad.autograd import functional

X, V = tg.linspace(-1, 1, 12).reshape(4, 3), tg.linspace(1, -2, 12).reshape(4, 3).sin()
#: Weight and bias before and behind the kink: x has a gradient, 0 one of zeros, - none. PyTorch 2.13 says so.
DERIVATIVES = {
    "vmap of grad": (lambda net: func.vmap(func.grad(lambda z: net(z).sum()))(X), "x0x-"),
    "jacrev": (lambda net: func.jacrev(net)(X[0]), "x0x-"),
    "jacfwd": (lambda net: func.jacfwd(net)(X[0]), "x0x-"),
    "vmap of jacrev": (lambda net: func.vmap(func.jacrev(net))(X), "x0x-"),
    "grad": (lambda net: func.grad(lambda z: net(z).sum())(X), "x0x-"),
    "vjp": (lambda net: func.vjp(net, X)[1](V)[0], "x0x-"),
    "autograd jacobian": (lambda net: functional.jacobian(net, X[0], create_graph=True), "x0x-"),
}
KINKS = {"relu": nn.ReLU(), "leaky_relu": nn.LeakyReLU(0.1)}
WAYS = {"eager": lambda f: f, "compiled": tg.compile, "deferred": lambda f: tg.deferred()(f)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kink", KINKS)
@pytest.mark.parametrize("name", DERIVATIVES)
def test_zeros_and_nothing(name, kink, way):
    tg.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 5), KINKS[kink], nn.Linear(5, 3))
    derivative, expected = DERIVATIVES[name]

    def step():
        net.zero_grad()
        derivative(net).square().sum().backward()

    stepping = WAYS[way](step)
    for _ in range(3):
        stepping()
        found = "".join("-" if p.grad is None else "x" if p.grad.any() else "0" for p in net.parameters())
        assert found == expected
