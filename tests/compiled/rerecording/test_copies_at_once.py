"""Copies of elements, small writes, drawn integers and looks at numbers within re-recorded calls: done at once where
all is there, in order with what is put off where it is not; and what notes them otherwise knows them again."""

from collections import Counter

import numpy as np
import pytest
from side_by_side import Program, batch

from tracegrad.compiled.function import Subprogram
from tracegrad.compiled.lazy.expected_ops import NotingTape
from tracegrad.compiled.lazy.interpreter import DeferredOps
from tracegrad.compiled.lazy.segments import Execution

# ------------------------------------------------------------------------------------ in order with what is put off


def a_row_written(t, x):
    t.memory[t.n % 6] = x[0] * 2


def a_write_by_numpy(t, x):
    t.memory.numpy()[t.n % 6] = t.n


#: What has been noted before, or left in memory.
BEFORE = {
    "nothing": lambda t, x: None,
    "other work": lambda t, x: setattr(t, "held", x * 2),
    "the memory written": lambda t, x: t.memory.mul_(1.25),
    "a row written": a_row_written,
    "the memory read": lambda t, x: setattr(t, "held", t.memory * 2),
    "a part of it read": lambda t, x: setattr(t, "held", t.memory[1:3] + x[0, 0]),
    "a view of it made": lambda t, x: setattr(t, "held", t.memory.t()),
    "positions pending": lambda t, x: setattr(t, "index", (x @ t.memory.t()).argmax(1)),
    "numbers drawn": lambda t, x: setattr(t, "held", t.tg.rand(6, 3) + x[0, 0]),
    "numpy": a_write_by_numpy,
}


def rows_written(t, x):
    t.memory[t.n % 3 : t.n % 3 + 2] = x[:2]
    return t.memory


def a_number_written(t, x):
    t.memory[t.n % 6, 1] = 0.1 * t.n
    return t.memory


def all_of_it_written(t, x):
    t.memory.copy_(t.tg.full((6, 3), 0.1 * t.n))
    return t.memory


def part_of_itself_written(t, x):
    t.memory[1:4] = t.memory[2:5].clone()
    return t.memory


def a_count_looked_at(t, x):
    at = int(t.counts[0])
    t.counts[0] = (at + 1) % 6
    return t.memory[at] * (2.0 if bool(t.counts[0] > 2) else 3.0) + t.counts.tolist()[0]


ACTS = {
    "rows": lambda t, x: t.memory[t.index],
    "rows by a mask": lambda t, x: t.memory[t.memory[:, 0] > 0.3],
    "rows drawn": lambda t, x: t.memory[t.tg.randint(0, 6, (4,))],
    "an integer drawn": lambda t, x: t.memory[int(t.tg.randint(1, 6, ()))],
    "elements": lambda t, x: t.memory.gather(1, t.index[:, None] % 3),
    "rows written": rows_written,
    "a number written": a_number_written,
    "all of it written": all_of_it_written,
    "part of itself written": part_of_itself_written,
    "a count looked at": a_count_looked_at,
}


class Step:
    def __init__(self, tg, before, act):
        tg.manual_seed(0)
        self.tg, self.before, self.act, self.n, self.calls = tg, before, act, 0, []
        self.memory, self.held = tg.linspace(0, 1, 18).reshape(6, 3), tg.zeros(1)
        self.index, self.counts = tg.tensor([3, 1, 0, 2, 4]), tg.zeros(1, dtype=tg.long)
        self.weight = tg.full((3, 2), 0.5, requires_grad=True)

    def step(self, x):
        self.calls.append(self.n)  # no replay does that
        self.n += 1
        self.before(self, x)
        out = self.act(self, x)
        loss = (out.sum() * self.weight).sum() + self.held.sum()
        loss.backward()
        self.memory.mul_(0.5)
        with self.tg.no_grad():
            self.weight -= 0.01 * self.weight.grad
        self.weight.grad = None
        return out * 1, loss.detach()

    def program(self):
        return Program(
            self.step,
            lambda i: (batch(self.tg, i % 4, 5, 3) * 0.2,),
            lambda: (self.memory, self.index, self.counts, self.weight),
        )


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("before", BEFORE)
def test_it_is_eager(agree, before, act):
    agree(lambda tg: Step(tg, BEFORE[before], ACTS[act]).program(), calls=8)


# ------------------------------------------------------------------------------------------------------- what it costs


GENERAL = (
    (DeferredOps, "_noted"),
    (DeferredOps, "write"),
    (NotingTape, "apply"),
    (Subprogram, "noted"),
    (Execution, "finish"),
)
TAPE = 99  # calls of the tape, where these are not counted


def counted(tg, monkeypatch, act, calls=4):
    """How often the general ways are gone in warm calls of a step, for each call: ops, writes, parts, segments."""
    t = Step(tg, BEFORE["other work"], act)

    def count(kind, name):
        way = getattr(kind, name)

        def counting(self, *args):
            found[name] += 1
            return way(self, *args)

        monkeypatch.setattr(kind, name, counting)

    def inner(x):
        t.calls.append(t.n)
        t.n += 1
        t.before(t, x)
        return (t.act(t, x).sum() + t.held.sum()).item()

    step, found = tg.compile(inner), Counter()
    for i in range(12):
        step(batch(tg, i % 4, 5, 3) * 0.2)
    for kind, name in GENERAL:
        count(kind, name)
    for i in range(calls):
        step(batch(tg, i % 4, 5, 3) * 0.2)
    assert step.way == "re-record"
    return {name: number / calls for name, number in found.items()}


def much(x):
    """More ops than are done at once between two looks."""
    return sum(x * k for k in range(1, 15))


def joined(t, x):
    before = [much(x), t.held * 2]
    assert before[0].sum().item() != t.n  # the segment ends
    return much(t.tg.cat(before, dim=1) + much(x).sum())


WAYS = {
    "rows": (ACTS["rows"], {}),
    "rows written": (rows_written, {}),
    "a number written": (a_number_written, {}),
    "rows drawn": (ACTS["rows drawn"], {}),
    "a number that is data": (lambda t, x: (x + t.held) * (0.3 + t.n / 7) - t.n, {"apply": 2}),
    "elements of what is pending": (lambda t, x: t.held.gather(1, t.tg.tensor([[0], [2], [1], [0], [2]])), {}),
    "largest elements": (lambda t, x: (x + t.held).max(dim=1).values, {"noted": 0}),
    "a count looked at": (lambda t, x: much(much(x) + int(t.counts[0])), {}),
}


@pytest.mark.parametrize("name", WAYS)
def test_what_is_known_takes_no_general_way(tg, monkeypatch, name):
    """One segment a call, and besides it nothing but what is said in the table."""
    act, allowed = WAYS[name]
    found = counted(tg, monkeypatch, act)
    assert found.pop("finish") == 1
    assert all(number <= {"apply": TAPE, **allowed}.get(name, 0) for name, number in found.items()), found


def test_tensors_of_an_earlier_segment_are_put_together(tg, monkeypatch):
    assert counted(tg, monkeypatch, joined).get("_noted", 0) == 0


def test_named_tensor_arguments_are_taken_as_they_are(tg, monkeypatch):
    """Functions whose tensors have names of their own do not look at each argument again."""
    from_class = tg.Tensor.copy_
    looked = []
    monkeypatch.setattr("tracegrad.tensors.operands._taken", lambda *args: looked.append(args) or args[0])
    x = tg.zeros(2)
    from_class(x, tg.ones(2))
    assert not looked
    np.testing.assert_array_equal(x.numpy(), [1, 1])
