"""Ops that are done at once within re-recorded calls: integers that follow from what is there, many tensors put
together, positions whose range is known. None of them ends a segment, and none misses what was written before."""

import random

import pytest
from side_by_side import Program, batch

from tracegrad.compiled.lazy import segments

FORMS = []


def form(function):
    FORMS.append(function)
    return function


@form
def labels_picked(t, x):
    index = t.tg.tensor([3, 1, 0, 2, 4])
    return t.tg.nn.functional.cross_entropy(t.model(x[index]), t.labels[index])


@form
def a_range_of_labels(t, x):
    rows = t.model(x)
    return t.tg.nn.functional.cross_entropy(rows @ rows.t(), t.tg.arange(5))


@form
def largest_elements(t, x):
    out = t.model(x)
    return out.max(1)[0].sum() + out.gather(1, out.argmin(1).unsqueeze(1)).mean()


@form
def rows_put_together(t, x):
    rows = [x[row] for row in random.Random(t.n).choices(range(5), k=6)]
    return t.model(t.tg.stack(rows)).mean() + t.model(t.tg.cat([row.unsqueeze(0) for row in rows])).exp().mean()


@form
def labels_made_of_numbers(t, x):
    labels = t.tg.stack([t.tg.tensor((t.n + row) % 4) for row in range(5)])
    return t.tg.nn.functional.cross_entropy(t.model(x), labels)


@form
def labels_that_are_written(t, x):
    labels = t.labels.clone()
    labels[1] = t.n % 4
    labels.add_(1).remainder_(4)
    return t.tg.nn.functional.cross_entropy(t.model(x), (labels + 1) % 4)


@form
def rows_that_are_written(t, x):
    x = x * 2
    x[1] = t.n
    rows = [x[row] for row in range(5)]
    x.mul_(0.5)
    return t.model(t.tg.stack(rows)).mean()


@form
def the_input_written_before_its_rows_are_put_together(t, x):
    with t.tg.no_grad():
        t.data.copy_(x)
        t.data.mul_(0.1 * t.n)
    return t.model(t.tg.stack([t.data[row] for row in (4, 3, 2, 1, 0)])).mean()


@form
def labels_changed_by_numpy(t, x):
    t.labels.numpy()[0] = t.n % 4
    picked = t.labels[t.tg.tensor([0, 2, 1, 0, 4])]
    t.labels.numpy()[0] = (t.n + 1) % 4
    return t.tg.nn.functional.cross_entropy(t.model(x), picked)


class Step:
    def __init__(self, tg, of):
        tg.manual_seed(0)
        self.tg, self.of, self.n, self.calls = tg, of, 0, []
        self.model = tg.nn.Sequential(tg.nn.Linear(3, 6), tg.nn.Tanh(), tg.nn.Linear(6, 4))
        self.optimizer = tg.optim.SGD(self.model.parameters(), lr=0.05)
        self.labels, self.data = tg.tensor([0, 3, 1, 2, 0]), tg.zeros(5, 3)

    def step(self, x):
        self.calls.append(self.n)  # no replay does that
        self.n += 1
        self.optimizer.zero_grad()
        loss = self.of(self, x)
        loss.backward()
        self.optimizer.step()
        return loss

    def program(self):
        def kept():
            return list(self.model.parameters()), self.labels, self.data

        return Program(self.step, lambda i: (batch(self.tg, i % 4, 5, 3) * 0.2,), kept)


@pytest.mark.parametrize("of", FORMS, ids=lambda function: function.__name__)
def test_what_is_done_at_once_is_eager(agree, of):
    assert agree(lambda tg: Step(tg, of).program(), calls=8).way == "re-record"


@pytest.mark.parametrize("of", FORMS[:5], ids=lambda function: function.__name__)
def test_it_ends_no_segment(tg, of, monkeypatch):
    """The whole step is one program."""
    program = Step(tg, of)
    step = tg.compile(program.step)
    for i in range(20):
        step(batch(tg, i % 4, 5, 3) * 0.2)
    done = []
    finish = segments.Execution.finish
    monkeypatch.setattr(segments.Execution, "finish", lambda self: (done.append(self), finish(self))[1])
    for i in range(4):
        step(batch(tg, i, 5, 3) * 0.2)
    assert step.way == "re-record"
    assert len(done) == 4


def test_many_rows_cost_few_events(tg):
    """64 rows of a memory are one operand of the program."""
    memory = [tg.ones(3) * i for i in range(64)]
    found = []

    def step(x):
        found.append(len(found))
        return (tg.stack(memory) * x).sum()

    compiled = tg.compile(step)
    for _ in range(6):
        compiled(tg.ones(3))
    assert compiled.way == "re-record"
    assert max(len(program.graph.inputs) for program in compiled.segments.programs) <= 2


def test_types_are_checked_before_numbers(tg):
    """A position out of range in an index of the wrong shape: what is said is what eager mode says."""
    said = []
    for block in (tg.enable_grad(), tg.deferred()):
        with block, pytest.raises(RuntimeError) as error:
            tg.ones(2, 1).scatter(0, tg.tensor([2]), 0.25)
        said.append(str(error.value))
    assert said[0] == said[1] and "number of dimensions" in said[0]
