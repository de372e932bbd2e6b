"""``parametrize.cached()``, which keeps tensors from call to call, around and within what is compiled or deferred."""

import contextlib
import itertools

import pytest

import tracegrad as tg

P = tg.nn.utils.parametrize


class Half(tg.nn.Module):
    def forward(self, x):
        return x * 0.5


class Noisy(tg.nn.Module):
    def forward(self, x):
        return x + tg.rand(x.shape)


def always(block, i):
    return block()


def never(block, i):
    return contextlib.nullcontext()


def now_and_then(block, i):
    return block() if i % 3 else contextlib.nullcontext()


WHEN = [always, never, now_and_then]
PARAMETRIZATIONS = [Half, Noisy]


class Program:
    def __init__(self, parametrization, is_around, when):
        tg.manual_seed(0)
        self.layer = tg.nn.Linear(3, 3)
        P.register_parametrization(self.layer, "weight", parametrization())
        self.optimizer = tg.optim.SGD(self.layer.parameters(), lr=0.1)
        self.is_around, self.when, self.i = is_around, when, 0

    def forward(self, x):
        return self.layer(self.layer(x)) + self.layer(2 * x)

    def train(self, x):
        with contextlib.nullcontext() if self.is_around else self.when(P.cached, self.i):
            loss = self.forward(x).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def evaluate(self, x):
        with tg.no_grad(), contextlib.nullcontext() if self.is_around else self.when(P.cached, self.i):
            return self.forward(x)

    def run(self, compile, block):
        train, evaluate, found = compile(self.train), compile(self.evaluate), []
        with block():
            for self.i in range(8):
                x = tg.arange(12.0).view(4, 3) / 10 - self.i / 5
                with self.when(P.cached, self.i) if self.is_around else contextlib.nullcontext():
                    found.append(train(x).clone())
                for step in range(2):
                    with self.when(P.cached, self.i + step) if self.is_around else contextlib.nullcontext():
                        found += [evaluate(x).clone(), evaluate(x + 1).clone()]
        return [t.tolist() for t in found]


def looking(function):
    """`function` as no program replays it."""
    calls = []

    def step(x):
        calls.append(len(calls))
        return function(x)

    return step


WAYS = {
    "compiled": (tg.compile, contextlib.nullcontext),
    "re-recorded": (lambda function: tg.compile(looking(function)), contextlib.nullcontext),
    "the layer compiled": None,
    "deferred": (lambda function: function, tg.deferred),
}


@pytest.mark.long(fast=7, every=3)
@pytest.mark.parametrize(
    "parametrization, is_around, when, way", list(itertools.product(PARAMETRIZATIONS, [False, True], WHEN, WAYS))
)
def test_it_is_eager(parametrization, is_around, when, way):
    program = Program(parametrization, is_around, when)
    if WAYS[way] is None:
        program.layer = tg.compile(program.layer)
    found = program.run(*(WAYS[way] or (lambda function: function, contextlib.nullcontext)))
    expected = Program(parametrization, is_around, when).run(lambda function: function, contextlib.nullcontext)
    # Rounding of fused programs, of numbers around 1, and what eight steps make of it.
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert tg.allclose(tg.tensor(one), tg.tensor(other), rtol=1e-5, atol=1e-5)
