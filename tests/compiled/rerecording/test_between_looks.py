"""What a re-recorded call does between two looks at numbers, where nothing is put off: rows read by masks and by
positions, rows written, largest elements. It is numpy's work at once, as in eager mode, and gives eager numbers."""

import itertools

import pytest
from side_by_side import Program, batch

from tracegrad.compiled.lazy.interpreter import DeferredOps
from tracegrad.tensors import indexing

READS = {
    "mask": lambda t, x, c: x[t.labels == c],
    "mask of rows and columns": lambda t, x, c: x[x > 0.1 * c],
    "positions": lambda t, x, c: x[t.tg.tensor([c, -1, 0])],
    "row": lambda t, x, c: x[c],
    "largest": lambda t, x, c: x.max(1).values[: c + 1],
    "picked": lambda t, x, c: x.gather(1, t.tg.tensor([[c % 4], [0], [3]])),
}
WRITES = {
    "row": lambda t, c, value: t.kept.__setitem__(c, value),
    "part": lambda t, c, value: t.kept[c, 1:].copy_(value[:3]),
    "number": lambda t, c, value: t.kept.__setitem__(c, float(value[0])),
    "of what is read": lambda t, c, value: t.read.__setitem__(c, value * 0.5),
    "of parameters": lambda t, c, value: t.model.weight[c % 4].add_(value * 1e-3),
}
FORMS = list(itertools.product(READS, WRITES))


class Step:
    """A training step, and then a few ops for each class."""

    def __init__(self, tg, read, write):
        tg.manual_seed(0)
        self.tg, self.reads, self.writes = tg, READS[read], WRITES[write]
        self.model = tg.nn.Linear(4, 4)
        self.optimizer = tg.optim.SGD(self.model.parameters(), lr=0.05)
        self.labels, self.kept, self.read = tg.tensor([0, 3, 1, 7, 6, 2, 5, 0]), tg.zeros(8, 4), tg.ones(8, 4)

    def step(self, x):
        code = self.model(x)
        self.optimizer.zero_grad()
        loss = code.pow(2).mean()
        loss.backward()
        self.optimizer.step()
        with self.tg.no_grad():
            for c in range(8):
                found = self.reads(self, code if c % 2 else self.read, c)
                if len(found) and found.sum().item() > -100:
                    self.writes(self, c, 0.9 * self.kept[c] + 0.1 * found.mean())
        return loss.item()

    def program(self):
        return Program(
            self.step, lambda i: (batch(self.tg, i % 4, 8, 4) * 0.2,), lambda: [*self.model.parameters(), self.kept]
        )


@pytest.mark.parametrize(("read", "write"), FORMS)
def test_numbers_are_those_of_eager_mode(agree, read, write):
    assert agree(lambda tg: Step(tg, read, write).program(), calls=8).way == "re-record"


@pytest.mark.parametrize(("read", "write"), [("mask", "row"), ("positions", "row")])
def test_nothing_is_asked_twice(tg, read, write, monkeypatch):
    """Masks and positions are read, and rows written, without a plan for the general case or a word to the
    interpreter; but for the first of them, at which the step's program is still to be done."""
    asked = []
    plan, write_now = indexing._plan, DeferredOps.write
    monkeypatch.setattr(indexing, "_plan", lambda *args: (asked.append("plan"), plan(*args))[1])
    monkeypatch.setattr(DeferredOps, "write", lambda *args: (asked.append("write"), write_now(*args))[1])
    program = Step(tg, read, write)
    step = tg.compile(program.step)
    for i in range(24):
        asked.clear()
        step(batch(tg, i % 4, 8, 4) * 0.2)
    assert step.way == "re-record"
    assert len(asked) <= 2, asked
