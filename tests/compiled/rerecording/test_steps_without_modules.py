"""Whole programs that train tensors by hand: no module, no optimizer, and for a long time no look at a number."""

import itertools

import numpy as np
import pytest

import tracegrad as tg
import tracegrad.nn.functional as F
from tracegrad.compiled.common import budget
from tracegrad.compiled.lazy import tiers

STEPS = 24


@pytest.fixture(autouse=True)
def soon(monkeypatch, tmp_path):
    monkeypatch.delenv("TRACEGRAD_WARM_UP", raising=False)
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(budget, "TO_COMPILE", 1_000.0)  # the warm-up is over at once
    monkeypatch.setattr(budget, "TO_COMPILE_A_NODE", 0.0)
    monkeypatch.setattr(tiers, "cost_of_building", lambda graph: 1000.0)


class Square(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


def plain(w, x):
    return ((x @ w).clamp(min=0) - 1).pow(2).mean()


def with_functions(w, x):
    return F.mse_loss(F.relu(x @ w), x[:, :3])


def with_a_function_of_its_own(w, x):
    return Square.apply(x @ w).mean()


def with_a_derivative(w, x):
    y = (x @ w).tanh().sum()
    (g,) = tg.autograd.grad(y, w, create_graph=True)
    return y * 0.01 + g.pow(2).mean()


def with_two_passes(w, x):
    half = (x @ w).sigmoid().mean()
    half.backward(retain_graph=True)
    return half * half


def by_an_in_place_operator(w):
    with tg.no_grad():
        w -= 0.1 * w.grad
        w.grad = None


def by_data(w):
    w.data = w.data - 0.1 * w.grad.data
    w.grad.zero_()


def by_data_in_place(w):
    w.data.sub_(w.grad.data, alpha=0.1)
    w.grad.data.zero_()


def by_a_copy(w):
    with tg.no_grad():
        w.copy_(w - 0.1 * w.grad)
    w.grad = None


PASSES = itertools.count()


def after_four_passes(w):
    if next(PASSES) % 4 == 3:
        with tg.no_grad():
            w -= 0.1 * w.grad
        w.grad.zero_()


LOSSES = [plain, with_functions, with_a_function_of_its_own, with_a_derivative, with_two_passes]
UPDATES = [by_an_in_place_operator, by_data, by_data_in_place, by_a_copy, after_four_passes]


def train(block, loss_of, update, look):
    """Numbers along the way, all losses, the parameter and its gradient."""
    tg.manual_seed(0)
    w = tg.rand(4, 3, requires_grad=True)
    seen, losses = [], []
    with block or tg.enable_grad():
        for i in range(STEPS):
            loss = loss_of(w, tg.rand(8, 4))
            loss.backward()
            update(w)
            losses.append(loss)
            if (i + 1) % look == 0:
                seen.append(loss.item())
        kept = tg.stack([loss.detach() for loss in losses])
    return [*seen, *kept.tolist(), *w.flatten().tolist(), *(() if w.grad is None else w.grad.flatten().tolist())]


@pytest.mark.long(fast=30, every=7)
@pytest.mark.parametrize("is_tiered", [True, False])
@pytest.mark.parametrize("look", [1, 5, STEPS])
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("loss_of", LOSSES)
def test_numbers_are_those_of_eager_mode(loss_of, update, look, is_tiered):
    block = tg.deferred(tiered=is_tiered)
    found = train(block, loss_of, update, look)
    np.testing.assert_allclose(found, train(None, loss_of, update, look), rtol=1e-4, atol=1e-6)  # float32, other sums
    assert block.segments.programs


@pytest.mark.parametrize("loss_of", [plain, with_functions])
def test_steps_are_noted_and_compiled_one_by_one(loss_of, monkeypatch):
    """Some begin before the first is noted; the first segment of all is another one, and so is the last. None is eager
    while a program is built (`test_built_beside.py`)."""
    monkeypatch.setattr(tiers.Tiers, "_is_worth_waiting", lambda *_: False)
    block = tg.deferred(tiered=True)
    train(block, loss_of, by_an_in_place_operator, STEPS)
    assert block.segments.budget.steps <= 5 and len(block.segments.programs) == 1
    block = tg.deferred()
    train(block, loss_of, by_an_in_place_operator, STEPS)
    assert len(block.segments.programs) == 1
