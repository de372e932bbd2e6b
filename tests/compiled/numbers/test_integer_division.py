"""Integers divided by tensors in compiled functions: numbers, errors, and the state that an error leaves, as eager."""

import numpy as np
import pytest

import tracegrad as tg

FORMS = {
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "floor_divide": tg.floor_divide,
    "fmod": tg.fmod,
    "remainder": tg.remainder,
    "div floor": lambda x, y: tg.div(x, y, rounding_mode="floor"),
    "div trunc": lambda x, y: tg.div(x, y, rounding_mode="trunc"),
}
DTYPES = {"int32": tg.int32, "int64": tg.int64}
#: The third holds a zero, the last one too: before and after the C serves the calls.
DIVISORS = ([1, 2, 3], [3, -1, -7], [0, 1, 2], [2, -5, 1], [-1, -1, -1], [4, 4, 0], [7, 1, -2])


def outcome(function, *arguments):
    """What a call gives: numbers, or the error's class and text."""
    try:
        results = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    results = results if isinstance(results, tuple) else (results,)
    return [(r.dtype, r.tolist()) if isinstance(r, tg.Tensor) else r for r in results]


def agree(make, dtype, divisors=DIVISORS):
    """Calls of the function that `make` gives, eager and compiled: the same outcomes and arguments afterwards."""
    lowest = -(2**31) if dtype is tg.int32 else -(2**63)
    eager, step, ways = make(), tg.compile(make()), []
    for values in divisors:
        notes = []
        for function in (eager, step):
            x, y = tg.tensor([lowest, 7, -7], dtype=dtype), tg.tensor(values, dtype=dtype)
            notes.append((outcome(function, x, y), x.tolist(), y.tolist()))
        assert notes[1] == notes[0]
        ways.append(step.way)
    return ways


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_replayed_and_fails_as_eager_mode_does(form, dtype):
    ways = agree(lambda: FORMS[form], DTYPES[dtype])
    assert ways[3:5] == ["replay", "replay"] and ways[5:] == ["eager", "replay"]


def in_place(x, y):
    x //= y
    return x


def written_before(x, y):
    """An error comes after what was written before it, in eager mode."""
    x += 1
    y -= 1
    return x % y


def by_what_is_written(x, y):
    y += 1
    y -= 1
    z = x // y
    y += 5
    return z


def unused(x, y):
    x // y
    return x + 1


def lost_in_a_law(x, y):
    return (x % y) ** 0


def not_chosen(x, y):
    return tg.where(y != 0, x // y, x)


def caught(x, y):
    try:
        return x // y
    except RuntimeError:
        return x + 100


def two_errors(x, y):
    """Which of them is raised depends on their order."""
    return x[y + 1], x % (y - 4), x // y


def of_broadcasts(x, y):
    return x // y.reshape(3, 1), x.reshape(3, 1) % y.sum(), tg.fmod(x, y[1])


def excluded(x, y):
    return x // tg.where(y == 0, 1, y)


def counted():
    calls = []

    def function(x, y):
        calls.append(1)
        return x // y, len(calls)

    return function


PROGRAMS = (in_place, written_before, by_what_is_written, unused, lost_in_a_law, not_chosen, caught, two_errors)
PROGRAMS += (of_broadcasts, excluded)


@pytest.mark.parametrize("divisors", [DIVISORS, DIVISORS[2:], DIVISORS[::-1]], ids=["", "zero first", "reversed"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_errors_and_what_they_leave(program, dtype, divisors):
    agree(lambda: program, DTYPES[dtype], divisors)


def test_side_effects_of_python():
    agree(counted, tg.int64)


def test_a_number_of_zero():
    """A divisor that is a Python number is looked at by Python."""

    def make():
        return lambda x, y: (x // y[0].item(), x % 3)

    agree(make, tg.int64)


def trained(compiled):
    """A training step that divides by counts: where one is 0, nothing of the model has changed."""
    tg.manual_seed(0)
    model = tg.nn.Linear(3, 2)
    optimizer = tg.optim.Adam(model.parameters())

    def step(x, counts):
        optimizer.zero_grad()
        weights = tg.full((4,), 12, dtype=tg.int64) // counts
        loss = (model(x).sum(1) * weights).mean()
        loss.backward()
        optimizer.step()
        return loss

    function, notes = tg.compile(step) if compiled else step, []
    for counts in ([1, 2, 3, 4], [1, 1, 1, 1], [4, 3, 2, 1], [1, 0, 2, 3], [1, 2, 2, 1]):
        try:
            notes.append(function(tg.ones(4, 3), tg.tensor(counts)).item())
        except RuntimeError as error:
            notes.append(str(error))
        notes += [parameter.tolist() for parameter in model.parameters()]
        notes.append([parameter.grad is None for parameter in model.parameters()])
    return notes


def test_a_training_step():
    for one, other in zip(trained(True), trained(False), strict=True):
        assert one == other if isinstance(other, str) else np.allclose(one, other, rtol=1e-5, atol=1e-7)


def test_an_index_that_a_law_would_lose():
    step = tg.compile(lambda table, index: table[index] ** 0)
    table = tg.arange(5)
    for index in ([1, 2], [0, 3], [4, 4]):
        assert step(table, tg.tensor(index)).tolist() == [1, 1]
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        step(table, tg.tensor([0, 7]))


def test_an_index_error_that_the_function_catches_first():
    def pick(table, index):
        try:
            return tg.gather(table, 0, index)
        except RuntimeError:
            return table * 2

    step = tg.compile(pick)
    for index in ([9, 0], [1, 2], [9, 1], [1, 0], [2, 2]):
        assert step(tg.arange(3), tg.tensor(index)).tolist() == pick(tg.arange(3), tg.tensor(index)).tolist()
