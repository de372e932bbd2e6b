"""Ops and calls that come again with other numbers, other memory or other leaves: noted without being asked about.

Counted are the ops that go the interpreter's general way, the calls of parts that do, and the passes of the engine.
"""

import copy
from collections import Counter

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.benchmarks.everyday import PATTERNS, Sizes
from tracegrad.benchmarks.everyday.checks import start
from tracegrad.compiled.function import Subprogram
from tracegrad.compiled.lazy import expected_sweep
from tracegrad.compiled.lazy.interpreter import DeferredOps

nn, F = tg.nn, tg.nn.functional
CALLS = 24
SETTLED = 16  # the call from which on everything has come before


@pytest.fixture
def asked(monkeypatch):
    """Counts what is asked about: ops by name, "calls" of parts, "passes" of the engine."""
    counted = Counter()
    ops, parts, passes = DeferredOps._noted, Subprogram.noted, expected_sweep._observed

    def of_op(self, primitive, *rest):
        counted[primitive.name] += 1
        return ops(self, primitive, *rest)

    def of_part(self, *rest):
        counted["calls"] += 1
        return parts(self, *rest)

    def of_pass(*rest):
        counted["passes"] += 1
        return passes(*rest)

    monkeypatch.setattr(DeferredOps, "_noted", of_op)
    monkeypatch.setattr(Subprogram, "noted", of_part)
    monkeypatch.setattr(expected_sweep, "_observed", of_pass)
    return counted


def run(make, wrap, asked=None):
    """What a step gives at each call, counted from `SETTLED` on. It looks at numbers, so that Python runs each time."""
    tg.manual_seed(0)
    kept = []
    inner = make()

    def step(i):
        out = inner(i)
        kept.append(out.item() if isinstance(out, tg.Tensor) else out)
        return kept[-1] > 1e6 or len(kept)

    step = wrap(step)
    for i in range(CALLS):
        if i == SETTLED and asked is not None:
            asked.clear()
        step(i)
    return kept


def check(make, asked=None, but_for=(), only=None, rtol=1e-4, atol=0.0):
    """As in eager mode (in float32, with sums in another order), and nothing is asked about in the end: nothing but
    `but_for`, or of these `only`."""
    expected, given = run(make, lambda step: step), run(make, tg.compile, asked)
    np.testing.assert_allclose(given, expected, rtol=rtol, atol=atol)
    counted = {name for name, count in (asked or {}).items() if count}
    assert not counted.difference(but_for).intersection(counted if only is None else only), asked


NUMBERS = {
    "mul": lambda x, n: x * n,
    "reflected sub": lambda x, n: n - x,
    "add": lambda x, n: x + n,
    "div": lambda x, n: x / n,
    "reflected div": lambda x, n: n / (x * x + 1),
    "pow": lambda x, n: (x * x + 1) ** n,
    "where": lambda x, n: tg.where(x > 0, x * n, x),
    "clamp": lambda x, n: (x * 2).clamp(-n, n),
    "twice": lambda x, n: (x * n + n) * n,
    "tensor": lambda x, n: x * tg.tensor(n),
    "full": lambda x, n: x * 2 - tg.tensor(n, dtype=tg.float32),
}


@pytest.mark.parametrize("requires", [False, True])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_go_on_changing(asked, name, requires):
    def make():
        weight = tg.arange(12.0).reshape(3, 4).sin().requires_grad_(requires)

        def inner(i):
            weight.grad = None
            loss = NUMBERS[name](weight * 1.5, 0.3 + i * 0.07).sum()
            if requires:
                loss.backward()
                loss = loss + weight.grad.sum()
            return loss

        return inner

    # The derivative of a power computes with the exponent: such passes are the engine's.
    check(make, asked, ("passes",) if name == "pow" else ())


