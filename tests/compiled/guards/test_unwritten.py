"""Counted changes elsewhere, at each call: guards whose dicts nobody has written are not looked at again, and whatever
is written to the model or the optimizer of the step is noticed as before."""

import numpy as np
import pytest

from tracegrad.compiled.guards.declared import Guard
from tracegrad.compiled.guards.value_guard import ValueGuard
from tracegrad.runtime import references

OPTIONS = {"SGD": {"momentum": 0.9}, "Adam": {}}
CALLS, FIRST = 18, 12  # calls, and the first of them before which something is written


def doubled(module, args, output):
    return output * 2


def halved(module, args, output):
    return output / 2 + 1


class Mirrored:
    """A forward of the program's own, set on one module."""

    def __call__(self, x):
        return -x


def two_hooks_in_turn(tg, case, i):
    """Their order is all that changes after the second of these calls."""
    layer = case.model[0]
    if i == FIRST:
        layer.register_forward_hook(doubled)
        layer.register_forward_hook(halved)
    else:
        layer._forward_hooks.move_to_end(next(iter(layer._forward_hooks)))


def once(write):
    return lambda tg, case, i: write(tg, case) if i == FIRST else None


def another_registry(tg, case):
    own = case.model[0].__dict__
    kind = type(own["_parameters"])
    dict.__setitem__(own, "_parameters", kind(weight=own["_parameters"]["weight"], bias=None))


def turned(tg, case):
    case.model[0].__class__ = case.turned


WRITES = {
    "a hook": once(lambda tg, case: case.model[1].register_forward_hook(doubled)),
    "a hook for a call": lambda tg, case, i: (
        case.handles.append(case.model[0].register_forward_hook(doubled)) if i % 2 else case.remove_handles()
    ),
    "hooks in another order": two_hooks_in_turn,
    "a hook of all modules": lambda tg, case, i: (
        case.handles.append(tg.nn.modules.module.register_module_forward_hook(doubled))
        if i % 3 == 0
        else case.remove_handles()
    ),
    "a backward hook": once(
        lambda tg, case: case.model[1].register_full_backward_hook(lambda m, before, after: (before[0] * 3,))
    ),
    "a parameter": once(
        lambda tg, case: setattr(case.model[0], "weight", tg.nn.Parameter(case.model[0].weight.detach() * 2))
    ),
    "a bias is taken away": once(lambda tg, case: setattr(case.model[0], "bias", None)),
    "a parameter past the methods": once(
        lambda tg, case: dict.__setitem__(case.model[0]._parameters, "bias", tg.nn.Parameter(tg.ones(3)))
    ),
    "a submodule": lambda tg, case, i: case.model.__setitem__(1, (tg.nn.ReLU, tg.nn.Tanh)[i % 2]()),
    "a submodule is added": once(lambda tg, case: case.model.append(tg.nn.Sigmoid())),
    "a forward of an object": once(lambda tg, case: setattr(case.model[1], "forward", Mirrored())),
    "past the methods of a module": once(
        lambda tg, case: dict.__setitem__(case.model[1].__dict__, "forward", Mirrored())
    ),
    "another __dict__": once(
        lambda tg, case: setattr(case.model[1], "__dict__", {**case.model[1].__dict__, "forward": Mirrored()})
    ),
    "another registry": once(another_registry),
    "another class": once(turned),
    "a flag": lambda tg, case, i: case.model[0].weight.requires_grad_(i % 2 == 0),
    "a mode": lambda tg, case, i: case.model.train(i % 2 == 0),
    "an option": lambda tg, case, i: case.optimizer.param_groups[0].__setitem__("maximize", i % 2 == 0),
    "a rate": lambda tg, case, i: case.optimizer.param_groups[0].__setitem__("lr", 0.01 * i),
    "state": lambda tg, case, i: case.optimizer.state.clear(),
    "state of one": once(lambda tg, case: case.optimizer.state.pop(case.model[0].bias)),
    "another state": once(lambda tg, case: setattr(case.optimizer, "state", type(case.optimizer.state)())),
    "another state past the methods": once(
        lambda tg, case: dict.__setitem__(case.optimizer.__dict__, "state", type(case.optimizer.state)())
    ),
    "a state that is loaded": once(
        lambda tg, case: case.optimizer.load_state_dict(
            type(case.optimizer)(case.model.parameters(), lr=0.3).state_dict()
        )
    ),
    "other groups": once(lambda tg, case: setattr(case.optimizer, "param_groups", case.other_groups())),
    "a group": once(lambda tg, case: case.optimizer.add_param_group({"params": [case.late], "lr": 0.5})),
    "nothing": lambda tg, case, i: None,
}


