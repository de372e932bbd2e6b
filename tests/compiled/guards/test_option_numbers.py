"""Writes to an optimizer's options in steps that are re-recorded: numbers that become other numbers are taken over
without a look at every guard, everything else is looked at."""

import pytest

from tracegrad.compiled.guards.option_numbers import OptionNumbers
from tracegrad.compiled.parts.guard_looks import Looks

CALLS, FIRST = 16, 9  # calls, and the first of them before which something else than numbers is written


def group(case):
    return case.optimizer.param_groups[0]


def put(name):
    """A write of a value by name, which may depend on the number of the call."""
    return lambda value: lambda tg, case, i: group(case).__setitem__(name, value(tg, i) if callable(value) else value)


LR, DECAY = put("lr"), put("weight_decay")
WRITES = {
    "another rate": LR(lambda tg, i: 0.01 * i),
    "no rate": LR(0.0),
    "an integer": LR(1),
    "a tensor": LR(lambda tg, i: tg.tensor(0.02 * i)),
    "not a number": LR(float("nan")),
    "minus nothing": LR(-0.0),
    "decay begins": DECAY(0.1),
    "decay comes and goes": DECAY(lambda tg, i: 0.1 * (i % 2)),
    "maximize": put("maximize")(lambda tg, i: i % 2 == 0),
    "an option of the program": put("scale")(lambda tg, i: 1.0 * i),
    "past the methods": lambda tg, case, i: dict.__setitem__(group(case), "lr", 0.01 * i),
    "two at once": lambda tg, case, i: group(case).update(lr=0.01 * i, weight_decay=0.01 * i),
    "one and another kind": lambda tg, case, i: group(case).update(lr=0.01 * i, maximize=i % 2 == 0),
    "another group": lambda tg, case, i: (
        case.optimizer.add_param_group({"params": [case.late], "lr": 0.5}) if i == FIRST else None
    ),
    "a parameter leaves": lambda tg, case, i: group(case)["params"].pop() if i == FIRST else None,
    "state": lambda tg, case, i: case.optimizer.state.clear(),
    "a gradient is frozen": lambda tg, case, i: case.model.bias.requires_grad_(i % 2 == 0),
    "the model": lambda tg, case, i: setattr(case.model, "weight", tg.nn.Parameter(case.model.weight.detach() * 2)),
}


class Case:
    def __init__(self, tg, kind):
        tg.manual_seed(0)
        self.model = tg.nn.Linear(3, 3)
        self.late = tg.nn.Parameter(tg.ones(3))
        self.optimizer = getattr(tg.optim, kind)(self.model.parameters(), lr=0.1)
        self.calls = []

    def step(self, x):
        self.calls.append(len(self.calls))  # so that Python runs
        group(self)["lr"] *= 0.9
        self.optimizer.zero_grad()
        loss = self.model(x).square().mean() + (self.late * x).sum()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def outcome(tg, kind, write, compile):
    case, x = Case(tg, kind), tg.arange(6.0).reshape(2, 3) / 6
    step, losses = compile(case.step), []
    for i in range(CALLS):
        if i >= FIRST:
            write(tg, case, i)
        losses.append(step(x).tolist())
    return losses, [p.tolist() for p in (*case.model.parameters(), case.late)], group(case)["lr"]


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name", WRITES)
def test_a_write_is_seen(tg, kind, name):
    losses, tensors, rate = outcome(tg, kind, WRITES[name], tg.compile)
    expected_losses, expected, expected_rate = outcome(tg, kind, WRITES[name], lambda step: step)
    assert losses == pytest.approx(expected_losses, rel=1e-5, abs=1e-6, nan_ok=True)
    for actual, wanted in zip(tensors, expected, strict=True):
        assert tg.tensor(actual).allclose(tg.tensor(wanted), 1e-4, 1e-6, equal_nan=True)
    assert float(rate) == pytest.approx(float(expected_rate), nan_ok=True)


def schedulers(tg, optimizer):
    rates = tg.optim.lr_scheduler
    return [rates.CosineAnnealingLR(optimizer, 50), rates.ExponentialLR(optimizer, 0.99)]


def counted_looks(monkeypatch):
    looks = []
    looked = Looks.hold
    monkeypatch.setattr(Looks, "hold", lambda self: looks.append(self) or looked(self))
    return looks


@pytest.mark.skipif("not __import__('tracegrad').runtime.references.versions_are_known", reason="no versions of dicts")
@pytest.mark.parametrize("by", ["hand", "schedulers"])
def test_numbers_alone_need_no_look_at_the_guards(tg, monkeypatch, by):
    case, x = Case(tg, "Adam"), tg.ones(2, 3)
    rates = schedulers(tg, case.optimizer) if by == "schedulers" else []

    @tg.compile
    def step(x):
        loss = case.step(x)
        for rate in rates:
            rate.step()
        return loss

    for _ in range(12):
        step(x)
    looks = counted_looks(monkeypatch)
    for _ in range(5):
        step(x)
    assert step.way == "re-record" and not looks
    group(case)["maximize"] = True
    step(x)
    assert looks


def test_what_else_is_written_at_the_same_time_is_told_apart(tg):
    """Mechanically: of each option that is no number, and of each entry of the state."""
    case = Case(tg, "Adam")
    step, x = tg.compile(case.step), tg.ones(2, 3)
    for _ in range(12):
        step(x)
    [part] = [p for p in step._rerun.parts._parts.values() if p.__name__ == "_update_all"]
    of = part.specialisations[0]
    containers = of.recording.environment.counted_containers
    numbers = OptionNumbers([n.get for n in of.recording.numbers], of.recording.guards, containers)
    state = case.optimizer.state[case.model.weight]
    places = [*((group(case), key) for key in group(case)), *((state, key) for key in state)]
    for i, (container, key) in enumerate(places):
        before = dict.__getitem__(container, key)
        containers.look()
        numbers.note()
        dict.__setitem__(group(case), "lr", 0.1 + 0.01 * i)
        assert numbers.are_all_that_changed() is containers_are_versioned(tg)
        dict.__setitem__(container, key, 0.5 if type(before) is float else object())
        is_number = type(before) is float and key in ("lr", "eps")
        assert numbers.are_all_that_changed() is (is_number and containers_are_versioned(tg)), key
        dict.__setitem__(container, key, before)


def containers_are_versioned(tg):
    return tg.runtime.references.versions_are_known
