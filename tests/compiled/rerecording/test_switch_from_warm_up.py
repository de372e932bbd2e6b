"""A program that begins in eager mode and is noted from some point on: wherever that is, it computes the same.

What eager mode has left at that point (graphs that are still to be differentiated, gradients, pending hooks) is used by
what is noted, and the other way round where the program rests.
"""

import pytest

import tracegrad as tg
from tracegrad.compiled import deferral
from tracegrad.compiled.common import budget
from tracegrad.compiled.lazy import departures, tiers

F = tg.nn.functional


@pytest.fixture(autouse=True)
def soon(monkeypatch, tmp_path):
    """Any piece of work may be the first that is noted; programs are built soon."""
    monkeypatch.delenv("TRACEGRAD_WARM_UP", raising=False)
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(deferral, "CALLS_AFTER_BACKWARD", 0)
    monkeypatch.setattr(tiers, "cost_of_building", lambda graph: 200.0)


def begin_at(monkeypatch, piece):
    """Let the warm-up end with that piece of work, if a backward pass has begun by then."""
    seen = []
    for name in ("piece", "step"):
        before = getattr(budget.Budget, name)
        monkeypatch.setattr(budget.Budget, name, lambda *args, before=before: (seen.append(1), before(*args))[1])
    monkeypatch.setattr(budget.Budget, "is_worth_compiling", property(lambda self: len(seen) >= piece))


def two_losses(i, x, model, other):
    first, second = model(x), other(x)
    F.mse_loss(first, x).backward()
    loss = F.smooth_l1_loss(second, x)
    loss.backward()
    return loss


def summed_up(i, x, model, other):
    return sum_of(F.cross_entropy(other(F.relu(model(part))), tg.arange(2) % 4) for part in x.split(2))


def in_turns(i, x, model, other):
    loss = F.layer_norm(model(x), (4,)).abs().mean() + F.softplus(other(x)).mean()
    loss.backward()
    loss = (model(x).detach() - other(x)).pow(2).mean()
    loss.backward()
    return loss


def hooked(i, x, model, other):
    out = F.gelu(model(x))
    out.register_hook(lambda g: g * 2)
    out.retain_grad()
    loss = F.mse_loss(other(out), x)
    loss.backward()
    return loss + out.grad.sum()


def twice(i, x, model, other):
    x = x.clone().requires_grad_()
    [g] = tg.autograd.grad(F.softplus(model(x)).sum(), x, create_graph=True)
    loss = g.pow(2).sum() + F.mse_loss(other(x), x.detach())
    loss.backward()
    return loss + x.grad.sum()


def fails_at_times(i, x, model, other):
    loss = F.mse_loss(model(x), x) + F.nll_loss(F.log_softmax(other(x), 1), tg.arange(6) % 4)
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()
    if i % 3 == 1:
        with pytest.raises(RuntimeError, match="does not require grad"):
            x.sum().backward()
    return loss


def sum_of(losses):
    total = 0.0
    for loss in losses:
        loss.backward()
        total = total + loss.detach()
    return total


STEPS = [two_losses, summed_up, in_turns, hooked, twice, fails_at_times]


def train(step, block=None):
    """What 9 steps bring, and the parameters after them."""
    tg.manual_seed(0)
    model, other = (tg.nn.Linear(4, 4, dtype=tg.float64) for _ in range(2))
    optimizers = [tg.optim.SGD(model.parameters(), 0.1, momentum=0.5), tg.optim.Adam(other.parameters(), 0.01)]
    found = []
    with block or tg.enable_grad():
        for i in range(9):
            x = tg.randn(6, 4, dtype=tg.float64)
            for optimizer in optimizers:
                optimizer.zero_grad()
            found.append(step(i, x, model, other))
            tg.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for optimizer in optimizers:
                optimizer.step()
    return tg.stack([*found, *(p.sum() for p in [*model.parameters(), *other.parameters()])]).detach()


@pytest.mark.long(fast=67, every=17)
@pytest.mark.parametrize("piece", [*range(1, 20), 23, 31, 44, 57])
@pytest.mark.parametrize("step", STEPS)
def test_it_computes_the_same_wherever_noting_begins(monkeypatch, step, piece):
    expected = train(step)
    begin_at(monkeypatch, piece)
    block = tg.deferred(tiered=True)
    tg.testing.assert_close(train(step, block), expected, rtol=1e-9, atol=1e-12)
    assert block.segments.start.next


@pytest.mark.parametrize("most", [0, 1])
@pytest.mark.parametrize("step", STEPS)
def test_it_computes_the_same_wherever_the_program_rests(monkeypatch, step, most):
    monkeypatch.setenv("TRACEGRAD_WARM_UP", "0")
    monkeypatch.setattr(departures, "MOST", most)
    monkeypatch.setattr(departures, "AGAIN", 2)
    expected = train(step)
    tg.testing.assert_close(train(step, tg.deferred(tiered=True)), expected, rtol=1e-9, atol=1e-12)
