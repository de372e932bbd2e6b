"""Gradients of compiled calls that are differentiated again outside: where PyTorch's depend on the operands although
their second derivative is zero (ReLU), leaves get gradients of zeros, not none: an optimizer makes its step for them.
"""

import pytest

import tracegrad as tg
from tracegrad import nn

F = nn.functional
LOSSES = {
    "relu": lambda m, x: F.relu(m(x)).sum(),
    "relu6": lambda m, x: F.relu6(m(x)).sum(),
    "leaky_relu": lambda m, x: F.leaky_relu(m(x)).sum(),
    "prelu": lambda m, x: F.prelu(m(x), tg.tensor([0.2], dtype=tg.float64)).sum(),
    "threshold": lambda m, x: F.threshold(m(x), 0.1, 0.0).sum(),
    "hardtanh": lambda m, x: F.hardtanh(m(x)).sum(),
    "clamp": lambda m, x: m(x).clamp(0, 1).sum(),
    "hinge": lambda m, x: (1 - m(x)).clamp(min=0).mean(),
    "abs": lambda m, x: m(x).abs().sum(),
    "l1_loss": lambda m, x: F.l1_loss(m(x), x),
    "smooth_l1_loss": lambda m, x: F.smooth_l1_loss(m(x), x),
    "norm": lambda m, x: m(x).norm(p=1),
    "max_pool1d": lambda m, x: F.max_pool1d(m(x).unsqueeze(0), 2).sum(),
    "max": lambda m, x: m(x).max(1).values.sum(),
    "maximum": lambda m, x: tg.maximum(m(x), x).sum(),
    "sort": lambda m, x: m(x).sort(1).values.sum(),
    "where": lambda m, x: tg.where(m(x) > 0, m(x), 0.0).sum(),
    "dropout": lambda m, x: F.dropout(m(x), 0.5).sum(),
    "rnn_relu_cell": lambda m, x: tg.rnn_relu_cell(x, m(x), m.weight, m.weight, m.bias, m.bias).sum(),
    "of one layer": lambda m, x: (F.relu(m(x)) * m.bias).sum(),
    "of two layers": lambda m, x: F.relu(F.relu(m(x)) @ m.weight).sum(),
    "square": lambda m, x: m(x).square().sum(),
    "elu": lambda m, x: F.elu(m(x)).sum(),
    "no second derivative": lambda m, x: m(x).sum(),
}
WAYS = {
    "compiled": tg.compile,
    "deferred": lambda function: tg.deferred()(function),
    "wholly deferred": lambda function: function,
}


def assert_alike(found, expected):
    """Gradients of one pattern of None, or the same error."""
    if isinstance(expected, str):
        assert found == expected
        return
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        # float64: sums in another order, some roundings of 1e-16 of numbers up to 100.
        assert one is None or tg.allclose(one, other, rtol=1e-10, atol=1e-12)


def penalised(loss_of, model, i, of):
    model.zero_grad()
    x = tg.linspace(-1, 1 + i, 12, dtype=tg.float64).sin().reshape(4, 3).requires_grad_()
    try:
        gradients = tg.autograd.grad(loss_of(x), [x] if of == "x" else [*model.parameters()], create_graph=True)
        sum(gradient.square().sum() for gradient in gradients).backward()
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return [None if p.grad is None else p.grad.clone() for p in model.parameters()]


