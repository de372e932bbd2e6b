"""Second derivatives through tensors that have been cut off and have a history again: what hooks of saved tensors give
back, and what was computed in ``no_grad()`` and is written to with gradients."""

import pytest

from tracegrad.autograd.graph import saved_tensors_hooks

HOOKS = {
    "none": None,
    "the same": (lambda t: t, lambda t: t),
    "a clone": (lambda t: t.clone(), lambda t: t.clone()),
    "detached": (lambda t: t.detach(), lambda t: t),
}


def in_no_grad(tg, w):
    with tg.no_grad():
        t = w * 3
    return t.mul_(w)


WAYS = {
    "product": lambda tg, w: (w / 2) * w,
    "in place": lambda tg, w: (w / 2).mul_(w),
    "power": lambda tg, w: w**3,
    "exponential": lambda tg, w: w.exp() * w,
    "no_grad before": in_no_grad,
    "detached before": lambda tg, w: (w * 3).detach().mul_(w),
    "detached and a leaf": lambda tg, w: (w * 3).detach().requires_grad_() * w,
}


@pytest.mark.long(fast=13, by_size=True)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("hooks", HOOKS)
def test_second_derivatives_are_those_of_eager_mode(tg, hooks, way):
    def run(compile):
        weight = (tg.arange(6.0).reshape(2, 3) * 0.1 + 0.3).requires_grad_()

        def step(x):
            if HOOKS[hooks] is None:
                t = WAYS[way](tg, weight)
            else:
                with saved_tensors_hooks(*HOOKS[hooks]):
                    t = WAYS[way](tg, weight)
            return tg.autograd.grad((t * t * x).sum(), weight, create_graph=True)[0]

        step, found = compile(step), []
        for i in range(4):
            step(tg.ones(2, 3) + i).sum().backward()
            found.append(weight.grad.clone())
        return found

    for own, eager in zip(run(tg.compile), run(lambda step: step), strict=True):
        tg.testing.assert_close(own, eager)
