"""Gradients: `.grad` in every state, and what counts as constant."""

import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("Gradients")


def small_model(tg):
    return tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 1))


def zeroing(at, set_to_none):
    def make(tg):
        model = small_model(tg)
        optimizer = tg.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def step(x):
            if at == "start":
                optimizer.zero_grad(set_to_none=set_to_none)
            loss = model(x).pow(2).mean()
            if at == "middle":
                model.zero_grad(set_to_none=set_to_none)
            loss.backward()
            optimizer.step()
            if at == "end":
                optimizer.zero_grad(set_to_none=set_to_none)
            return loss

        return Program(step, batches(tg, 4, 3), lambda: list(model.parameters()))

    make.__name__ = f"zero_grad_at_the_{at}_{'none' if set_to_none else 'zeros'}"
    make.__doc__ = f"Does zero_grad(set_to_none={set_to_none}) at the {at} of the step do what it says?"
    return make


for place in ("start", "middle", "end"):
    ask.replay(c_calls=3)(zeroing(place, True))
    ask.replay(c_calls=3)(zeroing(place, False))


@ask.replay(specialisations=2)
def none_then_present(tg):
    """Is `.grad` None at the first call and accumulated into from then on?"""
    w = weight(tg, 3)
    return Program(lambda x: (w * x).pow(2).sum().backward(), batches(tg, 3), lambda: w)


@ask.replay()
def zeroed_in_place(tg):
    """Does `.grad.zero_()` at the end keep the gradient's memory?"""
    w = weight(tg, 3)
    w.grad = ramp(tg, 3)
    first = w.grad

    def step(x):
        w.grad.zero_()
        (w * x).pow(2).sum().backward()

    return Program(step, batches(tg, 3), lambda: (w, first))


@ask.replay()
def set_to_none_after_backward(tg):
    """Is `p.grad = None` after backward() inside the step believed?"""
    w = weight(tg, 3)

    def step(x):
        (w * x).pow(2).sum().backward()
        with tg.no_grad():
            w.sub_(0.1 * w.grad)
        w.grad = None

    return Program(step, batches(tg, 3), lambda: w)


@ask.replay()
def deleted_gradient(tg):
    """Is `del p.grad` inside the step believed?"""
    w = weight(tg, 3)

    def step(x):
        (w * x).sum().backward()
        kept = w.grad * 2
        del w.grad
        return kept

    return Program(step, batches(tg, 3), lambda: w)


@ask.replay()
def assigned_from_outside(tg):
    """Is a gradient that is assigned from outside accumulated into?"""
    w = weight(tg, 3)

    def between(i):
        w.grad = batch(tg, i, 3)

    return Program(lambda x: (w * x).sum().backward(), batches(tg, 3), lambda: w, between)


@ask.replay()
def changed_in_place_from_outside(tg):
    """Is a gradient that is scaled from outside the one that the optimizer uses?"""
    w = weight(tg, 3)
    optimizer = tg.optim.SGD([w], lr=0.1)
    w.grad = ramp(tg, 3)

    def step(x):
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        (w * x).sum().backward()

    return Program(step, batches(tg, 3), lambda: w, lambda i: w.grad.mul_(i))


@ask.replay()
def assigned_inside(tg):
    """Is a gradient that the step computes itself and assigns the gradient?"""
    w = weight(tg, 3)
    optimizer = tg.optim.SGD([w], lr=0.1)

    def step(x):
        w.grad = (w * x).detach()
        optimizer.step()

    return Program(step, batches(tg, 3), lambda: w)


@ask.replay()
def accumulated_inside(tg):
    """Are micro-batches inside one step accumulated, the way of `loss / n`?"""
    model = small_model(tg)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        for part in x.chunk(3):
            (model(part).pow(2).mean() / 3).backward()
        optimizer.step()

    return Program(step, batches(tg, 6, 3), lambda: list(model.parameters()))


@ask.replay(specialisations=3, calls=8)
def accumulated_over_calls(tg):
    """Are gradients accumulated over calls, with an update at every third?"""
    w = weight(tg, 3)
    optimizer = tg.optim.SGD([w], lr=0.1)

    def step(x, update):
        ((w * x) ** 2).sum().backward()
        if update:
            optimizer.step()
            optimizer.zero_grad()

    return Program(step, lambda i: (batch(tg, i, 3), i % 3 == 2), lambda: w)


@ask.replay()
def kept_by_the_caller(tg):
    """Is a gradient that the caller keeps never written again?"""
    w, kept = weight(tg, 3), []

    def step(x):
        w.grad = None
        (w * x).pow(2).sum().backward()

    return Program(step, batches(tg, 3), lambda: (w, kept), after=lambda i, out: kept.append(w.grad))


