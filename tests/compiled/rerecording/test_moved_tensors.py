"""Tensors that are given other memory at each call, and models that are copied anew: what is noted for them is noted
without another look at all guards."""

import copy

import pytest

from tracegrad.compiled.replay.specialisation import Specialisation
from tracegrad.tracing.watch import changes

CALLS = 24


def model_of(tg):
    tg.manual_seed(0)
    return tg.nn.Sequential(tg.nn.Linear(4, 6), tg.nn.ReLU(), tg.nn.Linear(6, 3))


class Taught:
    """A student whose teacher follows it in the way that `follow` says."""

    def __init__(self, tg, follow):
        self.tg, self.follow = tg, follow
        self.student = model_of(tg)
        self.teacher = copy.deepcopy(self.student).requires_grad_(False)
        self.optimizer = tg.optim.SGD(self.student.parameters(), lr=0.1)

    def step(self, x, i):
        scores = self.student(x)
        with self.tg.no_grad():
            self.follow(self, i)
            wanted = self.teacher(x).softmax(1)
        loss = (scores.softmax(1) - wanted).square().mean() + scores.square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def by_data(of, i):
    for kept, new in zip(of.teacher.parameters(), of.student.parameters(), strict=True):
        kept.data = kept.data * 0.9 + new.data * 0.1


def by_swapping(of, i):
    """The weight has other strides in every other call."""
    weight = of.teacher[0].weight
    weight.data = weight.data.t().contiguous().t() if i % 2 else weight.data.contiguous()


def by_sharing(of, i):
    """In some calls both have the same memory, which the optimizer writes to."""
    for kept, new in zip(of.teacher.parameters(), of.student.parameters(), strict=True):
        kept.data = new.data if i % 3 == 0 else new.data.clone()


def by_copy(of, i):
    if i % 3 == 0:
        of.teacher = copy.deepcopy(of.student).eval()


def by_dtype(of, i):
    """Numbers rounded on the way, in memory that is of the type for a while."""
    weight = of.teacher[2].weight
    weight.data = weight.data.double()
    weight.data = (weight.data * 0.5).float()


FOLLOWING = (by_data, by_swapping, by_sharing, by_copy, by_dtype)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("way", ["compiled", "deferred"])
@pytest.mark.parametrize("follow", FOLLOWING, ids=lambda follow: follow.__name__)
def test_it_is_as_eager(tg, follow, way):
    def run(way):
        of, losses = Taught(tg, follow), []
        step = tg.compile(of.step) if way == "compiled" else of.step
        with tg.deferred() if way == "deferred" else tg.enable_grad():
            for i in range(CALLS):
                losses.append(step(tg.arange(8.0).reshape(2, 4) * 0.1 + i, i))
        return losses + [p.sum().item() for p in (*of.student.parameters(), *of.teacher.parameters())]

    assert run(way) == pytest.approx(run("eager"), rel=1e-4, abs=1e-6)


def looks(tg, follow, monkeypatch, name):
    """How often `name` of a specialisation is asked in late calls, per call."""
    of, x, asked = Taught(tg, follow), tg.ones(2, 4), []
    step, method = tg.compile(of.step), getattr(Specialisation, name)
    for i in range(60):
        step(x, i)
    monkeypatch.setattr(Specialisation, name, lambda *args: (asked.append(args[0]), method(*args))[1])
    for i in range(60, 90):
        step(x, i)
    return len(asked) / 30


def test_other_memory_is_no_reason_to_look_at_guards(tg, monkeypatch):
    assert looks(tg, by_data, monkeypatch, "look_at_options") == 0


def test_calls_with_a_weight_of_each_copy_are_expected(tg, monkeypatch):
    """The transposed weights of a model that is made anew are operands as others are."""
    monkeypatch.setattr("tracegrad.compiled.parts.subprograms.LIMIT", 2)  # as after many copies
    # One for the whole function; those of the calls that copy come where they have not come before.
    assert looks(tg, by_copy, monkeypatch, "matches") < 2


def test_what_is_counted(tg):
    """Memory of the same layout is counted apart; all else that ``.data = ...`` changes, with the rest."""
    tensor = tg.zeros(2, 3)
    for data, is_alike in (
        (tg.ones(2, 3), True), (tg.ones(3, 2).t(), False), (tg.ones(2, 3), False), (tg.ones(4), False),
        (tg.ones(4, dtype=tg.float64), False), (tg.zeros(4, dtype=tg.float64), True),
    ):  # fmt: skip
        count, memories = changes.count, changes.memories
        tensor.data = data
        assert (changes.memories - memories, changes.count - count) == (is_alike, not is_alike)
