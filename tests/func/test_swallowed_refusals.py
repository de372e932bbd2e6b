"""What an interpreter refuses within a function of the program counts, whatever the function does with exceptions."""

import pytest

import tracegrad as tg

#: How a function may catch what is raised in it.
CATCHES = {"Exception": Exception, "BaseException": BaseException, "RuntimeError": RuntimeError}


def swallowing(function, catches):
    """`function`, whose exceptions make it return its argument."""

    def caught(x):
        try:
            return function(x)
        except catches:
            return x * 1

    return caught


def failing(function, catches):
    """`function`, whose exceptions are another one outside."""

    def caught(x):
        try:
            return function(x)
        except catches as error:
            raise ValueError("something else") from error

    return caught


def ways(function):
    """Eager, recorded, re-recorded, put off."""
    step, again = tg.compile(function), tg.compile(lambda *args: (print(end=""), function(*args))[1])

    def deferred(*args):
        with tg.deferred():
            return function(*args)

    return [function, *[step] * 3, *[again] * 4, deferred]


@pytest.mark.parametrize("wrap", [swallowing, failing])
@pytest.mark.parametrize("catches", CATCHES)
def test_writes_outside_of_a_mapped_function(catches, wrap):
    whole, rows = tg.zeros(3), tg.arange(6.0).reshape(2, 3)

    def write(row):
        whole.add_(1)
        return row + whole

    mapped = tg.vmap(wrap(write, CATCHES[catches]))
    for run in ways(lambda rows: mapped(rows)):
        whole.zero_()
        assert run(rows).tolist() == (rows + 1).tolist() and whole.tolist() == [1, 1, 1]


@pytest.mark.parametrize("wrap", [swallowing, failing])
@pytest.mark.parametrize("catches", CATCHES)
@pytest.mark.filterwarnings("ignore:vmap")
def test_numbers_of_slices(catches, wrap):
    rows = tg.tensor([1.0, -2.0, 3.0])
    mapped = tg.vmap(wrap(lambda x: x * 2 if x.item() > 0 else x * 3, CATCHES[catches]))
    assert [run(rows).tolist() for run in ways(mapped)] == [[2, -6, 6]] * len(ways(mapped))


@pytest.mark.parametrize("catches", CATCHES)
def test_random_numbers_of_slices(catches):
    mapped = tg.vmap(swallowing(lambda x: x + tg.rand(2), CATCHES[catches]), randomness="different")
    tg.manual_seed(0)
    expected = [tg.rand(2).tolist() for _ in range(3)]
    for run in ways(mapped):
        tg.manual_seed(0)
        assert run(tg.zeros(3, 2)).tolist() == expected


@pytest.mark.parametrize("wrap", [swallowing, failing])
@pytest.mark.parametrize("catches", CATCHES)
def test_branches_that_cannot_be_picked_from(catches, wrap):
    log = tg.zeros(1)

    def write(x):
        log.add_(1)
        return x * 2

    branch = wrap(write, CATCHES[catches])
    for run in ways(lambda x: tg.cond(x.sum() > 0, branch, lambda x: x * 3, (x,))):
        for x, expected, count in ((tg.ones(2), 2, 1), (-tg.ones(2), -3, 0)):
            log.zero_()
            assert run(x).tolist() == [expected] * 2 and log.item() == count


@pytest.mark.parametrize("catches", CATCHES)
def test_side_effects_of_branches_that_the_function_catches(catches):
    """Both branches have run, and nothing can take that back: it is an error all the same."""
    seen = []

    @tg.compile
    def step(x):
        try:
            return tg.cond(x.sum() > 0, lambda x: (seen.append(1), x * 2)[1], lambda x: x * 3, (x,))
        except CATCHES[catches]:
            return x * 1

    with pytest.raises(RuntimeError, match=r"in a branch of tg\.cond"):
        step(tg.ones(2))
