"""What Python pays for what is noted: counted in the interpreter's general way, in programs, and in calls."""

import functools
from collections import Counter

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.compiled.lazy import expected_sweep, segment_program, segments
from tracegrad.compiled.lazy.interpreter import DeferredOps

nn, F = tg.nn, tg.nn.functional


def asked_about(monkeypatch):
    """Counts the ops that the interpreter is asked about: those that were not known where they came."""
    counted = Counter()
    general = DeferredOps._noted

    def counting(self, primitive, *rest):
        counted[primitive.name] += 1
        return general(self, primitive, *rest)

    monkeypatch.setattr(DeferredOps, "_noted", counting)
    return counted


CHAINS = {
    "pointwise": lambda x: (x * 2 + 1).tanh().sum(),
    "shapes": lambda x: x.reshape(24, 2).t().unsqueeze(0).squeeze(0).sum(),
    "parts": lambda x: sum((x * 1.0)[i, j] for i in range(3) for j in range(2)),
    "reductions": lambda x: (x - x.mean(0)).amax(1).sum() + x.prod(),
    "choices": lambda x: tg.where(x > 0, x, -x).clamp(0.1, 0.9).sum(),
    "products": lambda x: (x @ x.t()).exp().sum(),
    "positions": lambda x: x.argmax(1).float().sum() + x.sum(),
    "extremes": lambda x: (x * 2).max(1).values.sum() + (x + 1).min(0, keepdim=True)[0].sum(),
    "sums": lambda x: sum([(x * k).sum() for k in (2, 3, 4)]),
    "joined": lambda x: tg.stack([x * 1.5, x + 1]).sum() + tg.cat([x * 2, x]).mean(),
}


@pytest.mark.parametrize("requires", [False, True])
@pytest.mark.parametrize("name", CHAINS)
def test_what_has_come_before_is_not_asked_about(name, requires, monkeypatch):
    """From the third turn on an op among others is the event that it was; its numbers and gradients are eager mode's.

    What reads x itself meets it in this segment, or takes a view of what is there: that is asked about each time.
    """
    given = [np.random.default_rng(i).normal(size=(12, 4)).astype(np.float32) for i in range(8)]
    expected = [turn(CHAINS[name], g, requires) for g in given]
    counts, actual = [], []
    with tg.deferred():
        for g in given:
            counted = asked_about(monkeypatch)
            actual.append(turn(CHAINS[name], g, requires))
            counts.append(sum(counted.values()))
            monkeypatch.undo()
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_allclose(other[0], one[0], rtol=1e-5)
        np.testing.assert_allclose(other[1], one[1], rtol=1e-5, atol=1e-6)
    assert counts[-1] == counts[-2] <= 4 < counts[0]


def turn(chain, given, requires):
    x = tg.tensor(given, requires_grad=requires)
    out = chain(x + 0)
    if requires:
        out.backward()
    return out.item(), x.grad.numpy() if requires else given


def test_results_of_inference_mode_are_inference_tensors_each_time():
    with tg.deferred(), tg.inference_mode():
        x = tg.ones(3)
        assert [(x * 2).is_inference() for _ in range(4)] == [True] * 4


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.action, self.value = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 1)

    def forward(self, x):
        x = F.relu(self.first(x))
        return F.softmax(self.action(x), dim=-1), self.value(x)


def test_a_patched_backward_that_keeps_losses_is_no_guard_of_models(monkeypatch):
    """Losses are logged by a `backward` of the program's own: its growing list has no say in what models compute."""
    losses, backward = [], tg.Tensor.backward

    def logging(self, *args, **kwargs):
        losses.append(self.detach())
        return backward(self, *args, **kwargs)

    monkeypatch.setattr(tg.Tensor, "backward", logging)
    assert train_policy(None) == pytest.approx(train_policy(block := tg.deferred()), rel=1e-4)
    assert len(losses) == 24
    assert len(block.segments.programs) == 1
    assert {len(part.specialisations) for part in block.parts._parts.values() if part.specialisations} <= {1, 2}


def train_policy(block):
    tg.manual_seed(0)
    model, seen = Policy(), []
    optimizer = tg.optim.Adam(model.parameters(), lr=0.01)

    def step(i):
        probabilities, value = model(tg.full((4,), 0.1 * i))
        loss = probabilities[0] + value.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())

    for i in range(12):
        if block is None:
            step(i)
        else:
            with block:
                step(i)
    return seen


