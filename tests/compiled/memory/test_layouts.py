"""Results lie in memory as they do in eager mode, and C writes them so where their axes are only turned."""

from itertools import permutations

import numpy as np
import pytest

import tracegrad as tg

SHAPES = [(3, 4, 5), (1, 4, 5), (3, 1, 5), (2, 0, 3), (7, 7, 7)]


def assert_same(found, expected):
    assert found.stride() == expected.stride()
    assert found.shape == expected.shape
    assert found.grad_fn is None or expected.grad_fn is not None
    np.testing.assert_array_equal(found.detach().numpy(), expected.detach().numpy())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", permutations(range(3)))
def test_results_have_the_strides_of_eager_mode(order, shape):
    def turned(x):
        y = x.permute(order) * 2
        return y, y + 1, {"flat": x + 1}, (x.permute(order) + 1).sum(0)

    x = tg.arange(float(np.prod(shape))).reshape(shape)
    compiled = tg.compile(turned)
    for _ in range(3):
        for found, expected in zip(_flat(compiled(x)), _flat(turned(x)), strict=True):
            assert_same(found, expected)
    assert compiled.way == "replay"


def _flat(results):
    y, z, more, total = results
    return y, z, more["flat"], total


@pytest.mark.parametrize("order", permutations(range(3)))
def test_results_with_a_history_have_them_too(order):
    w = tg.randn(3, 4, 5, requires_grad=True)

    def live(x):
        return (x * w).permute(order).exp(), (x * 2).permute(order)

    def spent(x):
        y = (x * w).permute(order) * 2
        y.sum().backward()
        w.grad = None
        return y

    x = tg.randn(3, 4, 5)
    compiled_live, compiled_spent = tg.compile(live), tg.compile(spent)
    for _ in range(3):
        for found, expected in zip(compiled_live(x), live(x), strict=True):
            assert found.stride() == expected.stride()
            np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-6)
        assert_same(compiled_spent(x), spent(x))
    found, _ = compiled_live(x)
    (found * tg.arange(found.shape[-1])).sum().backward()
    gradient, w.grad = w.grad, None
    (live(x)[0] * tg.arange(found.shape[-1])).sum().backward()
    np.testing.assert_allclose(gradient.numpy(), w.grad.numpy(), rtol=1e-6)


def test_a_turned_result_is_written_once():
    step = tg.compile(lambda x: x.t() + 1)
    step(tg.ones(2, 3))
    assert "for i0 < 6:" in str(step.schedule)  # the operand's own order is the result's


def test_images_in_channels_last_are_written_so():
    step = tg.compile(lambda x: (x * 2).relu())
    x = tg.randn(2, 3, 5, 7).to(memory_format=tg.channels_last)
    for _ in range(3):
        found = step(x)
        assert found.is_contiguous(memory_format=tg.channels_last)
        np.testing.assert_array_equal(found.numpy(), np.maximum(x.numpy() * 2, 0))


def test_a_turned_result_can_be_written_and_changed_in_place():
    step = tg.compile(lambda x: x.t() * 2)
    x = tg.arange(6.0).reshape(2, 3)
    step(x)
    first, second = step(x), step(x)
    first.add_(1)
    first.t()[0] = -1.0
    np.testing.assert_array_equal(second.numpy(), x.numpy().T * 2)
    np.testing.assert_array_equal(first.numpy(), [[-1, 7], [-1, 9], [-1, 11]])