class Case:
    """A step that assigns a buffer of another module, so that Python runs and all that is counted has changed."""

    def __init__(self, tg, kind):
        tg.manual_seed(0)
        self.turned = type("Turned", (tg.nn.Linear,), {"forward": lambda module, x: x * 3 + module.bias})
        self.model = tg.nn.Sequential(tg.nn.Linear(3, 3), tg.nn.ReLU(), tg.nn.Dropout(0.0))
        self.other = tg.nn.Module()
        self.other.register_buffer("centre", tg.zeros(3))
        self.late = tg.nn.Parameter(tg.ones(3))
        self.optimizer = getattr(tg.optim, kind)(self.model.parameters(), lr=0.1, **OPTIONS[kind])
        self.handles = []
        self.calls = []

    def other_groups(self):
        return type(self.optimizer)(self.model.parameters(), lr=0.4).param_groups

    def remove_handles(self):
        while self.handles:
            self.handles.pop().remove()

    def step(self, x):
        self.calls.append(len(self.calls))
        self.optimizer.zero_grad()
        out = self.model(x)
        self.other.centre = 0.5 * self.other.centre + 0.5 * out.detach().mean(0)
        loss = (out - self.other.centre).square().mean() + (self.late * x).sum()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def outcome(tg, kind, write, compile):
    case = Case(tg, kind)
    step = compile(case.step)
    try:
        results = []
        for i in range(CALLS):
            if i >= FIRST:
                write(tg, case, i)
            results.append(step(tg.linspace(-1, 2, 6).reshape(2, 3) + 0.1 * i))
        return results, [p.detach().clone().numpy() for p in (*case.model.parameters(), case.late, case.other.centre)]
    finally:
        case.remove_handles()


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("write", WRITES)
def test_a_write_to_what_the_step_reads_is_noticed(tg, write, kind):
    expected, tensors = outcome(tg, kind, WRITES[write], lambda f: f)
    results, others = outcome(tg, kind, WRITES[write], tg.compile)
    assert results == pytest.approx(expected, rel=1e-5)
    for one, other in zip(others, tensors, strict=True):
        np.testing.assert_allclose(one, other, 1e-4, 1e-6)


@pytest.mark.skipif(not references.versions_are_known, reason="this Python gives dicts no versions")
def test_what_was_not_written_is_not_looked_at(tg, monkeypatch):
    """All modules of a deeper model have their registries, hooks and attributes guarded, and few are looked at."""
    looks = []
    for kind in (Guard, ValueGuard):
        holds = kind.holds
        monkeypatch.setattr(kind, "holds", lambda self, holds=holds: looks.append(self) or holds(self))
    counts = {}
    for layers in (2, 12):
        case = Case(tg, "SGD")
        case.model = tg.nn.Sequential(*(tg.nn.Linear(3, 3) for _ in range(layers)))
        step = tg.compile(case.step)
        for i in range(CALLS):
            if i == FIRST:
                looks.clear()
            step(tg.ones(2, 3) * i)
        assert step.way == "re-record"
        counts[layers] = len(looks)
    assert counts[12] == counts[2]