def test_a_patched_backward_counts_where_code_names_it(monkeypatch):
    """A step that calls `backward` does what a patched one does, also where that changes between calls."""
    factor, backward = [1.0], tg.Tensor.backward
    monkeypatch.setattr(tg.Tensor, "backward", lambda self: backward(self * factor[0]))
    w = tg.ones(3, requires_grad=True)

    @tg.compile
    def step(x):
        w.grad = None
        (w * x).sum().backward()

    found = []
    for i in range(8):
        factor[0] = 1.0 + i // 4
        step(tg.ones(3))
        found.append(w.grad.tolist())
    assert found == [[1.0] * 3] * 4 + [[2.0] * 3] * 4


def by_hand(forget, look_first, look):
    """Updates without an optimizer; returns a turn of the program."""
    rng = np.random.default_rng(0)
    x, y = (tg.tensor(rng.normal(size=size).astype(np.float32)) for size in ((20, 3), (20, 1)))
    w = tg.tensor(rng.normal(size=(3, 1)).astype(np.float32), requires_grad=True)
    b = tg.zeros(1, requires_grad=True)

    def turn():
        loss = ((x @ w + b - y) ** 2).mean()
        found = loss.item() if look_first else None
        loss.backward()
        with tg.no_grad():
            for p in (w, b):
                p -= 0.1 * p.grad
                forget(p)
        return found if look_first or not look else loss.item()

    return turn, (w, b)


def drop(p):
    p.grad = None


FORGETTING = {"set to zero": lambda p: p.grad.zero_(), "dropped": drop, "kept": lambda p: None}


@pytest.mark.parametrize("look_first", [True, False])
@pytest.mark.parametrize("forget", FORGETTING)
def test_updates_by_hand_are_repeated_without_the_engine(forget, look_first, monkeypatch):
    """Gradients that are there are added to, in the same memory, with its version counted."""
    turn, expected = by_hand(FORGETTING[forget], look_first, look=True)
    looks = [turn() for _ in range(12)]
    ways = Counter()
    turn, actual = by_hand(FORGETTING[forget], look_first, look=True)
    with tg.deferred() as block:
        found = [turn() for _ in range(10)]
        counts_engine(monkeypatch, ways)
        found += [turn() for _ in range(2)]
    assert found == pytest.approx(looks, rel=1e-4)
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_allclose(other.detach().numpy(), one.detach().numpy(), rtol=1e-4, atol=1e-6)
        assert (one.grad is None) == (other.grad is None)
        if one.grad is not None:
            np.testing.assert_allclose(other.grad.numpy(), one.grad.numpy(), rtol=1e-3, atol=1e-6)
            assert one.grad._version == other.grad._version
    assert ways["engine"] == 0
    assert len(block.segments.programs) <= 3


def counts_engine(monkeypatch, ways):
    from_roots = tg.tape.engine.Sweep.run

    def counting(self, *args):
        ways["engine"] += 1
        return from_roots(self, *args)

    monkeypatch.setattr(tg.tape.engine.Sweep, "run", counting)


def test_a_gradient_that_is_held_elsewhere_is_added_to_as_well():
    """Who holds a gradient sees what later passes add; one that is replaced is left alone."""
    turn, (w, _) = by_hand(lambda p: None, True, look=True)
    with tg.deferred():
        for _ in range(6):
            turn()
        held, other = w.grad, tg.zeros(3, 1)
        before = held.numpy().copy()
        turn()
        assert w.grad is held
        assert not np.array_equal(held.numpy(), before)
        after = held.numpy().copy()
        w.grad = other
        turn()
        assert w.grad is other
        assert np.array_equal(held.numpy(), after)
        assert np.abs(other.numpy()).sum() > 0


def rows_in_a_list(x):
    return tg.stack([x[i % 4] * 0.5 for i in range(10)]).sum().item()


def returns_of_an_episode(x):
    total, returns = 0.0, []
    for r in (1.0, 2.0, 0.5):
        total = r + 0.9 * total
        returns.insert(0, total)
    returns = tg.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    return [(r * x[0]).item() for r in returns]


