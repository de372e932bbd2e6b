"""Tensors from outside that a call makes part of a graph, or takes out of one: later backward passes go through it."""

import pytest
from side_by_side import Program, ramp

WRITES = {
    "add_": lambda tg, b, w: b.add_(w),
    "mul_": lambda tg, b, w: b.mul_(w),
    "an item": lambda tg, b, w: b.__setitem__(0, w[0] * 2),
    "a part": lambda tg, b, w: b[1:].copy_(w[1:] + 1),
    "a masked part": lambda tg, b, w: b.masked_fill_(b > 0, 1.5).mul_(w),
    "detach_": lambda tg, b, w: b.detach_(),
    "detach_, then a write": lambda tg, b, w: b.detach_().mul_(w),
}
BEFORE = {
    "nothing": lambda b: None,
    "detach_": lambda b: b.detach_(),
    "no history": lambda b: b.detach_().zero_(),
}
PLACES = ("closure", "list", "argument")


def program(tg, write, before, place, looks):
    w, b = ramp(tg, 3).requires_grad_(), ramp(tg, 3) + 1
    box, counted = [b], [0]
    x = ramp(tg, 3)

    def step(given):
        target = given if place == "argument" else box[0] if place == "list" else b
        WRITES[write](tg, target, w)
        if looks:
            counted[0] += 1

    def arguments(i):
        BEFORE[before](b)
        return (b if place == "argument" else x,)

    def state():
        gradient = tg.autograd.grad(b.sum(), w, retain_graph=True)[0] if b.requires_grad else None
        return [b, b.requires_grad, b.is_leaf, gradient, counted]

    return Program(step, arguments, state)


@pytest.mark.long(fast=41, by_size=True)
@pytest.mark.parametrize("looks", [False, True], ids=["", "counts"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("write", WRITES)
def test_the_history_is_the_eager_one(agree, write, before, place, looks):
    agree(lambda tg: program(tg, write, before, place, looks), calls=6)
