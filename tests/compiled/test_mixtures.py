"""Programs in which rules meet that are tested one by one elsewhere; random programs (tests/fuzz) found each of them."""

import pytest
from compiled.conftest import Program, batch, ramp

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


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_mixture(agree, make):
    agree(make)
