"""Higher derivatives, hooks, own functions, and differentiation that goes on outside of the compiled function."""

import pytest
from expected.compare import assert_close
from side_by_side import Program, batch, weight

PROGRAMS = []


def program(make):
    PROGRAMS.append(make)
    return make


@program
def physics_informed(tg):
    model = tg.nn.Sequential(tg.nn.Linear(2, 5), tg.nn.Tanh(), tg.nn.Linear(5, 1))
    optimizer = tg.optim.Adam(model.parameters(), lr=0.01)

    def step(xt, target):
        optimizer.zero_grad()
        xt = xt.detach().requires_grad_(True)
        u = model(xt)
        du = tg.autograd.grad(u.sum(), xt, create_graph=True)[0]
        u_xx = tg.autograd.grad(du[:, 0:1].sum(), xt, create_graph=True)[0][:, 0:1]
        residual = du[:, 1:2] + u * du[:, 0:1] - 0.1 * u_xx
        loss = (residual * residual).mean() + ((u - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return Program(step, lambda i: (batch(tg, i, 4, 2), batch(tg, i, 4, 1)), lambda: list(model.parameters()))


@program
def third_order(tg):
    def step(x):
        x = x.detach().requires_grad_()
        y = (x**4).sum()
        for _ in range(3):
            (g,) = tg.autograd.grad(y, x, create_graph=True)
            y = g.sum()
        return g.detach()

    return Program(step, lambda i: (batch(tg, i, 3),), specialisations=1)


@program
def hooks(tg):
    w = weight(tg, 3)
    w.register_hook(lambda g: g * 2)

    def step(x):
        w.grad = None
        h = w * x
        h.register_hook(lambda g: g + 1)
        h.pow(2).sum().backward()

    def between(i):
        if i == 3:
            w.register_hook(lambda g: g * 10)

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: w, between, 2)


@program
def module_hooks(tg):
    model = tg.nn.Linear(3, 1)
    model.register_forward_hook(lambda module, args, out: out * 2)
    model.register_full_backward_hook(lambda module, gi, go: tuple(g if g is None else g * 3 for g in gi))

    def step(x):
        model.zero_grad()
        h = (x * 1.0).requires_grad_()
        (model(h * 2) ** 2).sum().backward()

    def between(i):
        if i == 3:
            model.register_forward_hook(lambda module, args, out: out + 1)

    return Program(step, lambda i: (batch(tg, i, 2, 3),), lambda: list(model.parameters()), between, 2)


@program
def retained_graph(tg):
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        loss = (w * x).pow(2).sum()
        loss.backward(retain_graph=True)
        loss.backward()
        return loss

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: w)


@program
def own_function(tg):
    class Cube(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 100 * x

    w = weight(tg, 3)

    def step(x):
        w.grad = None
        Cube.apply(w * x).sum().backward()

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: w, specialisations=1)


@program
def clipped(tg):
    model = tg.nn.Linear(3, 1)

    def step(x):
        model.zero_grad()
        model(x).pow(2).sum().backward()
        return tg.nn.utils.clip_grad_norm_(model.parameters(), 0.5)

    return Program(step, lambda i: (batch(tg, i, 2, 3),), lambda: list(model.parameters()), specialisations=1)


@program
def model_alone_in_an_eager_loop(tg):
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.ReLU(), tg.nn.Linear(4, 1))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.05)
    forward = tg.compile(model)

    def step(x):
        optimizer.zero_grad()
        loss = sum((forward(part) ** 2).mean() for part in (x, x * 2, x * 3))
        loss.backward()
        optimizer.step()
        return loss

    return Program(step, lambda i: (batch(tg, i, 4, 3),), lambda: list(model.parameters()))


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_differentiation(agree, make):
    agree(make)


def in_eager_loop(tg, compiled):
    """Gradients of a loss that is computed outside from a function's result."""
    w = weight(tg, 3)
    function = tg.compile(lambda x: (w * x).tanh()) if compiled else lambda x: (w * x).tanh()
    losses = []
    for i in range(4):
        x = batch(tg, i, 3).requires_grad_()
        (function(x) * function(x * 2)).sum().backward()
        losses.append([w.grad.clone(), x.grad])
    return losses


def test_results_used_in_eager_autograd(tg):
    for actual, expected in zip(in_eager_loop(tg, True), in_eager_loop(tg, False), strict=True):
        for one, other in zip(actual, expected, strict=True):
            assert_close(one, other)


def test_weights_changed_between_forward_and_backward(tg):
    w = weight(tg, 3)
    forward = tg.compile(lambda x: w.pow(2) * x)
    for i in range(3):
        y = forward(batch(tg, i, 3)).sum()
        with tg.no_grad():
            w.add_(1.0)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


def test_second_backward(tg):
    w = weight(tg, 3)
    forward = tg.compile(lambda x: (w * x).pow(2).sum())
    for i in range(3):
        y = forward(batch(tg, i, 3))
        y.backward()
        with pytest.raises(RuntimeError, match="second time"):
            y.backward()
