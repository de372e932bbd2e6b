"""Parts of tensors that re-recorded calls write, other ones at each call: no part of what a call does."""

import itertools

import numpy as np
import pytest
from side_by_side import Program, ramp

ROWS = 12
#: Which part of the memory is written, by the number of the call.
PARTS = {
    "row": lambda i: i % ROWS,
    "row from the end": lambda i: -1 - i % ROWS,
    "rows": lambda i: slice(i % 9, i % 9 + 3),
    "every other row": lambda i: slice(i % 4, i % 4 + 6, 2),
    "column": lambda i: (slice(None), i % 3),
    "element": lambda i: (i % ROWS, i % 3),
    "block": lambda i: (slice(i % 9, i % 9 + 2), slice(1, None)),
}


def assigned(tg, buffer, at, value):
    buffer[at] = value


def added(tg, buffer, at, value):
    buffer[at] += value


def copied(tg, buffer, at, value):
    buffer[at].copy_(value)


def two(tg, buffer, at, value):
    """Through two views, the second of which may lie over the first."""
    part = buffer[at]
    part.mul_(0.5)
    buffer[at].add_(value)
    part.sub_(0.25)


WRITES = {"=": assigned, "+=": added, "copy_": copied, "two views": two}


def nothing(tg, buffer, at):
    return 0.0


def whole(tg, buffer, at):
    return buffer.sum()


def another(tg, buffer, at):
    return buffer[3].sum()


def gathered(tg, buffer, at):
    return buffer[tg.tensor([1, 1, 5])].sum()


def older(tg, buffer, at):
    return buffer.t()[1:, 2:9].sum()


READS = {"nothing": nothing, "whole": whole, "another row": another, "gathered": gathered, "another view": older}
#: Where the memory comes from, and whether numpy sees it.
MEMORIES = {
    "own": lambda tg: ramp(tg, ROWS, 3),
    "numpy's": lambda tg: tg.from_numpy(np.arange(3.0 * ROWS, dtype=np.float32).reshape(ROWS, 3)),
    "a part": lambda tg: ramp(tg, 2 * ROWS, 4)[1 : ROWS + 1, :3],
    "transposed": lambda tg: ramp(tg, 3, ROWS).t(),
}


def program(write, read_before, read_after, part, memory, stop):
    """A step that is re-recorded: it looks at a number, before or after the writes, and counts."""

    def make(tg):
        buffer, state = MEMORIES[memory](tg), {"i": 0}
        calls = itertools.count()

        def step(x):
            i = next(calls)
            state["i"] += 1
            y = (x * x).tanh()
            before = READS[read_before](tg, buffer, part)
            if stop == "between" and y.sum() > 1e9:
                y = -y
            at = PARTS[part](i)
            value = y.mean() + i
            WRITES[write](tg, buffer, at, value)
            WRITES[write](tg, buffer, PARTS[part](i + 5), value * 2)
            if stop == "after" and value > 1e9:
                y = -y
            return y + before + READS[read_after](tg, buffer, part)

        return Program(step, lambda i: (ramp(tg, 4) * (1 + 0.1 * i),), lambda: [buffer, state])

    return make


CASES = [
    (write, before, after, part, memory, stop)
    for write, before, after, part, memory in itertools.product(WRITES, READS, READS, PARTS, MEMORIES)
    for stop in ("between", "after")
]


@pytest.mark.long(fast=29, every=5)
@pytest.mark.parametrize("case", CASES[::97], ids="-".join)
def test_as_eager_mode(agree, case):
    agree(program(*case))


@pytest.mark.long(every=101)
@pytest.mark.parametrize("case", CASES[1::7], ids="-".join)
def test_many_as_eager_mode(agree, case):
    agree(program(*case))


@pytest.mark.parametrize("part", PARTS)
def test_the_place_makes_no_programs(tg, part):
    """Many places, and one program for what is read or written between two looks."""
    buffer, seen = tg.zeros(ROWS, 3), []

    @tg.compile
    def step(x, at):
        seen.append(float(x.sum()))
        buffer[at] = x.mean()

    for i in range(30):
        step(tg.full((4,), float(i)), PARTS[part](i))
    assert step.way == "re-record" and 1 <= len(step.segments.programs) <= 3
