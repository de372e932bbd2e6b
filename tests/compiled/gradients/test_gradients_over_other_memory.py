"""Gradients that lie in the memory of something else that a step works with, and then no longer; or the other way."""

import pytest
from side_by_side import Program, batch, weight

PLACES = {
    "its parameter": lambda w, v: w.detach(),
    "another parameter": lambda w, v: v.detach(),
    "a view of it": lambda w, v: w.detach()[:],
    "another gradient": lambda w, v: v.grad,
    "its own": lambda w, v: w.grad.clone(),
    "nothing": lambda w, v: None,
}


@pytest.mark.long(fast=17, by_size=True)
@pytest.mark.parametrize("later", PLACES)
@pytest.mark.parametrize("first", PLACES)
def test_where_a_gradient_lies_is_compared(agree, first, later):
    def program(tg):
        w, v = weight(tg, 3), weight(tg, 3)
        optimizer = tg.optim.SGD([w, v], lr=0.1)

        def step(x):
            loss = (w * x * v).sum()
            loss.backward()
            optimizer.step()
            return loss

        def between(i):
            place = {3: first, 5: later}.get(i)
            if place is not None:
                w.grad = PLACES[place](w, v)

        return Program(step, lambda i: (batch(tg, i, 3),), lambda: (w, v, w.grad, v.grad), between)

    agree(program, calls=8)