VIEWS = {
    "slice": lambda x, i: x[i % 5 : i % 5 + 1],
    "element": lambda x, i: x[0, i % 4],
    "row": lambda x, i: x[i % 5],
    "transposed": lambda x, i: x.t()[i % 4],
    "reshaped": lambda x, i: x.view(4, 6),
    "new axis": lambda x, i: x.unsqueeze(0)[..., None],
    "wide": lambda x, i: x[:1].expand(3, 4),
    "permuted": lambda x, i: x.reshape(2, 3, 4).permute(2, 0, 1),
}


@pytest.mark.parametrize("requires", [False, True])
@pytest.mark.parametrize("name", VIEWS)
def test_views_of_what_is_there(asked, name, requires):
    def make():
        x = tg.arange(24.0).reshape(6, 4).sin().requires_grad_(requires)

        def inner(i):
            view = VIEWS[name](x, i)
            assert np.shares_memory(view.detach().numpy(), x.detach().numpy())
            return float(view.detach().numpy().sum())

        return inner

    check(make, asked)


def written_then_shown():
    x = tg.zeros(6, 4)

    def inner(i):
        x[1].copy_(tg.ones(4) * (i + 1))  # put off
        part = x[1:3]
        x.add_(1.0)
        return part.sum() + x.t()[0].sum()

    return inner


def picked_by_a_mask():
    x, y = tg.arange(24.0).reshape(6, 4).sin(), tg.arange(6) % 3

    def inner(i):
        x.mul_(1.01)  # put off
        with tg.no_grad():
            return sum(x[y == c].mean() for c in range(2)) + x[x > 0.1 * (i % 3)].sum()

    return inner


@pytest.mark.parametrize("make", [written_then_shown, picked_by_a_mask])
def test_what_is_to_be_written_is_seen_as_in_eager_mode(make):
    check(make, rtol=1e-5)


def results_of_earlier_segments():
    """A loss of a view of what the segment before has computed; its target is new memory at each call."""
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.05)

    def inner(i):
        value = model(tg.ones(1, 4) * (i % 3))[0, 0]
        advantage = 0.5 - value.item()  # ends the segment
        losses = [F.smooth_l1_loss(value, tg.tensor(0.1 * (i % 4 + n))) for n in range(3)]
        optimizer.zero_grad()
        loss = sum(losses) - value * advantage
        loss.backward()
        optimizer.step()
        return loss

    return inner


def test_parts_that_read_results_of_earlier_segments(asked):
    check(results_of_earlier_segments, asked, only=("calls", "passes"))


def test_numbers_that_stand_everywhere_are_no_hint(asked):
    """Rewards of 0, 1 and 2 are stored as data: that makes no data of the 1 that the pass begins with."""
    [pattern] = [each for each in PATTERNS if each.name == "replay_memory"]
    step = start(pattern, tg, Sizes(), whole=tg.compile)
    for i in range(200):
        if i == 160:
            asked.clear()
        step.call(i)
    assert not asked["passes"], asked


@pytest.mark.parametrize("ties", [False, True], ids=["", "leaves that come to be one"])
def test_copies_of_a_model_are_trained_without_the_engine(asked, ties):
    """Each pass gives gradients to other parameters; of the last calls one is a pass with fewer leaves."""

    def make():
        model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 6))

        def inner(i):
            fast, total = copy.deepcopy(model), 0.0
            if ties and i >= SETTLED:
                fast[4].weight = fast[2].weight
            inner_step = tg.optim.SGD(fast.parameters(), lr=0.05)
            for n in range(2):
                inner_step.zero_grad()
                loss = fast(tg.ones(3, 4) * (i % 3 + n)).square().mean()
                loss.backward()
                inner_step.step()
            with tg.no_grad():
                for p, q in zip(model.parameters(), fast.parameters(), strict=False):
                    p += 0.1 * (q - p) if p.shape == q.shape else 0.0
                    total += q.grad.sum()
            return loss + total

        return inner

    check(make, asked, only=() if ties else ("passes",), rtol=1e-3, atol=1e-5)
