"""Norms of windows: also where a window holds nothing but zeros, as after a ReLU, and of infinite order."""

import itertools

import numpy as np
import pytest
from expected.compare import assert_close

AXES, ORDERS = (1, 2, 3), (1.0, 2.0, 3.0, float("inf"), -float("inf"))


def windows(space, kernel, stride):
    starts = (range(0, extent - kernel + 1, stride) for extent in space)
    return [tuple(slice(s, s + kernel) for s in at) for at in itertools.product(*starts)]


def norm_and_gradient(window, order):
    """The norm of numbers that are not negative; 0 has a gradient of 0, and of equal extremes the first has all."""
    if np.isinf(order):
        place = np.unravel_index((window.argmax if order > 0 else window.argmin)(), window.shape)
        gradient = np.zeros_like(window)
        gradient[place] = np.sign(window[place])
        return window[place], gradient
    norm = (window**order).sum() ** (1 / order)
    if norm == 0:
        return 0.0, np.zeros_like(window)
    return norm, (window / norm) ** (order - 1)


def expected(x, order, kernel, stride):
    norms, gradient = [], np.zeros_like(x)
    for channel, at in itertools.product(range(x.shape[0]), windows(x.shape[1:], kernel, stride)):
        norm, slopes = norm_and_gradient(x[(channel, *at)], order)
        norms.append(norm)
        gradient[(channel, *at)] += slopes
    return np.array(norms), gradient


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("order", ORDERS)
def test_windows_of_zeros(tg, axes, order):
    def step(x):
        x = x.detach().requires_grad_()
        norms = getattr(tg.nn.functional, f"lp_pool{axes}d")(x, order, kernel, stride)
        norms.sum().backward()
        return norms.detach(), x.grad

    for kernel, stride in ((1, 1), (2, 2), (3, 2)):
        compiled = tg.compile(step)
        for seed in range(3):
            numbers = np.maximum(np.random.default_rng(seed).standard_normal((3, *[5] * axes)), 0)
            numbers[seed] = 0
            norms, gradient = expected(numbers, order, kernel, stride)
            for run in (step, compiled):
                found, slopes = run(tg.tensor(numbers))
                assert_close(found.numpy().ravel(), norms, rtol=1e-11, atol=1e-12)
                assert_close(slopes.numpy(), gradient, rtol=1e-11, atol=1e-12)