def draws(x):
    with tg.no_grad():
        return [tg.multinomial(tg.ones(3) / 3 + 0 * x[0], 2, True).tolist() for _ in range(3)]


@pytest.mark.parametrize("bookkeeping", [rows_in_a_list, returns_of_an_episode, draws])
def test_small_numbers_that_are_there_are_computed_at_once(bookkeeping):
    """Nothing is pending and no history begins: numpy is done before an op is noted. No segment, no program."""
    x = tg.tensor([1.0, 2.0, 3.0, 4.0])
    tg.manual_seed(0)
    expected = [bookkeeping(x) for _ in range(4)]
    tg.manual_seed(0)
    with tg.deferred() as block:
        assert [bookkeeping(x) for _ in range(4)] == expected
    assert block.segments.programs == []


def test_small_numbers_wait_for_what_is_pending():
    """While something is put off, what is small is put off as well, in its order: the memory may be written to."""
    x, total = tg.ones(100), tg.zeros(1)
    with tg.deferred():
        for i in range(5):
            total += (x * i).sum()
            if i % 2:
                total *= 2
            small = total + 1
    assert total.item() == (((0 + 100) * 2 + 200) + 300) * 2 + 400 and small.item() == total.item() + 1


def test_parts_of_a_larger_memory_are_copied_once(monkeypatch):
    """Each op copies the part that it reads, and is the event that it was; a write in between is seen in its order."""
    table = tg.arange(300, dtype=tg.float32).reshape(3, 100)

    def turn():
        first = (table[0] * 2).sum() + (table[1] * table[2]).mean()
        table[0] = table[0] + 1
        return first + (table[0] * 3).sum()

    expected = [turn().item() for _ in range(6)]
    table = tg.arange(300, dtype=tg.float32).reshape(3, 100)
    counted = Counter()
    with tg.deferred():
        actual = []
        for _ in range(6):
            counted = asked_about(monkeypatch)
            actual.append(turn().item())
            monkeypatch.undo()
    assert actual == pytest.approx(expected)
    assert counted["mul"] <= 1  # the one that reads what is written


def episodes(count):
    """Policy gradients of episodes, each of another length; returns losses and parameters."""
    tg.manual_seed(0)
    model = Policy()
    optimizer = tg.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for episode in range(count):
        found = []
        for i in range(episode % 7 + episode // 3 + 1):
            probabilities, value = model(tg.full((4,), 0.1 * i))
            found.append((probabilities[0].log() * (i + 1), value))
            assert value.item() == value.item()
        loss = tg.stack([p for p, _ in found]).sum() + tg.cat([v for _, v in found]).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, [p.detach().numpy().copy() for p in model.parameters()]


def test_passes_that_are_new_each_time_are_made_by_the_engine(monkeypatch):
    """A few of them are noted, in case that they come again; later ones cost what eager mode's cost."""
    monkeypatch.setattr(segments, "FEW_PASSES", 4)
    monkeypatch.setenv("TRACEGRAD_WARM_UP", "0")
    expected = episodes(12)
    observed = Counter()
    learn = expected_sweep.Observed.__init__

    def counting(self, *args):
        observed["passes"] += 1
        learn(self, *args)

    monkeypatch.setattr(expected_sweep.Observed, "__init__", counting)
    with tg.deferred(tiered=True) as block:
        actual = episodes(12)
    assert observed["passes"] <= 4 < block.segments.passes.new
    assert actual[0] == pytest.approx(expected[0], rel=1e-4)
    for one, other in zip(actual[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def test_a_program_that_is_there_is_run_also_while_parts_come_up(monkeypatch):
    """A model's evaluation after an epoch brings parts up: the steps after it are done by their programs as before."""
    ran, run = [], segment_program.SegmentProgram.run
    monkeypatch.setattr(segment_program.SegmentProgram, "run", lambda self, *rest: (ran.append(self), run(self, *rest)))
    x, late, block = tg.ones(64), nn.Sequential(nn.Linear(64, 3), nn.Tanh(), nn.Linear(3, 3)), tg.deferred()
    with block:
        for turn in range(16):
            if turn in (6, 7, 8):
                late(x).sum().item()
            functools.reduce(lambda y, _: y.sin() + x, range(10), x).sum().item()
    assert ran.count(block.segments.programs[0]) == 15
