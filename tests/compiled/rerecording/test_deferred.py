"""``with tg.deferred():``: whole programs whose arithmetic is put off and done by C."""

import sys

import numpy as np
import pytest
from side_by_side import batch

import tracegrad as tg
from tracegrad.compiled.lazy import segments
from tracegrad.ops.core import current
from tracegrad.tensors.tensor import EAGER
from tracegrad.tracing.watch import serve


def train(steps, look_every=5, block=None):
    """A program that logs its loss now and then; returns what it has logged, and the parameters."""
    tg.manual_seed(0)
    model = tg.nn.Sequential(tg.nn.Linear(6, 8), tg.nn.ReLU(), tg.nn.Dropout(0.2), tg.nn.Linear(8, 3))
    optimizer = tg.optim.Adam(model.parameters(), lr=0.01)
    schedule = tg.optim.lr_scheduler.StepLR(optimizer, 4)
    log = []
    for i in range(steps):
        x, y = batch(tg, i, 7, 6), tg.tensor([0, 1, 2, 0, 1, 2, i % 3])
        loss = tg.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if i % look_every == 0:
            log.append(loss.item())
    return log, [p.detach().numpy().copy() for p in model.parameters()]


def assert_same(one, other):
    np.testing.assert_allclose(one[0], other[0], rtol=1e-4)  # Adam makes steps of roundings; a wrong formula is far off
    for a, b in zip(one[1], other[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("look_every", [1, 5, 100])
def test_a_training_program(look_every):
    expected = train(24, look_every)
    block = tg.deferred()
    with block:
        actual = train(24, look_every)
    assert_same(actual, expected)
    assert len(block.segments.programs) <= 4
    assert current() is EAGER


def test_a_decorated_program():
    assert_same(tg.deferred()(train)(12), train(12))


def test_programs_are_kept_for_the_next_block():
    model, block, x = tg.nn.Linear(3, 2), tg.deferred(), tg.ones(4, 3)
    for _ in range(6):
        with block:
            out = (model(x) * 2).tanh().sum()
        assert out.item() == pytest.approx((model(x) * 2).tanh().sum().item(), rel=1e-5)
    assert len(block.segments.programs) == 1


def test_an_error_leaves_eager_mode_and_what_was_done_before():
    x = tg.zeros(3)
    with pytest.raises(ZeroDivisionError), tg.deferred():
        x += 1
        1 / 0  # noqa: B018
    assert current() is EAGER and x.tolist() == [1.0, 1.0, 1.0]
    assert serve(None, lambda: "nobody serves", (), {}) == "nobody serves"


def test_nested_blocks_are_one():
    x = tg.ones(64)
    with tg.deferred() as outer:
        with tg.deferred() as inner:
            y = x * 3
        y = y + 1
    assert y.tolist() == [4.0] * 64 and not inner.segments.start.next and outer.segments.start.next


def test_a_long_program_without_a_look_is_done_in_parts(monkeypatch):
    monkeypatch.setattr(sys.modules["tracegrad.compiled.lazy.interpreter"], "LONGEST", 64)
    x = tg.zeros(2)
    with tg.deferred() as block:
        for _ in range(500):
            x = x + 1
    assert x.tolist() == [500.0, 500.0]
    deepest, point = 0, block.segments.start
    while point.next:
        point, deepest = next(iter(point.next.values())), deepest + 1
    assert deepest < 80


def computed():
    x = tg.ones(64)
    for _ in range(6):
        y = (x * 2).tanh().sum()
        assert y.item() > 0


def with_a_block():
    with tg.deferred():
        computed()


@pytest.mark.parametrize("run", [with_a_block, lambda: tg.deferred()(computed)()])
def test_the_warning_about_too_many_parts_is_at_the_users_line(run, monkeypatch):
    """The one that looks at a number."""
    monkeypatch.setattr(segments, "LIMIT", 0)
    with pytest.warns(RuntimeWarning, match="different things in its calls") as caught:
        run()
    line = computed.__code__.co_firstlineno + 4
    assert [(each.filename, each.lineno) for each in caught] == [(__file__, line)]
