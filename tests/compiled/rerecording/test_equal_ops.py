"""Backward passes through ops that are equal, of which some are the last of a composite and keep more for it; and
gradients that leaves share for some of the passes."""

import itertools
import time

import numpy as np
import pytest

import tracegrad as tg

F = tg.nn.functional

FORMS = {
    "squares": [lambda x, w: F.mse_loss(x @ w, x), lambda x, w: ((x @ w - x) ** 2).mean()],
    "linear": [lambda x, w: F.linear(x, w.t()).sum(), lambda x, w: (x @ w).sum()],
    "softmax": [lambda x, w: (F.softmax(x @ w, -1) * x).sum(), lambda x, w: ((x @ w).softmax(-1) * x.detach()).sum()],
    "modes": [
        lambda x, w: (F.batch_norm(x @ w, MEAN, VAR, training=True) * x).sum(),
        lambda x, w: (F.batch_norm(x @ w, MEAN, VAR, training=False) * x).sum(),
    ],
    "norms": [
        lambda x, w: (F.layer_norm(x @ w, (3,)) * x).sum(),
        lambda x, w: (F.group_norm(x @ w, 1) * x).sum(),
        lambda x, w: (F.rms_norm(x @ w, (3,)) * x).sum(),
    ],
    "absolute": [lambda x, w: F.l1_loss(x @ w, x), lambda x, w: (x @ w - x).abs().mean()],
    "sigmoid": [
        lambda x, w: F.binary_cross_entropy_with_logits(x @ w, x.sigmoid()),
        lambda x, w: F.binary_cross_entropy((x @ w).sigmoid(), x.sigmoid()),
    ],
    "gates": [lambda x, w: F.silu(x @ w).sum(), lambda x, w: ((x @ w) * (x @ w).sigmoid()).sum()],
}
MEAN, VAR = tg.zeros(3), tg.ones(3)


def gradients(forms, wrap, keeps):
    """Of twelve passes, whose form changes now and then, with new gradients or with those of before added to."""
    tg.manual_seed(0)
    MEAN.zero_()
    VAR.fill_(1.0)
    weight, found = tg.randn(3, 3, requires_grad=True), []

    def step(x, form):
        time.perf_counter()
        form(x, weight).backward()

    step = wrap(step)
    for i in range(12):
        step(tg.randn(4, 3), forms[i // 3 % len(forms)])
        found.append(weight.grad.numpy().copy())
        if not keeps:
            weight.grad = None
    return found


@pytest.mark.parametrize("keeps", [False, True], ids=["new", "added"])
@pytest.mark.parametrize("name", FORMS)
def test_forms_of_one_function_in_turn(name, keeps):
    expected = gradients(FORMS[name], lambda step: step, keeps)
    for given, wanted in zip(gradients(FORMS[name], tg.compile, keeps), expected, strict=True):
        np.testing.assert_allclose(given, wanted, rtol=1e-4, atol=1e-5)  # roundings of float32, of sums up to 100


def shared(a, b, c):
    a.grad = b.grad = c.grad


def first_two(a, b, c):
    a.grad, c.grad = b.grad, c.grad.clone()


def of_views(a, b, c):
    a.grad, b.grad = c.grad.detach(), c.grad.view(-1).view(3)


def apart(a, b, c):
    a.grad, b.grad, c.grad = (each.grad.clone() for each in (a, b, c))


CHANGES = [shared, first_two, of_views, apart]


@pytest.mark.parametrize("order", [*itertools.permutations(CHANGES)], ids=lambda fs: "-".join(f.__name__ for f in fs))
def test_gradients_that_are_shared_for_some_passes(order):
    def run(wrap):
        leaves, found = [tg.ones(3, requires_grad=True) for _ in range(3)], []
        for leaf in leaves:
            leaf.grad = tg.zeros(3)

        def step(x):
            time.perf_counter()
            a, b, c = leaves
            (a * x + b * x * 2 + c * x * 4).sum().backward()

        step = wrap(step)
        for i in range(16):
            if i % 4 == 0:
                order[i // 4](*leaves)
            step(tg.full((3,), 1.0 + i % 3))
            found.append([leaf.grad.tolist() for leaf in leaves])
        return found

    assert run(tg.compile) == run(lambda step: step)  # small whole numbers
