"""Modules that a function makes at each call (``nn.ReLU()(x)``): they are its own, and forbid no replay."""

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn


class Attention(nn.Module):
    """A module with submodules and plain attributes, as programs make one at each call."""

    def __init__(self, width):
        super().__init__()
        self.scale = width**-0.5
        self.softmax = nn.Softmax(dim=-1)
        self.dropout = nn.Dropout(0.0)

    def forward(self, q, k, v):
        return self.dropout(self.softmax(q @ k.transpose(-1, -2) * self.scale)) @ v


def changed(module, **attributes):
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


def with_child(module, child):
    module.add_module("child", child)
    return module


LABELS = tg.tensor([1, 0, 2, 3])

# Name: what is made of the scores [4, 6] of a layer, by modules made in the function.
MADE = {
    **{
        kind.__name__: lambda y, kind=kind: kind()(y)
        for kind in (
            nn.ReLU, nn.Tanh, nn.GELU, nn.SiLU, nn.ELU, nn.Sigmoid, nn.Softplus, nn.LeakyReLU, nn.Hardtanh, nn.Mish,
            nn.Identity, nn.Flatten, nn.LogSigmoid, nn.Softsign, nn.Dropout, nn.AlphaDropout,
        )
    },
    "Softmax": lambda y: nn.Softmax(dim=1)(y),
    "LogSoftmax, NLLLoss": lambda y: nn.NLLLoss()(nn.LogSoftmax(dim=1)(y), LABELS),
    "CrossEntropyLoss": lambda y: nn.CrossEntropyLoss()(y, LABELS),
    **{
        kind.__name__: lambda y, kind=kind: kind()(y, y.detach() * 0.5)
        for kind in (nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss, nn.BCEWithLogitsLoss, nn.PairwiseDistance)
    },
    "LayerNorm": lambda y: nn.LayerNorm(6, elementwise_affine=False)(y),
    "AvgPool1d": lambda y: nn.AvgPool1d(2)(y[None]),
    "Sequential": lambda y: nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh(), nn.Softmax(1)))(y),
    "ModuleList": lambda y: sum(each(y) for each in nn.ModuleList([nn.ReLU(), nn.Tanh()])),
    "ModuleDict": lambda y: nn.ModuleDict({"a": nn.ReLU()})["a"](y),
    "with submodules": lambda y: Attention(6)(y, y.tanh(), y),
    "in another mode": lambda y: nn.Dropout(0.5).eval()(y) + nn.Sequential(nn.Dropout(0.5)).train(False)(y),
    "changed later": lambda y: changed(nn.Softmax(), dim=1)(y),
    "a submodule added": lambda y: with_child(nn.Tanh(), nn.ReLU()).child(y),
    "a buffer": lambda y: changed(nn.Identity(), bound=nn.Buffer(y.detach().abs())).bound * y,
}  # fmt: skip


def trained(make, compiles, calls=6):
    tg.manual_seed(0)
    layer = nn.Linear(5, 6)

    def step(x):
        layer.zero_grad()
        loss = make(layer(x)).sum()
        loss.backward()
        with tg.no_grad():
            for parameter in layer.parameters():
                parameter -= 0.1 * parameter.grad
        return loss

    run = tg.compile(step) if compiles else step
    losses = [run(tg.randn(4, 5)).item() for _ in range(calls)]
    return losses, run


@pytest.mark.parametrize("name", MADE)
def test_what_a_call_makes_itself_is_replayed(name):
    expected, _ = trained(MADE[name], False)
    actual, step = trained(MADE[name], True)
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
    assert step.way == "replay", step.explain()


def test_the_mode_of_a_module_from_outside_is_still_noticed():
    outside = nn.Dropout(0.5)

    def step(x):
        inside = nn.Dropout(0.5)
        inside.training = outside.training
        return inside(x) + outside(x)

    run = tg.compile(step)
    for training in (True, True, False, False, True):
        outside.train(training)
        tg.manual_seed(1)
        expected = step(tg.ones(50))
        tg.manual_seed(1)
        assert run(tg.ones(50)).equal(expected)


def kept_in_a_list():
    kept = []
    return (lambda x: (kept.append(nn.ReLU()), x * 2)[1]), lambda: len(kept)


def kept_by_a_module():
    holder = nn.Module()
    seen = set()

    def function(x):
        holder.child = nn.ReLU()
        return holder.child(x)

    return function, lambda: (seen.add(id(holder.child)), holder.child is not None)[1]


def with_parameters():
    """Their numbers are drawn anew at each call."""
    return (lambda x: nn.Linear(3, 3)(x)), tg.initial_seed


@pytest.mark.parametrize("make", [kept_in_a_list, kept_by_a_module, with_parameters])
def test_what_outlives_the_call_or_has_leaves_is_as_in_eager_mode(make):
    found = []
    for compiles in (False, True):
        tg.manual_seed(3)
        function, state = make()
        run = tg.compile(function) if compiles else function
        found.append([(run(tg.ones(2, 3)).detach().sum().item(), state()) for _ in range(6)])
    assert [s for _, s in found[0]] == [s for _, s in found[1]]
    np.testing.assert_allclose([n for n, _ in found[1]], [n for n, _ in found[0]], rtol=1e-5)


def test_a_module_that_is_returned_is_a_new_one_each_time():
    run = tg.compile(lambda x: (nn.ReLU(), x * 2))
    made = [run(tg.ones(2))[0] for _ in range(5)]
    assert len({id(each) for each in made}) == 5
