"""`.grad` in every state, differentiation inside and outside of the compiled function."""

import pytest
from side_by_side import Program, batch, ramp, weight

PROGRAMS = []


def program(make):
    PROGRAMS.append(make)
    return make


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


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_gradients(agree, make):
    agree(make)
