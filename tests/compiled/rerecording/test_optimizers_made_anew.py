"""Optimizers that are made anew in each call: those that are built alike share a part, and do what they do eagerly."""

import copy
import functools
import weakref

import numpy as np
import pytest

from tracegrad.compiled.parts import new_optimizers
from tracegrad.runtime import provide

CALLS, STEPS = 12, 3

KINDS = {
    "SGD": {"lr": 0.05},
    "SGD with momentum": {"lr": 0.05, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01},
    "SGD of Nesterov": {"lr": 0.002, "momentum": 0.9, "nesterov": True, "maximize": True},
    "Adam": {"lr": 0.01},
    "Adam with amsgrad": {"lr": 0.01, "amsgrad": True, "weight_decay": 0.01},
    "AdamW": {"lr": 0.01, "betas": (0.8, 0.9)},
    "RMSprop": {"lr": 0.01, "momentum": 0.5, "centered": True},
    "Adagrad": {"lr": 0.1, "lr_decay": 0.01},
    "Adadelta": {"lr": 1.0},
    "Adamax": {"lr": 0.01},
    "NAdam": {"lr": 0.01},
    "RAdam": {"lr": 0.01},
    "ASGD": {"lr": 0.05},
    "Rprop": {"lr": 0.01},
    "Adafactor": {"lr": 0.01},
}


def nothing(tg, optimizer, i, k):
    pass


def set_rate(tg, optimizer, i, k):
    for group in optimizer.param_groups:
        group["lr"] = 0.01 * (1 + i) / (1 + k)


def no_rate(tg, optimizer, i, k):
    optimizer.param_groups[0]["lr"] = (0.0, 0.02, 1)[i % 3]


def set_decay(tg, optimizer, i, k):
    if "weight_decay" in optimizer.param_groups[0]:
        optimizer.param_groups[0]["weight_decay"] = (0, 0.1)[i % 2]


def rate_as_a_tensor(tg, optimizer, i, k):
    if type(optimizer).__name__ in ("Adam", "AdamW", "SGD"):
        optimizer.param_groups[0]["lr"] = tg.tensor(0.01 * (1 + i))


def other_way(tg, optimizer, i, k):
    if "maximize" in optimizer.param_groups[0]:
        optimizer.param_groups[0]["maximize"] = i % 2 == 1


def no_gradient(tg, optimizer, i, k):
    if (i + k) % 2:
        optimizer.param_groups[0]["params"][1].grad = None


def groups(tg, optimizer, i, k):
    if not k and i % 2:
        *first, last = optimizer.param_groups[0]["params"]
        optimizer.param_groups[0]["params"] = first
        optimizer.add_param_group({"params": [last], "lr": 0.03})


def step_hook(tg, optimizer, i, k):
    if not k:
        optimizer.register_step_pre_hook(lambda it, args, kwargs: it.param_groups[0].update(lr=0.01 * i))


def own_update(tg, optimizer, i, k):
    if i % 2:
        update = optimizer.update
        optimizer.update = lambda p, gradient, *more: update(p, gradient * 2, *more)


def patched_class(tg, optimizer, i, k):
    if i == 9 and not k:
        kind = type(optimizer)
        update = kind.update
        PATCHED.append((kind, vars(kind).get("update")))
        kind.update = lambda self, p, gradient, *more: update(self, p, gradient * 2, *more)


def other_class(tg, optimizer, i, k):
    if i % 2 and not k:
        kind = type(optimizer)

        class Doubled(kind):
            def update(self, p, gradient, *more):
                super().update(p, gradient * 2, *more)

        optimizer.__class__ = Doubled


def shared_memory(tg, optimizer, i, k):
    """The second parameter is a row of the first one."""
    if i > 4 and not k:
        first, second, *_ = optimizer.param_groups[0]["params"]
        second.data = first.data[0]


def gradient_in_the_parameter(tg, optimizer, i, k):
    if i % 2:
        first, second, *_ = optimizer.param_groups[0]["params"]
        second.grad = first.detach()[0]


def one_gradient(tg, optimizer, i, k):
    if i % 2:
        _, second, *_ = optimizer.param_groups[0]["params"]
        second.grad = second.grad[0].expand(4)


def seen_by_numpy(tg, optimizer, i, k):
    SEEN.append(optimizer.param_groups[0]["params"][0].detach().numpy())
    SEEN.append(SEEN[-1].copy())


def new_state(tg, optimizer, i, k):
    if k == 1 and i % 2:
        optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))


def no_state(tg, optimizer, i, k):
    if k == 1 and i % 2:
        optimizer.state.clear()


def other_type(tg, optimizer, i, k):
    if i % 2 and not k:
        for p in optimizer.param_groups[0]["params"]:
            p.data, p.grad = p.data.float(), p.grad.float()


def other_memory(tg, optimizer, i, k):
    if k == 1 and i % 2:
        first, second, *_ = optimizer.param_groups[0]["params"]
        second.data = second.data * 0.5
        first.data = first.data.t().contiguous().t()


