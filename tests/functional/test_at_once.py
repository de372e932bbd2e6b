"""What plain eager mode evaluates in one go: the values, gradients and bits of the chain of ops that it replaces."""

import itertools

import numpy as np
import pytest

import tracegrad as tg

NUMBERS = [-0.0, 0.0, 1.0, -1.0, float("nan"), float("inf"), -float("inf"), 2.0, 0.5]
BOUNDS = [None, 0, 0.0, -1, 1, 0.5, float("inf"), float("nan"), 1e30]


def by_ops(function, *tensors):
    """What the ops give: within a deferred block nothing is evaluated in one go."""
    with tg.deferred():
        return [x.numpy().copy() for x in function(*tensors)]


def in_one_go(function, *tensors):
    return [x.numpy() for x in function(*tensors)]


@pytest.mark.parametrize("dtype", [tg.float32, tg.float64])
@pytest.mark.parametrize("bounds", [pair for pair in itertools.product(BOUNDS, BOUNDS) if pair != (None, None)])
def test_clamp_has_the_bits_of_its_ops(dtype, bounds):
    def clamped():
        x = tg.tensor(NUMBERS, dtype=dtype, requires_grad=True)
        value = x.clamp(*bounds)
        value.backward(tg.ones_like(value))
        return value.detach(), x.grad, x.detach().clamp(*bounds)

    for found, expected in zip(in_one_go(clamped), by_ops(clamped), strict=True):
        np.testing.assert_array_equal(found, expected)
        kept = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found[kept]), np.signbit(expected[kept]))


def test_clamp_refuses_a_write_to_its_operand_before_the_backward_pass():
    x = tg.randn(5, requires_grad=True) * 1
    value = x.clamp(-1, 1)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.sum().backward()


def test_clamp_is_differentiated_twice():
    x = tg.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    (first,) = tg.autograd.grad((x.clamp(-1, 1) ** 3).sum(), x, create_graph=True)
    (second,) = tg.autograd.grad(first.sum(), x)
    np.testing.assert_allclose(second.numpy(), [0, 3, 0], rtol=1e-6)


@pytest.mark.parametrize("shape", [(4,), (4, 5), (4, 5, 3)])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_masks_pick_what_numpy_picks(shape, requires_grad):
    x = tg.randn(*shape, requires_grad=requires_grad)
    for axes in range(1, len(shape) + 1):
        mask = tg.randn(*shape[:axes]) > 0
        picked = x[mask]
        np.testing.assert_array_equal(picked.detach().numpy(), x.detach().numpy()[mask.numpy()])
        assert picked.requires_grad == requires_grad
        with tg.no_grad():
            x[mask].add_(1)  # a copy: nothing happens to x
        np.testing.assert_array_equal(picked.detach().numpy(), x.detach().numpy()[mask.numpy()])


@pytest.mark.parametrize("mask", [tg.zeros(3, dtype=tg.bool), tg.zeros(4, 6, dtype=tg.bool)])
def test_masks_of_other_shapes_are_refused(mask):
    with pytest.raises(IndexError):
        tg.randn(4, 5)[mask]


@pytest.mark.parametrize("count", [1, 2, 6])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_stack_joins_along_a_new_axis(count, dim):
    parts = [tg.randn(2, 3) for _ in range(count)]
    np.testing.assert_array_equal(tg.stack(parts, dim).numpy(), np.stack([x.numpy() for x in parts], dim))
    parts[0].requires_grad_()
    assert tg.stack(parts, dim).requires_grad
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        tg.stack([*parts, tg.randn(2, 4)], dim)
