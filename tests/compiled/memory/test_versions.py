"""How often memory was written to (``_version``) after a call: of results, arguments and what is captured.

Views and derivatives are compared with versions, and so are programs' own assertions.
"""

import contextlib

import pytest

import tracegrad as tg


def written(x, w, kept):
    y = w * x
    y.mul_(2)
    y[0] = 1.0
    return y, y[1:]


def written_views(x, w, kept):
    y = x + 1
    y[1:].add_(1)
    y.t().mul_(2)
    return y, y[0]


def written_before_it_is_saved(x, w, kept):
    y = (w * x).sigmoid_()
    return y, y * y


def arguments(x, w, kept):
    x.mul_(2)
    x.add_(1)
    x[0] = 3.0
    return x.sum()


def captured(x, w, kept):
    kept.add_(x).mul_(0.5)
    kept[0] = x[0]
    return kept * 2


def through_data(x, w, kept):
    kept.data.add_(x)
    x.detach().mul_(2)
    return kept * 2


def nothing_counted(x, w, kept):
    with tg.inference_mode():
        y = (x * 2).add_(1)
    return y, x * 1


PROGRAMS = [written, written_views, written_before_it_is_saved, arguments, captured, through_data, nothing_counted]
EAGER = (lambda function: function, contextlib.nullcontext)
WAYS = {
    "replayed": (tg.compile, contextlib.nullcontext),
    "re-recorded": (lambda function: tg.compile(noting(function)), contextlib.nullcontext),
    "deferred": (lambda function: function, tg.deferred),
}


def noting(function):
    """`function` as no program replays it."""
    calls = []

    def step(*args):
        calls.append(len(calls))
        return function(*args)

    return step


def versions(program, way):
    compile, block = way
    step, found = compile(program), []
    w, kept = tg.full((3, 3), 0.5, requires_grad=True), tg.zeros(3, 3)
    with block():
        for i in range(7):
            x = tg.ones(3, 3) * (i + 1)
            out = step(x, w, kept)
            results = out if isinstance(out, tuple) else (out,)
            counted = [t for t in (*results, x, w, kept) if not t.is_inference()]
            found.append([t._version for t in counted])
            if results[0].requires_grad:
                with tg.no_grad():
                    results[0].add_(1)
                with contextlib.suppress(RuntimeError):
                    results[-1].sum().backward()
                found.append([None if w.grad is None else w.grad.tolist(), *[t._version for t in counted]])
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_of_results_arguments_and_what_is_captured(program, way):
    assert versions(program, WAYS[way]) == versions(program, EAGER)


def adam(parameters):
    return tg.optim.Adam(parameters, amsgrad=True, weight_decay=0.1)


def momentum(parameters):
    return tg.optim.SGD(parameters, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1)


NAMES = "SGD AdamW RMSprop Adagrad Adadelta Adamax NAdam RAdam ASGD Rprop Adafactor"
OPTIMIZERS = {"adam": adam, "momentum": momentum, **{name: getattr(tg.optim, name) for name in NAMES.split()}}


def training(make, way):
    compile, block = way
    tg.manual_seed(0)
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.BatchNorm1d(4), tg.nn.ReLU(inplace=True), tg.nn.Linear(4, 2))
    optimizer, found = make(model.parameters()), []

    def step(x):
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss

    step = compile(step)
    with block():
        for i in range(6):
            loss = step(tg.arange(15.0).view(5, 3) + i)
            slots = [t for slots in optimizer.state.values() for t in slots.values() if isinstance(t, tg.Tensor)]
            gradients = [p.grad for p in model.parameters()]
            found.append([t._version for t in (loss, *model.parameters(), *model.buffers(), *slots, *gradients)])
    return found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_of_what_a_step_updates(name, way):
    assert training(OPTIMIZERS[name], WAYS[way]) == training(OPTIMIZERS[name], EAGER)
