"""Views whose base is transposed, or given other axes, in place afterwards: they show the same elements as before, and
their gradients, and those of what is written through them, go where these elements are."""

import itertools

import numpy as np
import pytest

import tracegrad as tg

VIEWS = {
    "a row": lambda y: y[0],
    "columns": lambda y: y[:, 1:],
    "part of all": lambda y: y.view(-1)[2:7],
    "a row across": lambda y: y.t()[1],
    "rows, then a column": lambda y: y[1:][:, 0],
    "permuted": lambda y: y.permute(1, 0)[1:3],
    "unsqueezed": lambda y: y.unsqueeze(0)[0, 1],
    "strided": lambda y: y.as_strided((2, 2), (4, 1)),
    "transposed and strided": lambda y: y.t().as_strided((2, 2), (1, 4)),
    "the diagonal": lambda y: y.diagonal(),
    "all": lambda y: y[:],
}
MOVES = {
    "t_": lambda y: y.t_(),
    "t_ twice": lambda y: y.t_().t_(),
    "transpose_": lambda y: y.transpose_(0, 1),
    "unsqueeze_": lambda y: y.unsqueeze_(0),
    "unsqueeze_ and transpose_": lambda y: y.unsqueeze_(1).transpose_(0, 2),
    "unsqueeze_ and squeeze_": lambda y: y.unsqueeze_(1).squeeze_(),
    "as_strided_": lambda y: y.as_strided_((4, 3), (1, 4)),
}
WRITES = {
    "none": lambda y, v: None,
    "to the base": lambda y, v: y.mul_(3),
    "to the view": lambda y, v: v.mul_(3),
    "to the view, then the base": lambda y, v: (v.mul_(3), y.mul_(2)),
    "to the base, then the view": lambda y, v: (y.mul_(3), v.sin_()),
}


def weighted(x):
    return (x * tg.arange(1.0, 1 + x.numel(), dtype=x.dtype).view(x.shape)).sum()


def shown(w, view, move, write, early=False):
    """Weighted sums of a view and of its base in the end."""
    y = w * 1
    v = VIEWS[view](y)
    if early:
        y.mul_(2)
    MOVES[move](y)
    WRITES[write](y, v)
    return weighted(v), weighted(y)


def start():
    return tg.arange(12, dtype=tg.float64).view(3, 4).div(10)


def slopes(function):
    """The derivatives of numbers, by central differences."""
    found = []
    for place in range(12):
        step = tg.zeros(12, dtype=tg.float64)
        step[place] = 1e-6
        above, below = function(start() + step.view(3, 4)), function(start() - step.view(3, 4))
        found.append([(a - b).item() / 2e-6 for a, b in zip(above, below, strict=True)])
    return np.array(found).T.reshape(-1, 3, 4)


@pytest.mark.long(fast=29, by_size=True)
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("view", VIEWS)
def test_gradients_go_to_the_elements_that_are_shown(view, move):
    for write, early in itertools.product(WRITES, (False, True)):
        expected = slopes(lambda w, write=write, early=early: shown(w, view, move, write, early))
        w = start().requires_grad_()
        for number, result in enumerate(shown(w, view, move, write, early)):
            (g,) = tg.autograd.grad(result, w, retain_graph=True)
            np.testing.assert_allclose(g.numpy(), expected[number], rtol=1e-5, atol=1e-5, err_msg=f"{write} {early}")


@pytest.mark.long(fast=37, every=5)
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("view", VIEWS)
def test_compiled_steps_do_the_same(view, move):
    def step(w):
        results = [result for write in WRITES for result in shown(w, view, move, write)]
        (g,) = tg.autograd.grad(sum(results), w)
        return [*results, g]

    compiled = tg.compile(step)
    for scale in (1.0, 2.0, 3.0):
        w = (start() * scale).requires_grad_()
        for one, other in zip(compiled(w), step(w), strict=True):
            tg.testing.assert_close(one, other)


def test_a_view_whose_base_shows_other_elements_is_refused():
    y = start().requires_grad_() * 1
    v = y[0]
    y.as_strided_((2, 2), (1, 1))
    with pytest.raises(RuntimeError, match="take the view afterwards"):
        v.sum()