@pytest.mark.long(fast=19)
@pytest.mark.parametrize("of", ["x", "weights"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_of_eager_mode(name, way, of):
    tg.manual_seed(0)
    model = nn.Linear(3, 3).double()

    def loss_of(x):
        return LOSSES[name](model, x)

    wrapped = WAYS[way](loss_of)
    whole = tg.deferred()(penalised) if way == "wholly deferred" else penalised
    for i in range(4):
        tg.manual_seed(i)
        expected = penalised(loss_of, model, i, of)
        tg.manual_seed(i)
        found = whole(wrapped, model, i, of)
        assert_alike(found, expected)


def laplacian(loss_of, model, i, order):
    """A derivative of that order by x, and the weights' gradients of its square."""
    model.zero_grad()
    x = tg.linspace(-1, 1 + i, 12, dtype=tg.float64).sin().reshape(4, 3).requires_grad_()
    found = loss_of(x)
    try:
        for _ in range(order):
            (found,) = tg.autograd.grad(found.sum(), x, create_graph=True)
        found.square().mean().backward()
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return [None if p.grad is None else p.grad.clone() for p in (*model.parameters(), x)]


NETWORKS = {
    "one": lambda parts, kink, x: kink(parts[0](x)).sum(),
    "two": lambda parts, kink, x: parts[2](kink(parts[1](kink(parts[0](x))))).sum(),
    "two kinds": lambda parts, kink, x: parts[2](parts[1](kink(parts[0](x))).tanh()).sum(),
    "beside": lambda parts, kink, x: (kink(parts[0](x)) * parts[1](x).exp()).sum(),
    "behind": lambda parts, kink, x: kink(parts[1](parts[0](x).tanh())).sum(),
}
KINKS = {
    "relu": F.relu,
    "leaky_relu": lambda h: F.leaky_relu(h, 0.1),
    "softshrink": lambda h: F.softshrink(h, 0.1),
    "hardshrink": lambda h: F.hardshrink(h, 0.1),
    "hardtanh": F.hardtanh,
    "abs": tg.abs,
    "clamp": lambda h: h.clamp(min=0),
    "of one less": lambda h: F.relu(1 - h),
}


@pytest.mark.long(fast=13)
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kink", KINKS)
@pytest.mark.parametrize("network", NETWORKS)
def test_further_derivatives(network, kink, way, order):
    """What is zero depends on what it came through as well."""
    tg.manual_seed(0)
    parts = nn.ModuleList(nn.Linear(3, 3) for _ in range(3)).double()

    def loss_of(x):
        return NETWORKS[network](parts, KINKS[kink], x)

    wrapped = WAYS[way](loss_of)
    whole = tg.deferred()(laplacian) if way == "wholly deferred" else laplacian
    for i in range(4):
        expected, found = laplacian(loss_of, parts, i, order), whole(wrapped, parts, i, order)
        assert_alike(found, expected)


def by_gradient(u, du, x):
    return du.square().sum()


def by_both(u, du, x):
    return du.square().sum() + u.square().mean()


def by_second(u, du, x):
    return tg.autograd.grad(du[:, 0].sum(), x, create_graph=True)[0].square().sum()


def by_one_after_the_other(u, du, x):
    du.sum().backward(retain_graph=True)
    return u.sum()


LOSSES_OF_FIELDS = {f.__name__: f for f in (by_gradient, by_both, by_second, by_one_after_the_other)}


@pytest.mark.long(fast=13)
@pytest.mark.parametrize("loss", LOSSES_OF_FIELDS)
@pytest.mark.parametrize("way", ["compiled", "deferred"])
@pytest.mark.parametrize("kink", KINKS)
@pytest.mark.parametrize("network", NETWORKS)
def test_gradients_as_results(network, kink, way, loss):
    """A compiled function that returns a value and its gradient, which is differentiated outside."""
    tg.manual_seed(0)
    parts = nn.ModuleList(nn.Linear(3, 3) for _ in range(3)).double()

    def field(x):
        u = NETWORKS[network](parts, KINKS[kink], x)
        return u, tg.autograd.grad(u.sum(), x, create_graph=True)[0]

    def gradients(function, i):
        parts.zero_grad()
        x = tg.linspace(-1, 1 + i, 12, dtype=tg.float64).sin().reshape(4, 3).requires_grad_()
        try:
            LOSSES_OF_FIELDS[loss](*function(x), x).backward()
        except RuntimeError as error:
            return str(error).splitlines()[0]
        return [None if p.grad is None else p.grad.clone() for p in (*parts.parameters(), x)]

    wrapped = WAYS[way](field)
    for i in range(4):
        expected, found = gradients(field, i), gradients(wrapped, i)
        assert_alike(found, expected)
