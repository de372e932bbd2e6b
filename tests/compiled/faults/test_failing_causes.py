"""Two causes to fail in one step: compiled code raises what eager mode raises, and leaves behind what it leaves behind.

Each cause is switched on by the arguments of a call. Between the causes the step does what can be seen afterwards:
writes in place, random draws, a backward pass, an optimizer's step, a counter.
"""

import itertools

import pytest
from side_by_side import Program, agreeing

CALLS = 8
ERRORS = (RuntimeError, IndexError, ValueError, ZeroDivisionError, TypeError)


def _index(tg, bad):
    index = tg.tensor([0, 3 if bad else 2])
    return (index,), lambda index: tg.arange(3.0)[index].sum()


def _gather(tg, bad):
    index = tg.tensor([0, -1 if bad else 2])
    return (index,), lambda index: tg.gather(tg.arange(3.0), 0, index).sum()


def _probability(tg, bad):
    p = tg.tensor([0.5, 1.5 if bad else 0.25])
    return (p,), lambda p: tg.nn.functional.binary_cross_entropy(p, tg.ones(2))


def _target(tg, bad):
    y = tg.tensor([0, 5 if bad else 1])
    return (y,), lambda y: tg.nn.functional.cross_entropy(tg.ones(2, 3), y)


def _class(tg, bad):
    y = tg.tensor([0, -1 if bad else 1])
    return (y,), lambda y: tg.nn.functional.one_hot(y, 3).double().sum()


def _draw(tg, bad):
    p = tg.tensor([0.5, -1.0 if bad else 0.25])
    return (p,), lambda p: tg.multinomial(p, 1).double().sum()


def _deviation(tg, bad):
    std = tg.tensor([0.5, -1.0 if bad else 0.25])
    return (std,), lambda std: tg.normal(tg.zeros(2), std).sum()


