"""Objects whose ``__getattr__`` answers to any name, or raises: a compiled function asks them for nothing that the
eager one does not ask for, however it is given them."""

import numpy as np
import pytest

NAMES = []  # that were asked for


def number(owner, name):
    NAMES.append(name)
    return 0.5


def function(owner, name):
    NAMES.append(name)
    return lambda *args: 1 / 0


def raising(owner, name):
    NAMES.append(name)
    raise ValueError(name)


def nothing(owner, name):
    NAMES.append(name)
    raise AttributeError(name)


def step_of(tg, way, hook):
    nn = tg.nn

    class Act(nn.Module):
        factor = 0.5

        def forward(self, p):
            return (p * self.factor).tanh()

    class Rule:
        def __init__(self):
            self.scale = 2

        def __call__(self, p):
            return (p * self.scale).sum()

        def step(self, p):
            return (linear(p) * self.scale).sum()

    def train(x):
        optimizer.zero_grad()
        loss = act(linear(x)).sum() + rule(x)
        loss.backward()
        optimizer.step()
        return loss

    def looking(x):
        loss = train(x)
        return loss if loss.item() < 1e6 else None

    linear, act, rule = nn.Linear(3, 2), Act(), Rule()
    optimizer = tg.optim.SGD(linear.parameters(), lr=0.1)
    Act.__getattr__ = Rule.__getattr__ = hook
    return dict(train=train, looking=looking, object=rule, method=rule.step, module=act)[way]


def calls(step, tg):
    for i in range(5):
        NAMES.clear()
        yield float(step(tg.ones(2, 3) * (i + 1)).sum()), [*NAMES]


@pytest.mark.parametrize("hook", [number, function, raising, nothing])
@pytest.mark.parametrize("way", ["train", "looking", "object", "method", "module"])
def test_objects_are_asked_for_nothing_more(tg, way, hook):
    tg.manual_seed(0)
    eager = list(calls(step_of(tg, way, hook), tg))
    tg.manual_seed(0)
    compiled = list(calls(tg.compile(step_of(tg, way, hook)), tg))
    np.testing.assert_allclose([n for n, _ in compiled], [n for n, _ in eager], rtol=1e-5)  # sums in other orders
    assert [names for _, names in compiled] == [names for _, names in eager]
