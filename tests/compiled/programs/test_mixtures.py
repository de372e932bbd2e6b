"""Programs in which rules meet that are tested one by one elsewhere; random programs (tests/fuzz) found them."""

import pytest
from compiled.conftest import Program, assert_same, batch, noted, ramp

PROGRAMS = []


def program(make):
    PROGRAMS.append(make)
    return make


@program
def element_picked_from_a_row_that_is_kept(tg):
    """The loss of the target class reads a row of costly values, which the kernel keeps, at a place of its own."""
    labels = tg.tensor([1, 0])

    def step(x):
        scores = tg.maximum((x * 0.3) ** 3, x + 0.2)
        return tg.nn.functional.cross_entropy(scores, labels, label_smoothing=0.1)

    return Program(step, lambda i: (batch(tg, i, 2, 2),))


@program
def scatter_by_an_index_that_is_reshaped(tg):
    """Only the check reads the indices in the shape that they had before."""
    w = ramp(tg, 4, 4).requires_grad_()

    def step(x):
        w.grad = None
        rows = tg.randint(0, 4, (3,)).reshape(-1, 1)
        tg.take_along_dim(w * x, rows, 0).mean().backward()

    return Program(step, lambda i: (batch(tg, i, 4, 4),), lambda: w)


@program
def one_index_for_a_gather_and_its_scatter(tg):
    """The loops read the index where the special kernel reads it, not behind the reshape; the check, too."""
    w = ramp(tg, 3).requires_grad_()

    def step(x):
        w.grad = None
        places = (x % 3).reshape(-1)
        (tg.take_along_dim(w * w, places, 0) * places).tanh().sum().backward()

    return Program(step, lambda i: (tg.tensor([[i, 2 * i]]),), lambda: w)


@program
def part_written_before_the_whole_is_met(tg):
    whole = ramp(tg, 3, 1)
    part = whole.view(-1)

    def step(x):
        part.mul_(0.5)
        return whole * x

    return Program(step, lambda i: (batch(tg, i, 3, 1),), lambda: (whole, part))


@program
def results_that_share_what_became_a_view(tg):
    w = ramp(tg, 1, 3).requires_grad_()

    def step(x):
        y = w * x
        y.squeeze_()
        return y, y.detach()

    return Program(step, lambda i: (batch(tg, i, 3),), lambda: w)


@program
def a_tensor_becomes_a_view_while_ops_are_put_off(tg):
    kept = []

    def step(x):
        y = x * 2
        y.unsqueeze_(0)
        kept.append(y.sum(2).sum().item())
        y.data = y.data[0].t()
        return (y * 3).sum(0)

    return Program(step, lambda i: (batch(tg, i, 2, 3),), lambda: list(kept))


@program
def new_leaf_with_a_gradient(tg):
    def step(x):
        y = x * 2
        y.requires_grad_()
        (y * y).sum().backward()
        return y

    return Program(step, lambda i: (batch(tg, i, 3),))


@program
def part_of_an_argument_as_new_leaf(tg):
    def step(x):
        return x[::2].requires_grad_()

    return Program(step, lambda i: (batch(tg, i, 3),))


@program
def part_of_a_part_that_became_a_leaf(tg):
    def step(x):
        t = x[:, 1:]
        t.requires_grad_()
        return t[::2]

    return Program(step, lambda i: (batch(tg, i, 4, 3),))


@program
def overwritten_before_a_fold_of_the_old_value(tg):
    """One kernel computes what the update and the loss share; the fold reads the old value behind the update."""
    w = tg.ones(1)

    def step(x):
        shared = w.sin()
        loss = shared * shared + (w * x).tile(2).sum()
        w.add_(shared)
        return loss

    return Program(step, lambda i: (tg.ones(1) * i,), lambda: w)


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_mixture(agree, make):
    agree(make)


def through_detach(tg, w, x):
    """For the values what is in the memory is no function of the leaf, for the tape it is the leaf itself."""
    w.detach()[:1] = 1.0
    return w.sin() * x


def under_no_grad(tg, w, x):
    y = w * x
    with tg.no_grad():
        y.sigmoid_()
    return y * 2


def through_data(tg, w, x):
    y = (w * x).sigmoid()
    y.data.mul_(0.5)
    return y


def before_use(tg, w, x):
    with tg.no_grad():
        w.clamp_(-0.5, 0.5)
    return (w * x).tanh()


def with_a_history_of_its_own(tg, w, x):
    """The detached tensor requires a gradient from here on, for what was written; the other one's is as it was."""
    y = w[None]
    y.detach().add_((w * x).sum())
    return y.sin() * 2


FORWARD_ONLY = [with_a_history_of_its_own, through_detach, under_no_grad, through_data, before_use]


@pytest.mark.parametrize("function", FORWARD_ONLY, ids=lambda f: f.__name__)
def test_what_the_tape_does_not_see_is_written(tg, function):
    """The result is differentiated outside, by the tape's idea of the function."""
    notes = {}
    for compiled in (False, True):
        w = ramp(tg, 3).requires_grad_()
        step = (tg.compile if compiled else lambda f: f)(lambda x, w=w: function(tg, w, x))
        for i in range(4):
            y = step(batch(tg, i, 3))
            (y * y).sum().backward()
            notes.setdefault(compiled, []).append(noted((y, w)))
    assert_same(notes[True], notes[False])


def a_leaf_that_is_returned(tg, w, x):
    y = (x * 2).requires_grad_()
    return y, (y * w).sin()


def a_leaf_that_nobody_sees(tg, w, x):
    y = (x * 2).requires_grad_()
    return x, (y * 3).sin()


@pytest.mark.parametrize("function", [a_leaf_that_is_returned, a_leaf_that_nobody_sees], ids=lambda f: f.__name__)
def test_leaves_made_inside(tg, function):
    """The caller differentiates with respect to a leaf that the function has made."""
    notes = {}
    for compiled in (False, True):
        w = ramp(tg, 3).requires_grad_()
        step = (tg.compile if compiled else lambda f: f)(lambda x, w=w: function(tg, w, x))
        for i in range(4):
            y, result = step(batch(tg, i, 3))
            assert result.requires_grad
            result.sum().backward()
            notes.setdefault(compiled, []).append(noted((y, w)))
    assert_same(notes[True], notes[False])
