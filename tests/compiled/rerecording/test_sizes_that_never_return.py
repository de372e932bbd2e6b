"""Deferred programs whose tensors have other sizes at each step: what they make of them anew has an end."""

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.compiled.common import budget, expenses, written_code
from tracegrad.compiled.common.expenses import Expenses
from tracegrad.compiled.lazy import expected_sweep
from tracegrad.compiled.lazy.segments import Segments
from tracegrad.compiled.parts import expected_call
from tracegrad.compiled.recording.recording import Recording

SIZES = 24  # that are different, one after the other


class Experts(tg.nn.Module):
    """Rows go to one of two layers by their numbers: index sets that depend on the data."""

    def __init__(self):
        super().__init__()
        self.experts = tg.nn.ModuleList([small_model(), small_model()])

    def forward(self, x):
        first = x[:, 0] > 0.5
        of = [expert(x[rows]) for expert, rows in zip(self.experts, (first, ~first), strict=True)]
        return sum((each**2).sum() for each in of if each.shape[0])


class Sets(tg.nn.Module):
    """Pools what it makes of each element."""

    def __init__(self):
        super().__init__()
        self.element, self.whole = small_model(), small_model()

    def forward(self, x):
        pooled = self.element(x).max(0)[0].tanh() + x.mean(0)
        return self.whole(pooled * len(x)).sum()


class Sequences(tg.nn.Module):
    """A turn for each element: a step does as many operations as its sequence is long."""

    def __init__(self):
        super().__init__()
        self.turn = small_model()

    def forward(self, x):
        state = tg.zeros(4)
        for row in x:
            state = self.turn(row + state).tanh()
        return (state**2).sum()


KINDS = [Experts, Sets, Sequences]


def small_model():
    return tg.nn.Sequential(tg.nn.Linear(4, 8), tg.nn.Tanh(), tg.nn.Linear(8, 4))


def new_size(step):
    return 2 + step


def one_of_three(step):
    return 4 + step % 3


def train(kind, steps, size, block=None):
    tg.manual_seed(0)
    model = kind()
    optimizer = tg.optim.SGD(model.parameters(), lr=1e-4)
    losses = []
    with block or tg.enable_grad():
        for step in range(steps):
            optimizer.zero_grad()
            loss = model(tg.rand(size(step), 4)) / size(step)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("TRACEGRAD_WARM_UP", raising=False)
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(budget, "TO_COMPILE", 1_000.0)  # the warm-up is over at once
    monkeypatch.setattr(budget, "TO_COMPILE_A_NODE", 0.0)


@pytest.fixture
def made(monkeypatch):
    """Counts what is made anew: recordings, functions, points of the tree of events."""
    counts = {"recordings": 0, "functions": 0, "points": 0}

    def count(owner, name, what):
        function = getattr(owner, name)

        def counted(*args, **kwargs):
            counts[what] += 1
            return function(*args, **kwargs)

        monkeypatch.setattr(owner, name, counted)

    count(Recording, "run", "recordings")
    count(expected_call, "written", "functions")
    count(expected_sweep, "written", "functions")
    assert expected_sweep.written is not written_code.written
    count(Segments, "extend", "points")
    return counts


@pytest.mark.long(fast=3)
@pytest.mark.parametrize("kind", KINDS)
def test_what_sizes_that_never_return_cost_has_an_end(kind, made, monkeypatch):
    monkeypatch.setattr(expenses, "FIRST", 150_000.0)
    block = tg.deferred(tiered=True)
    spent = []

    def counted_size(step):
        spent.append(dict(made))
        return new_size(step)

    losses = train(kind, 2 * SIZES, counted_size, block)
    assert 0 < spent[SIZES]["recordings"] and block.segments.budget.expenses.rests == 1
    assert spent[-1] == spent[SIZES]  # not one more for as many sizes again
    np.testing.assert_allclose(losses, train(kind, 2 * SIZES, new_size), rtol=1e-4)


def test_a_function_of_the_library_on_few_numbers_is_done_at_once(made, monkeypatch):
    monkeypatch.setenv("TRACEGRAD_WARM_UP", "0")
    rows = tg.rand(20, 8)
    with tg.deferred(tiered=True), tg.no_grad():
        found = [tg.nn.functional.softplus(row).tolist() for row in rows]
    assert not any(made.values())
    assert found == [tg.nn.functional.softplus(row).tolist() for row in rows]


@pytest.mark.parametrize("kind", [Sets, Sequences])
def test_sizes_that_return_are_noted_on(kind, monkeypatch):
    monkeypatch.setattr(expenses, "FIRST", 2_000_000.0)  # enough for three sizes
    block = tg.deferred(tiered=True)
    losses = train(kind, SIZES, one_of_three, block)
    assert block.segments.budget.expenses.rests == 0
    np.testing.assert_allclose(losses, train(kind, SIZES, one_of_three), rtol=1e-4)


def test_a_program_without_a_warm_up_has_no_bound(monkeypatch):
    monkeypatch.setenv("TRACEGRAD_WARM_UP", "0")
    monkeypatch.setattr(expenses, "FIRST", 1.0)
    block = tg.deferred(tiered=True)
    train(Sets, 8, new_size, block)
    assert block.segments.budget.expenses.rests == 0


@pytest.mark.long(fast=1)
def test_rests_are_longer_each_time():
    of, work, rests = Expenses(), 0.0, []
    for _ in range(3):
        of.spend(expenses.FIRST + 1.0)
        assert not of.are_allowed(work)
        end = work
        while not of.are_allowed(end):
            end += expenses.FIRST
        rests.append(end - work)
        work = end
    assert rests[0] >= expenses.REST * expenses.FIRST
    assert rests[1] > 1.5 * rests[0] and rests[2] > 1.5 * rests[1]


@pytest.mark.long(fast=1)
def test_noted_steps_that_make_little_anew_pay_for_it():
    of = Expenses()
    for _ in range(100):
        of.spend(expenses.SHARE * 1_000_000.0)
        of.noted(1_000_000.0)
    assert of.are_allowed(100_000_000.0) and of.spent == 0.0
