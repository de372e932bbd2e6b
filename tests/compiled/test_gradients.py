"""`.grad` in every state, differentiation inside and outside of the compiled function."""

import numpy as np
import pytest
from compiled.conftest import Program
from expected.compare import assert_close

PROGRAMS = []


def program(make):
    PROGRAMS.append(make)
    return make


def ramp(tg, *shape):
    n = int(np.prod(shape))
    return tg.tensor((np.arange(n, dtype=np.float32) * 0.1 - 1.0).reshape(shape))


def batch(tg, i, *shape):
    return ramp(tg, *shape) * (i + 1) + 0.5


def weight(tg, *shape):
    return ramp(tg, *shape).requires_grad_()


def trained(zero_at, set_to_none=True, optimizer="SGD", **options):
    """A training step that zeroes its gradients at the start, in the middle, or at the end."""

    def make(tg):
        model = tg.nn.Linear(3, 2)
        steps = getattr(tg.optim, optimizer)(model.parameters(), lr=0.1, **options)

        def step(x):
            if zero_at == "start":
                steps.zero_grad(set_to_none=set_to_none)
            loss = (model(x) ** 2).mean()
            if zero_at == "middle":
                steps.zero_grad(set_to_none=set_to_none)
            loss.backward()
            steps.step()
            if zero_at == "end":
                steps.zero_grad(set_to_none=set_to_none)
            return loss

        return Program(step, lambda i: (batch(tg, i, 4, 3),), lambda: list(model.parameters()))

    make.__name__ = f"zero_at_{zero_at}_{set_to_none}_{optimizer}_{'_'.join(options)}"
    return make


PROGRAMS += [trained(at, none) for at in ("start", "middle", "end", "never") for none in (True, False)]
PROGRAMS += [trained("start", optimizer="Adam", amsgrad=True), trained("end", optimizer="AdamW")]
PROGRAMS += [trained("start", momentum=0.9), trained("end", False, momentum=0.9, nesterov=True, weight_decay=0.1)]


@program
def accumulation_over_micro_batches(tg):
    w = weight(tg, 3)
    optimizer = tg.optim.SGD([w], lr=0.1)

    def step(x, update):
        ((w * x) ** 2).sum().backward()
        if update:
            optimizer.step()
            optimizer.zero_grad()

    return Program(step, lambda i: (batch(tg, i, 3), i % 3 == 2), lambda: w)


@program
def accumulation_inside(tg):
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        for part in x:
            (w * part).pow(2).sum().backward()
        return w.grad

    return Program(step, lambda i: (batch(tg, i, 4, 3),), lambda: w, specialisations=1)


@program
def none_after_backward(tg):
    w = weight(tg, 3)

    def step(x):
        (w * x).sum().backward()
        with tg.no_grad():
            w.sub_(w.grad)
        w.grad = None

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: w, specialisations=1)


@program
def none_or_present_at_entry(tg):
    w = weight(tg, 3)

    def between(i):
        if i % 2:
            w.grad = None

    return Program(lambda x: (w * x).sum().backward(), lambda i: (batch(tg, i, 3),), lambda: w, between, 2)


@program
def assigned_from_outside(tg):
    w = weight(tg, 3)

    def between(i):
        w.grad = batch(tg, i, 3)

    return Program(lambda x: (w * x).sum().backward(), lambda i: (batch(tg, i, 3),), lambda: w, between, 1)


@program
def strided_gradient_from_outside(tg):
    w = weight(tg, 3, 3)

    def step(x):
        return w.grad * x

    def between(i):
        w.grad = batch(tg, i, 3, 3).t()

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: w, between, 1)


@program
def memory_of_a_gradient_replaced(tg):
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        (w * x).sum().backward()

    def between(i):
        if w.grad is not None:
            w.grad.data = w.grad.data.clamp(0, 1)

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: w, between)


@program
def frozen_and_unfrozen(tg):
    model = tg.nn.Sequential(tg.nn.Linear(3, 3), tg.nn.Linear(3, 1))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    def between(i):
        model[0].requires_grad_(i % 2 == 0)

    return Program(step, lambda i: (batch(tg, i, 4, 3),), lambda: list(model.parameters()), between, 2)


@program
def freezing_inside_and_back(tg):
    first, second = weight(tg, 3), weight(tg, 3)

    def step(x):
        first.grad = second.grad = None
        first.requires_grad_(False)
        (first * second * x).sum().backward()
        first.requires_grad_(True)

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: (first, second), specialisations=1)


@program
def argument_that_requires_grad(tg):
    w = weight(tg, 3)

    def step(x):
        x.grad = w.grad = None
        (w * x).pow(2).sum().backward()
        return x.grad

    return Program(step, lambda i: (batch(tg, i, 3).requires_grad_(),), lambda: w, specialisations=1)


@program
def argument_gradients_accumulate(tg):
    xs = [ramp(tg, 3).requires_grad_(), (ramp(tg, 3) * 2).requires_grad_()]

    def step(x):
        (x * x).sum().backward()

    return Program(step, lambda i: (xs[i % 2 if i > 2 else 0],), lambda: xs, specialisations=2)


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
def gradients_of_kept_calls(tg):
    w = weight(tg, 3)
    kept = []

    def step(x):
        w.grad = None
        (w * x).pow(2).sum().backward()

    def between(i):
        if w.grad is not None:
            kept.append(w.grad if i % 2 else w.grad.detach()[1:])

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: (w, kept), between, 1)


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
def test_gradients(agree, make):
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