def other_state(tg, optimizer, i, k):
    """A state of its own numbers, put there in the middle."""
    if k == 1 and i % 2:
        for entry in optimizer.state.values():
            for name, value in entry.items():
                entry[name] = value + 1 if name == "step" else value * 0.5


def shared_late(tg, optimizer, i, k):
    if k == 2 and i % 2:
        first, second, *_ = optimizer.param_groups[0]["params"]
        second.data = first.data[0]


def one_more(tg, optimizer, i, k):
    """A parameter is in the optimizer twice."""
    if k == 1 and i % 2:
        params = optimizer.param_groups[0]["params"]
        params.append(params[1])


PATCHED, SEEN = [], []
CHANGES = (
    nothing, set_rate, no_rate, set_decay, rate_as_a_tensor, other_way, no_gradient, groups, step_hook, own_update,
    patched_class, other_class, shared_memory, gradient_in_the_parameter, one_gradient, seen_by_numpy, new_state,
    no_state, other_type, other_memory, other_state, shared_late, one_more,
)  # fmt: skip


def of_new_optimizers(tg, kind, change, wrap):
    """Parameters and losses of calls that make an optimizer each, which is changed before each step."""
    tg.manual_seed(0)
    start = [tg.randn(*shape, dtype=tg.float64) for shape in ((4, 4), (4,), (3, 4))]
    PATCHED.clear(), SEEN.clear()
    found = []

    def step(x, i):
        w, b, v = weights = [tg.nn.Parameter(t.clone()) for t in start]
        optimizer = getattr(tg.optim, kind.split()[0])(weights, **KINDS[kind])
        for k in range(STEPS):
            optimizer.zero_grad()
            # Not through the weights' own types, which `other_type` changes.
            loss = ((x @ w.double() + b.double()).tanh() @ v.double().t()).square().sum()
            loss.backward()
            change(tg, optimizer, i, k)
            optimizer.step()
            found.append(loss.item())
        found.extend(np.array(t.detach().numpy()) for t in weights)
        return loss.item()

    step = wrap(step)
    try:
        for i in range(CALLS):
            step(tg.arange(20.0, dtype=tg.float64).reshape(5, 4).sin() + i / 10, i)
    finally:
        for of, update in PATCHED:
            delattr(of, "update") if update is None else setattr(of, "update", update)
    return [*found, *map(np.array, SEEN)]


@pytest.mark.long(fast="first", every=59)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_an_optimizer_made_anew_does_what_it_does_in_eager_mode(tg, change, kind):
    run = functools.partial(of_new_optimizers, tg, kind, change)
    given, wanted = run(tg.compile), run(lambda step: step)
    assert len(given) == len(wanted)
    for one, other in zip(given, wanted, strict=True):
        scale = max(1.0, float(np.abs(other).max()))
        # Roundings that signs and roots near 0 have made larger; of float32 in `other_type`.
        atol = scale * (1e-3 if change is other_type else 1e-7)
        np.testing.assert_allclose(one, other, rtol=0, atol=atol)


@pytest.mark.parametrize("kind", ["SGD", "SGD with momentum", "Adam", "Adadelta"])
def test_steps_of_optimizers_that_are_built_alike_are_one_call_each(tg, monkeypatch, kind):
    """From the fifth call on no step is noted op by op, whatever its rate, but for the first ones with momentum."""
    made, own = [], []
    load = provide.load
    monkeypatch.setattr(provide, "load", lambda *args, **kwargs: (made.append(args), load(*args, **kwargs))[1])
    noted = new_optimizers.NewOptimizers.step
    monkeypatch.setattr(new_optimizers.NewOptimizers, "step", lambda *args: (own.append(args), noted(*args))[1])
    weight = tg.nn.Parameter(tg.ones(3, 4))

    @tg.compile
    def step(x, rate):
        optimizer = getattr(tg.optim, kind.split()[0])([weight], **{**KINDS[kind], "lr": rate})
        for _ in range(STEPS):
            optimizer.zero_grad()
            (x @ weight.t()).square().sum().backward()
            optimizer.step()
        return weight.sum().item()

    for i in range(40):
        step(tg.ones(2, 4), 0.001 + i / 1e5)
        if i == 20:
            early = len(made)
    assert len(own) >= 30 * STEPS
    assert len(made) == early <= 5, step.explain()
    assert step.way == "re-record" and step.explain().count(kind.split()[0])


def test_an_optimizer_keeps_no_gradient_of_its_latest_step(tg):
    gradients, optimizers, alive = [], [], []

    @tg.compile
    def step(x):
        weight = tg.nn.Parameter(tg.ones(3, 4))
        optimizer = tg.optim.Adam([weight])
        optimizers.append(optimizer)
        for _ in range(3):
            (x @ weight.t()).square().sum().backward()
            optimizer.step()
            gradients.append(weakref.ref(weight.grad))
            optimizer.zero_grad()
        return weight.sum().item()

    for _ in range(16):
        step(tg.ones(2, 4))
        alive.append(sum(gradient() is not None for gradient in gradients))  # nothing is pending any more
    # Programs keep what they were made with; optimizers nothing.
    assert step.way == "re-record" and alive[-1] == alive[-5] < len(optimizers)