def _division(tg, bad):
    y = tg.tensor([2, 0 if bad else 3])
    return (y,), lambda y: (tg.tensor([7, 8]) // y).double().sum()


def _shape(tg, bad):
    x = tg.ones(4 if bad else 3)
    return (x,), lambda x: (x + tg.arange(3.0)).sum()


def _type(tg, bad):
    x = tg.ones(3) if bad else tg.ones(3).long()
    return (x,), lambda x: tg.nn.functional.one_hot(x, 3).double().sum()


def _own(tg, bad):
    """The user's own exception, for a number in Python."""

    def check(n):
        if n > 2:
            raise ValueError("too many")
        return n * 1.0

    return (5 if bad else 1,), check


CAUSES = {
    f.__name__[1:]: f
    for f in (_index, _gather, _probability, _target, _class, _draw, _deviation, _division, _shape, _type, _own)
}
REPLAYED = ("index", "gather", "probability", "target", "class", "draw", "deviation")


def _plain(tg, run):
    return run


def _without_grad(tg, run):
    return tg.no_grad()(run)


def _in_branch(taken):
    """Within a branch of ``tg.cond``; where it is not taken, nothing fails."""

    def inside(tg, run):
        switch = tg.tensor(taken)
        return lambda *args: tg.cond(switch, lambda: tg.as_tensor(run(*args)).float() * 1, lambda: tg.zeros(()))

    return inside


def _in_backward(tg, run):
    """Within the backward pass of the user's own function."""
    given = []

    class Own(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * run(*given)

    def inside(*args):
        given[:] = args
        x = tg.ones(1).requires_grad_()
        Own.apply(x).sum().backward()
        return x.grad.sum()

    return inside


PLACES = {
    "plain": _plain, "no_grad": _without_grad, "taken branch": _in_branch(True), "other branch": _in_branch(False),
}  # fmt: skip


def _program(first, second, place="plain", looking=False):
    def make(tg):
        model = tg.nn.Linear(2, 1)
        optimizer = tg.optim.Adam(model.parameters(), lr=0.1)
        seen, drawn, counts = tg.zeros(3), tg.zeros(2), {"calls": 0}
        one, other = (PLACES[place](tg, CAUSES[name](tg, False)[1]) for name in (first, second))
        width = len(CAUSES[first](tg, False)[0])

        def step(*args):
            seen[0] += 1
            drawn.copy_(tg.rand(2))
            if looking:
                counts["calls"] += int(seen[0].item() > 0)
            a = one(*args[:width])
            seen[1] += 1
            drawn.add_(tg.rand(2))
            optimizer.zero_grad()
            loss = model(drawn).sum()
            loss.backward()
            optimizer.step()
            b = other(*args[width:])
            seen[2] += 1
            return a + b

        def args(i):
            bad = {3: (True, False), 4: (False, True), 5: (True, True)}.get(i, (False, False))
            return (*CAUSES[first](tg, bad[0])[0], *CAUSES[second](tg, bad[1])[0])

        def state():
            moments = [dict(optimizer.state[p]) for p in model.parameters()]
            return [seen, drawn, counts, list(model.parameters()), moments]

        return Program(step, args, state, raises=ERRORS)

    return make


@pytest.mark.parametrize(("first", "second"), list(itertools.pairwise((*CAUSES, "index"))))
def test_two_causes(tg, first, second):
    """The first one is raised, and what was done before it stays done."""
    agreeing(tg, _program(first, second), CALLS)


@pytest.mark.long(every=29)
@pytest.mark.parametrize(("first", "second"), list(itertools.product(CAUSES, CAUSES)))
@pytest.mark.parametrize("looking", [False, True])
def test_every_pair(tg, first, second, looking):
    """Replayed as far as that can be, and re-recorded."""
    agreeing(tg, _program(first, second, looking=looking), CALLS)


@pytest.mark.parametrize("cause", ["probability", "index"])
@pytest.mark.parametrize("place", [place for place in PLACES if place != "plain"])
def test_places(tg, place, cause):
    """A check where no gradients are recorded, and within a branch."""
    agreeing(tg, _program(cause, "class", place), CALLS)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("cause", REPLAYED)
@pytest.mark.parametrize("place", [place for place in PLACES if place != "plain"])
def test_every_place(tg, place, cause):
    """A check where no gradients are recorded, and within a branch."""
    agreeing(tg, _program(cause, "index", place), CALLS)


@pytest.mark.parametrize("cause", REPLAYED)
def test_in_a_backward_pass(tg, cause):
    """The check is met after the forward pass, with the gradients of some leaves accumulated already or not."""

    def make(tg):
        inside = _in_backward(tg, CAUSES[cause](tg, False)[1])
        seen, w = tg.zeros(2), tg.nn.Parameter(tg.ones(2))

        def step(*args):
            seen[0] += 1
            (w * 2).sum().backward()
            out = inside(*args)
            seen[1] += 1
            return out

        return Program(step, lambda i: CAUSES[cause](tg, i in (3, 4))[0], lambda: [seen, w], raises=ERRORS)

    agreeing(tg, make, CALLS)


@pytest.mark.parametrize("cause", REPLAYED)
def test_caught(tg, cause):
    """A function that goes on after the error takes another way, whichever numbers it was recorded with."""

    def make(tg):
        run = CAUSES[cause](tg, False)[1]
        seen = tg.zeros(2)

        def step(*args):
            try:
                out = run(*args)
            except ERRORS as error:
                seen[0] += 1
                return str(error)
            seen[1] += 1
            return out

        return Program(step, lambda i: CAUSES[cause](tg, i in (0, 1, 4, 6))[0], lambda: [seen])

    agreeing(tg, make, CALLS)


@pytest.mark.parametrize("cause", REPLAYED)
def test_result_that_nobody_needs(tg, cause):
    """The check is done for its own sake."""

    def make(tg):
        run = CAUSES[cause](tg, False)[1]
        seen = tg.zeros(1)

        def step(*args):
            run(*args)
            seen.add_(1)

        return Program(step, lambda i: CAUSES[cause](tg, i in (3, 5))[0], lambda: [seen], raises=ERRORS)

    agreeing(tg, make, CALLS)


@pytest.mark.parametrize("cause", ["index", "probability", "class"])
def test_values_that_the_step_has_written(tg, cause):
    """What is checked is what memory holds by then, not before the call."""

    def make(tg):
        run = CAUSES[cause](tg, False)[1]
        held = CAUSES[cause](tg, False)[0][0]

        def step(x):
            held.copy_(x)
            out = run(held)
            held.mul_(0)
            return out

        return Program(step, lambda i: CAUSES[cause](tg, i in (3, 5))[0], lambda: [held], raises=ERRORS)

    agreeing(tg, make, CALLS)


def test_a_check_of_a_gradient(tg):
    """It is known by then, but the one before must stay where it is if the check fails."""

    def make(tg):
        w = tg.nn.Parameter(tg.ones(2))

        def step(x):
            w.grad = None
            (w * x).sum().backward()
            return tg.nn.functional.binary_cross_entropy(w.grad, tg.ones(2))

        def args(i):
            return (tg.tensor([0.5, 2.0 if i in (3, 4) else 0.25 + i / 16]),)

        return Program(step, args, lambda: [w], raises=ERRORS)

    agreeing(tg, make, CALLS)