@ask.replay()
def view_kept_by_the_caller(tg):
    """Is a view of a gradient that the caller keeps never written again?"""
    w, kept = weight(tg, 3), []

    def step(x):
        w.grad = None
        (w * x).pow(2).sum().backward()

    return Program(step, batches(tg, 3), lambda: (w, kept), after=lambda i, out: kept.append(w.grad.detach()[:2]))


@ask.replay()
def numpy_view_kept_by_the_caller(tg):
    """Is numpy's view of a gradient, kept by the caller, never written again?"""
    w, kept = weight(tg, 3), []

    def step(x):
        w.grad = None
        (w * x).pow(2).sum().backward()

    return Program(step, batches(tg, 3), lambda: (w, kept), after=lambda i, out: kept.append(w.grad.numpy()))


@ask.replay(specialisations=2)
def accumulated_into_a_kept_gradient(tg):
    """Does accumulation write into the memory of a gradient that the caller keeps, as in eager mode?"""
    w, kept = weight(tg, 3), []
    return Program(
        lambda x: (w * x).pow(2).sum().backward(),
        batches(tg, 3),
        lambda: (w, kept),
        after=lambda i, out: kept.append(w.grad),
    )


@ask.replay()
def no_grad_island(tg):
    """Is what is computed under no_grad constant for the gradient, but not for later calls?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        with tg.no_grad():
            scale = (w * x).abs().max()
        (w * x / scale).pow(2).sum().backward()

    return Program(step, batches(tg, 3), lambda: w, lambda i: w.data.add_(1.0))


@ask.replay()
def enabled_within_no_grad(tg):
    """Is enable_grad within no_grad recorded for differentiation?"""
    w = weight(tg, 3)

    @tg.no_grad()
    def step(x):
        with tg.enable_grad():
            y = (w * x).pow(2).sum()
        (g,) = tg.autograd.grad(y, w)
        w.sub_(g, alpha=0.1)
        return w * 2

    return Program(step, batches(tg, 3), lambda: w)


@ask.replay()
def stopped_gradient(tg):
    """Does detach() stop the gradient but not the value?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        y = w * x
        (y * y.detach()).sum().backward()

    return Program(step, batches(tg, 3), lambda: w)


@ask.replay(specialisations=2, calls=6)
def frozen_and_unfrozen(tg):
    """Are freezing and unfreezing from outside two specialisations, both kept?"""
    model = small_model(tg)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    def between(i):
        model[0].requires_grad_(i % 2 == 0)

    return Program(step, batches(tg, 4, 3), lambda: list(model.parameters()), between)


@ask.replay()
def frozen_inside_and_back(tg):
    """Is a parameter that is frozen for a part of the step frozen for that part?"""
    w, v = weight(tg, 3), weight(tg, 3)

    def step(x):
        w.grad = v.grad = None
        w.requires_grad_(False)
        (w * v * x).sum().backward()
        w.requires_grad_(True)
        (w * x).sum().backward()

    return Program(step, batches(tg, 3), lambda: (w, v))


@ask.replay()
def gradient_of_an_argument(tg):
    """Does an argument that requires grad get its gradient?"""
    w, xs = weight(tg, 3), []

    def args(i):
        xs.append(batch(tg, i, 3).requires_grad_())
        return (xs[-1],)

    return Program(lambda x: (w.detach() * x).exp().sum().backward(), args, lambda: xs)


@ask.replay()
def in_place_operations_with_a_history(tg):
    """Are in-place operations on inner tensors and their views differentiated?"""
    w = weight(tg, 4)

    def step(x):
        w.grad = None
        y = w * 1.0
        y[1:3] *= x
        y[0].add_(y[3])
        y.pow(2).sum().backward()

    return Program(step, batches(tg, 2), lambda: w)


@ask.replay()
def gradient_clipped_in_place(tg):
    """Is a gradient that is clipped in place by value and by norm the one that is applied?"""
    model = small_model(tg)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        norm = tg.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        tg.nn.utils.clip_grad_value_(model.parameters(), 0.2)
        optimizer.step()
        return norm

    return Program(step, batches(tg, 4, 3), lambda: list(model.parameters()))


@ask.rerecord()
def gradient_that_shares_an_argument(tg):
    """Does `w.grad = x` make the argument the gradient?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = x  # here
        return x * 2

    return Program(step, batches(tg, 3), lambda: w)


@pytest.mark.parametrize("question", ask.rows())
def test_gradients(answer, question):
    answer(question)
