"""Parts of a tensor that are written while others of its parts are read: eagerly, replayed, re-recorded, deferred.

Which part is written is found when the write is noted, and what the value is may end what has been noted before: the
write has to reach the tensor itself then, not a copy of it.
"""

import itertools
import time

import numpy as np
import pytest

import tracegrad as tg

SOURCES = {
    "whole": lambda base: base,
    "rows": lambda base: base[::2],
    "columns": lambda base: base[:, 1:5],
    "transposed": lambda base: base.t(),
    "detached": lambda base: base.detach(),
    "numpy": lambda base: tg.from_numpy(base.numpy()[1:]),
    "flat": lambda base: base.view(-1)[4:36].view(4, 8),
}


def shifted(x):
    x[1:] = x[:-1].clone()


def exchanged(x):
    x[0], x[1] = x[1].clone(), x[0].clone()


def assigned(x):
    x[-1] = x[0]


def copied(x):
    x[1].copy_(x[0])


def added(x):
    x[0] += x[1]


def multiplied(x):
    x[0].mul_(x[2])


def summed(x):
    x[2] = x.sum(0)


def halves(x):
    x[:2] = x[2:4]


def crossed(x):
    x.t()[0] = x.t()[1]


def element(x):
    x[2][1] = x[0][0]


def of_kept_view(x):
    y = x[1]
    x[0] = y * 2
    x[1] = x[0] + y


def drawn(x):
    x[3].uniform_()
    x[0] = x[3]


STATEMENTS = [shifted, exchanged, assigned, copied, added, multiplied, summed, halves, crossed, element]
STATEMENTS += [of_kept_view, drawn]


def replayed(step):
    return tg.compile(step)


def rerecorded(step):
    def timed(*args):
        time.perf_counter()
        return step(*args)

    return tg.compile(timed)


def deferred(step):
    def within(*args):
        with tg.deferred():
            return step(*args)

    return within


def after_calls(wrap, source, statements):
    """What four calls leave in the memory of their argument, and return."""

    def step(x, factor):
        seen = [x[0].sum() * factor]
        for statement in statements:
            statement(x)
            seen.append((x * factor).sum())
        return seen

    step, found = wrap(step), []
    tg.manual_seed(0)
    for i in range(4):
        base = tg.randn(8, 8)
        seen = step(SOURCES[source](base), 1.0 + i)
        found.append(np.concatenate([base.numpy().ravel(), [float(value) for value in seen]]))
    return found


WAYS = [replayed, rerecorded, deferred]
PAIRS = list(itertools.product(STATEMENTS, repeat=2))


def assert_as_eager(wrap, source, statements):
    expected = after_calls(lambda step: step, source, statements)
    for i, (given, wanted) in enumerate(zip(after_calls(wrap, source, statements), expected, strict=True)):
        # sums in another order: a few roundings of float32, of numbers up to about 100
        np.testing.assert_allclose(given, wanted, rtol=1e-5, atol=1e-5, err_msg=f"call {i}")


@pytest.mark.parametrize("wrap", WAYS)
@pytest.mark.parametrize("source", SOURCES)
def test_one_after_the_other(source, wrap):
    assert_as_eager(wrap, source, STATEMENTS)


@pytest.mark.long(every=5)
@pytest.mark.parametrize("wrap", WAYS)
@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("source", SOURCES)
def test_alone(source, statement, wrap):
    assert_as_eager(wrap, source, [statement])


@pytest.mark.long(every=20)
@pytest.mark.parametrize("wrap", WAYS)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(each.__name__ for each in pair))
def test_pairs(pair, wrap):
    assert_as_eager(wrap, "rows", pair)


@pytest.mark.parametrize("wrap", WAYS)
def test_the_value_is_a_part_of_what_is_written(wrap):
    """Only the write is noted: no op comes before it."""

    def step(x):
        x[-1] = x[0]

    step = wrap(step)
    for _ in range(4):
        x = tg.randn(4, 1)[::2]
        step(x)
        assert x[-1].item() == x[0].item()
