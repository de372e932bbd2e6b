"""Parameters of equal types are updated alike: a recording records the first update and repeats its nodes.

Each optimizer in each situation is recorded with and without that: the same bits in parameters and state after each
call, whatever the parameters' gradients are, and however the options change in between.
"""

import numpy as np
import pytest

from tracegrad.compiler import repeats
from tracegrad.compiler.repeats import Repeats

CALLS = 6
KINDS = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd momentum": ("SGD", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01}),
    "sgd nesterov": ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "maximize": True}),
    "adam": ("Adam", {"lr": 0.01}),
    "adam everything": ("Adam", {"lr": 0.01, "amsgrad": True, "maximize": True, "weight_decay": 0.1}),
    "adamw": ("AdamW", {"lr": 0.01, "betas": (0.8, 0.95)}),
    "rmsprop": ("RMSprop", {"lr": 0.01, "momentum": 0.9, "centered": True}),
    "adagrad": ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}),
    "adadelta": ("Adadelta", {"lr": 1.0}),
    "adamax": ("Adamax", {"lr": 0.01}),
    "nadam": ("NAdam", {"lr": 0.01}),
    "radam": ("RAdam", {"lr": 0.01}),
    "asgd": ("ASGD", {"lr": 0.01}),
    "rprop": ("Rprop", {"lr": 0.01}),
}


class Situation:
    """Six parameters, most of one type, and a step."""

    dtype, shapes = "float32", [(3, 4), (3, 4), (3, 4), (5,), (5,), ()]

    def __init__(self, tg, kind):
        self.tg = tg
        generator = tg.Generator().manual_seed(7)
        dtype = getattr(tg, self.dtype)
        self.parameters = [tg.nn.Parameter(tg.randn(shape, generator=generator, dtype=dtype)) for shape in self.shapes]
        name, options = KINDS[kind]
        self.optimizer = getattr(tg.optim, name)(self.groups(), **self.changed(options))
        self.x = tg.randn(3, 4, generator=generator, dtype=dtype)
        self.prepare()

    def groups(self):
        return self.parameters

    def changed(self, options):
        return options

    def prepare(self):
        pass

    def between(self, call):
        pass

    def loss(self, x):
        return sum(
            ((p * p).sum() * (i + 1) + (p.flatten()[:1] * x[0, i % 3]).sum()).tanh()
            for i, p in enumerate(self.parameters)
        )

    def step(self, x):
        self.optimizer.zero_grad()
        loss = self.loss(x)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def numbers(self):
        state = [v for p in self.parameters for v in self.optimizer.state[p].values()]
        return [v.detach().numpy().copy() if isinstance(v, self.tg.Tensor) else v for v in (*self.parameters, *state)]


class InFloat64(Situation):
    dtype = "float64"


class TwoGroups(Situation):
    def groups(self):
        return [{"params": self.parameters[:2]}, {"params": self.parameters[2:], "lr": 0.02, "weight_decay": 0.1}]


class OptionsChange(Situation):
    def between(self, call):
        for group in self.optimizer.param_groups:
            group["lr"] *= 0.5


class TwoStepsAtOnce(Situation):
    """With another rate for the second one."""

    def step(self, x):
        first = super().step(x)
        rate = self.optimizer.param_groups[0]["lr"]
        self.optimizer.param_groups[0]["lr"] = rate * 0.5
        second = super().step(x)
        self.optimizer.param_groups[0]["lr"] = rate
        return first + second


class ConstantGradients(Situation):
    """All gradients are one constant: their nodes do not tell them apart."""

    def loss(self, x):
        return sum(p.sum() for p in self.parameters) + x.sum() * 0


class SharedGradients(Situation):
    def step(self, x):
        gradient = x * 2
        for p in self.parameters[:3]:
            p.grad = gradient
        self.optimizer.step()
        return gradient.sum()


class ParametersAsGradients(Situation):
    def step(self, x):
        for p, other in zip(self.parameters[:3], [*self.parameters[1:3], self.parameters[0]], strict=True):
            p.grad = other.detach()
        self.optimizer.step()
        return x.sum()


class OtherCounts(Situation):
    """Some parameters have taken part in more steps than others."""

    def prepare(self):
        for p in self.parameters[1:3]:
            p.grad = self.tg.ones_like(p)
        self.optimizer.step()
        self.optimizer.step()


class SomeFrozen(Situation):
    def between(self, call):
        self.parameters[call % 3].requires_grad_(call % 2 == 0)


class ViewsOfOneMemory(Situation):
    def prepare(self):
        flat = self.tg.zeros(36, dtype=getattr(self.tg, self.dtype))
        for i, p in enumerate(self.parameters[:3]):
            flat[i * 12 : i * 12 + 12] = p.detach().flatten()
            p.data = flat[i * 12 : i * 12 + 12].view(3, 4)


class Transposed(Situation):
    def prepare(self):
        for p in self.parameters[:3:2]:
            p.data = p.detach().t().contiguous().t()


class TensorRate(Situation):
    def changed(self, options):
        return {**options, "lr": self.tg.tensor(options["lr"])}


SITUATIONS = [
    Situation, InFloat64, TwoGroups, OptionsChange, TwoStepsAtOnce, ConstantGradients, SharedGradients,
    ParametersAsGradients, OtherCounts, SomeFrozen, ViewsOfOneMemory, Transposed, TensorRate,
]  # fmt: skip


#: In place of `Repeats.run`. It passes for the library's own code, since programs depend on the lines they come from.
TEXT = "def recorded_each_time(self, recorder, key, arrays, nodes, functions):\n    functions[0]()\n"
NAMESPACE = {}
exec(compile(TEXT, repeats.__file__, "exec"), NAMESPACE)
recorded_each_time = NAMESPACE["recorded_each_time"]


def results(tg, kind, situation, way):
    """Parameters and state after each call; None where PyTorch's rules do not allow the situation."""
    try:
        made = situation(tg, kind)
    except (TypeError, ValueError):
        return None
    step = tg.compile(made.step) if way == "compiled" else made.step
    found = []
    with tg.deferred() if way == "deferred" else tg.enable_grad():
        for call in range(CALLS):
            try:
                step(made.x * (call + 1))
            except (RuntimeError, ValueError, ZeroDivisionError) as error:
                found.append(str(type(error)))
            found += made.numbers()
            made.between(call)
    return found


def are_equal(one, other):
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.tobytes() == other.tobytes()
    return one == other


@pytest.mark.parametrize("way", ["compiled", "deferred"])
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_repeated_updates_are_recorded_updates(tg, kind, situation, way, monkeypatch):
    found = results(tg, kind, situation, way)
    with monkeypatch.context() as without:
        without.setattr(Repeats, "run", recorded_each_time)
        expected = results(tg, kind, situation, way)
    assert (found is None) == (expected is None)
    if found is not None:
        assert len(found) == len(expected)
        assert all(map(are_equal, found, expected))


@pytest.mark.parametrize("kind", KINDS)
def test_equal_parameters_are_recorded_once(tg, kind, monkeypatch):
    firsts, repeats = [], []
    first, again = Repeats._first_time, Repeats._once_more
    monkeypatch.setattr(Repeats, "_first_time", lambda *args: firsts.append(first(*args)) or firsts[-1])
    monkeypatch.setattr(Repeats, "_once_more", lambda *args: repeats.append(again(*args)))
    made = Situation(tg, kind)
    step = tg.compile(made.step)
    step(made.x)
    firsts.clear()
    repeats.clear()
    step = tg.compile(made.step)
    step(made.x)
    assert len(firsts) == 3
    assert None not in firsts
    assert len(repeats) == 3
