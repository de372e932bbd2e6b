"""Models that are made anew again and again, in re-recorded functions and in `tg.deferred()`: what is remembered of
those that are gone does not keep their tensors. Counted are tensors that are alive after some models, and after more.

Models that come first have programs of their own, which keep them; so there are some before the first count.
"""

import contextlib
import copy
import gc

import pytest

WIDTH = 33  # no other tensors are like that
FIRST, MODELS = 10, 16


class Holder:
    pass


def held_in_attribute(new, optimizer):
    holder = Holder()

    def renew():
        holder.model = new()
        holder.optimizer = optimizer(holder.model)

    return renew, lambda: (holder.model, holder.optimizer)


def held_in_dict(new, optimizer):
    held = {}

    def renew():
        held["model"] = new()
        held["optimizer"] = optimizer(held["model"])

    return renew, lambda: (held["model"], held["optimizer"])


def held_in_list(new, optimizer):
    held = []

    def renew():
        model = new()
        held[:] = [model, optimizer(model)]

    return renew, lambda: held


def held_in_closure(new, optimizer):
    model = made = None

    def renew():
        nonlocal model, made
        model = new()
        made = optimizer(model)

    return renew, lambda: (model, made)


HOLDERS = [held_in_attribute, held_in_dict, held_in_list, held_in_closure]


def in_sequence(tg):
    nn = tg.nn
    return lambda: nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 1))


def of_its_own_class(tg):
    class Model(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = tg.nn.Linear(WIDTH, WIDTH), tg.nn.Linear(WIDTH, 1)

        def forward(self, x):
            return self.last(self.first(x).relu())

    return Model


def as_copies(tg):
    model = in_sequence(tg)()
    return lambda: copy.deepcopy(model)


MODELS_OF = [in_sequence, of_its_own_class, as_copies]


def trains(tg, get):
    def step(x):
        model, optimizer = get()
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def returns_loss(tg, get):
    def step(x):
        model, optimizer = get()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return step


def reads_parameters(tg, get):
    def step(x):
        model, optimizer = get()
        loss = model(x).sum() + sum((p * p).sum() for p in model.parameters())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return step


def copies_model(tg, get):
    def step(x):
        model, optimizer = get()
        other = copy.deepcopy(model)
        loss = (model(x) - other(x + 1)).square().sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return step


def takes_gradients(tg, get):
    def step(x):
        model, optimizer = get()
        parameters = list(model.parameters())
        for p, gradient in zip(parameters, tg.autograd.grad(model(x).sum(), parameters), strict=True):
            p.grad = gradient
        optimizer.step()
        return sum(p.grad.sum() for p in parameters).item()

    return step


STEPS = [trains, returns_loss, reads_parameters, copies_model, takes_gradients]


def with_momentum(tg):
    return lambda model: tg.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


def adam(tg):
    return lambda model: tg.optim.Adam(model.parameters())


def alive(tg):
    gc.collect()
    return sum(isinstance(each, tg.Tensor) and each.numel() == WIDTH * WIDTH for each in gc.get_objects())


def counts(tg, parts, calls, compiled):
    """How many tensors are alive after the first models and after all, and what the steps gave."""
    hold, make, model_of, optimizer = parts
    tg.manual_seed(0)
    renew, get = hold(model_of(tg), optimizer(tg))
    step = make(tg, get)
    step = tg.compile(step) if compiled else step
    found, results = [], []
    for number in range(1, MODELS + 1):
        renew()
        results += [float(step(tg.ones(1, WIDTH))) for _ in range(calls)]
        if number in (FIRST, MODELS):
            found.append(alive(tg))
    return found, results


@pytest.mark.parametrize("calls", [1, 3])
@pytest.mark.parametrize("optimizer", [with_momentum, adam], ids=lambda f: f.__name__)
@pytest.mark.parametrize("model_of", MODELS_OF, ids=lambda f: f.__name__)
@pytest.mark.parametrize("make", STEPS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("hold", HOLDERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", ["compiled", "deferred"])
def test_models_that_are_gone_keep_nothing(tg, way, hold, make, model_of, optimizer, calls):
    parts = hold, make, model_of, optimizer
    _, expected = counts(tg, parts, calls, False)
    with tg.deferred() if way == "deferred" else contextlib.nullcontext():
        (first, last), results = counts(tg, parts, calls, way == "compiled")
    assert last <= first
    assert results == pytest.approx(expected, rel=1e-4, abs=1e-4)
