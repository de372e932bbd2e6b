"""Derivatives of a model's derivatives in a deferred block: parts again, so that they do not go op by op."""

import itertools

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn

MODELS = {
    "tanh": lambda: nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)),
    "sine of a layer": lambda: Sine(),
    "softplus without biases": lambda: nn.Sequential(nn.Linear(3, 8, bias=False), nn.Softplus(), nn.Linear(8, 1)),
    "leaky": lambda: nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid()),
    "norm": lambda: nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8), nn.SiLU(), nn.Linear(8, 1)),
    "convolution": lambda: nn.Sequential(
        nn.Unflatten(1, (1, 3)), nn.Conv1d(1, 4, 2), nn.Tanh(), nn.Flatten(), nn.Linear(8, 1)
    ),
    "two outputs": lambda: Two(),
}
LOSSES = {
    "penalty of the slope": lambda y, slopes: ((slopes[0].norm(2, dim=1) - 1) ** 2).mean() + y.mean(),
    "equation": lambda y, slopes: ((slopes[-1] + 2 * slopes[0] + 3 * y - 1) ** 2).mean(),
}


class Sine(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 8), nn.Linear(8, 1)

    def forward(self, x):
        return self.last(tg.sin(3 * self.first(x)))


class Two(Sine):
    def forward(self, x):
        hidden = tg.tanh(self.first(x))
        return self.last(hidden) + hidden.sum(1, keepdim=True) * self.last.bias, hidden


def train(block, make, loss_of, order, steps=14, between=lambda model, step: None):
    """The losses, and the last gradients and parameters, of a training by derivatives up to the `order`-th."""
    tg.manual_seed(0)
    model = make()
    optimizer = tg.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    with block or tg.enable_grad():
        for step in range(steps):
            x = tg.rand(5, 3).requires_grad_()
            optimizer.zero_grad()
            y = model(x)
            y = y[0] if isinstance(y, tuple) else y
            slopes, last = [], y
            for _ in range(order):
                (last,) = tg.autograd.grad(last, x, tg.ones_like(last), create_graph=True)
                slopes.append(last)
            loss = loss_of(y, slopes)
            between(model, step)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses, [p.grad.numpy().copy() for p in model.parameters() if p.grad is not None]


def both_ways(*args, **kwargs):
    """`train` in eager mode and in a block, which is the result: they must agree."""
    block = tg.deferred()
    actual, expected = train(block, *args, **kwargs), train(None, *args, **kwargs)
    np.testing.assert_allclose(actual[0], expected[0], rtol=2e-5, atol=1e-6)  # roundings of float32, over all steps
    for a, b in zip(actual[1], expected[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
    return block


@pytest.mark.long(fast="first", every=7)
@pytest.mark.parametrize(("model", "loss", "order"), itertools.product(MODELS, LOSSES, (1, 2)))
def test_derivatives_of_a_part_are_parts(model, loss, order):
    block = both_ways(MODELS[model], LOSSES[loss], order)
    assert block.parts.titles().count("gradients") == order
    passes = block.segments.passes
    assert passes.known >= 4, f"{passes.new} of 14 backward passes were made by the engine"


def test_a_hook_on_a_parameter_is_called_as_in_eager_mode():
    seen = []

    def make():
        model = MODELS["tanh"]()
        seen.append([])
        model[0].weight.register_hook(lambda g: seen[-1].append(g.sum().item()))
        return model

    both_ways(make, LOSSES["equation"], 2)
    np.testing.assert_allclose(seen[0], seen[1], rtol=1e-4, atol=1e-5)
    assert len(seen[0]) == 14


@pytest.mark.parametrize("order", [1, 2])
def test_a_write_to_what_the_second_pass_reads_is_an_error_as_in_eager_mode(order):
    def write(model, step):
        if step == 10:
            with tg.no_grad():
                model[2].weight.mul_(2)

    for block in (None, tg.deferred()):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            train(block, MODELS["tanh"], LOSSES["equation"], order, between=write)


def test_derivatives_that_some_steps_ask_for_otherwise():
    """The slope by parameters instead of the inputs, and none at all: each its own part, or none."""

    def run(block):
        tg.manual_seed(0)
        model, found = MODELS["tanh"](), []
        optimizer = tg.optim.SGD(model.parameters(), lr=0.01)
        with block or tg.enable_grad():
            for step in range(18):
                x = tg.rand(5, 3).requires_grad_(step % 3 != 2)
                optimizer.zero_grad()
                loss = model(x).square().mean()
                wanted = [x, list(model.parameters())[:2], list(model.parameters())][step % 3]
                slopes = tg.autograd.grad(loss, wanted, create_graph=True)
                loss = loss + sum((slope**2).sum() for slope in slopes)
                loss.backward()
                optimizer.step()
                found.append(loss.item())
        return found

    np.testing.assert_allclose(run(tg.deferred()), run(None), rtol=2e-5)


FRESH = {
    "two new leaves": lambda: [tg.rand(5, 3).requires_grad_(), tg.rand(5, 3).requires_grad_()],
    "one twice": lambda: [tg.rand(5, 3).requires_grad_()] * 2,
    "a view of data": lambda: [tg.rand(7, 3)[1:6].requires_grad_(), tg.rand(5, 3).requires_grad_()],
    "one that is hooked": lambda: [hooked(tg.rand(5, 3).requires_grad_()), tg.rand(5, 3).requires_grad_()],
    "one transposed": lambda: [tg.rand(3, 5).t().requires_grad_(), tg.rand(5, 3).requires_grad_()],
    "one of a gradient": lambda: [given(tg.rand(5, 3).requires_grad_()), tg.rand(5, 3).requires_grad_()],
    "one alone": lambda: [tg.rand(5, 3).requires_grad_(), tg.rand(5, 3)],
}


def hooked(leaf):
    leaf.register_hook(lambda g: g * 2)
    return leaf


def given(leaf):
    leaf.grad = tg.ones_like(leaf)
    return leaf


@pytest.mark.long(fast="first", every=11)
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(("first", "second"), itertools.product(FRESH, FRESH))
def test_leaves_that_are_new_at_each_pass_get_their_own_gradients(first, second, own):
    """From one kind of leaves to another in the middle: a function written for one kind must not serve another."""

    def run(block):
        tg.manual_seed(0)
        model, found = MODELS["tanh"](), []
        with block or tg.enable_grad():
            for step in range(14):
                x, y = FRESH[first if step < 9 else second]()
                loss = (model(x) * 2 + (model(y) if own else y.sin())).square().mean()
                loss.backward()
                found += [p.grad.numpy().copy() for p in (x, y, *model.parameters()) if p.grad is not None]
                model.zero_grad()
        return found

    block = tg.deferred()
    actual, expected = run(block), run(None)
    assert len(actual) == len(expected)
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    if first == second == "two new leaves":
        assert block.segments.passes.known >= 6
