"""First tutorial (shared/tutorials/000): the computation graph, backward, and how to switch tracking off."""

from math import pi

import pytest
from expected.compare import assert_close


def linear_inputs(tg):
    x = tg.ones(1, 5)
    w = tg.randn(5, 3, requires_grad=True)
    b = tg.randn(1, 3, requires_grad=True)
    return x, w, b


def half_squared_error(tg, y_pred, y):
    return tg.sum(1 / 2 * (y_pred - y) ** 2)


def test_inputs_are_leaves_and_the_loss_is_the_root(tg):
    x, w, b = linear_inputs(tg)
    y = tg.zeros(1, 3)
    loss = half_squared_error(tg, tg.matmul(x, w) + b, y)
    assert x.is_leaf and w.is_leaf and b.is_leaf and y.is_leaf
    assert not loss.is_leaf and loss.requires_grad
    assert not x.requires_grad and not y.requires_grad


def test_gradients_of_weight_and_bias(tg, call):
    def gradients(x, w, b):
        z = tg.matmul(x, w) + b
        half_squared_error(tg, z, tg.zeros(1, 3)).backward()
        return z.detach(), w.grad, b.grad

    z, w_grad, b_grad = call(gradients, lambda: [tg.manual_seed(1), *linear_inputs(tg)][1:])
    assert_close(b_grad, z)
    assert_close(w_grad, z.expand(5, 3))


def test_retain_grad_shows_the_gradient_of_a_non_leaf(tg, call):
    def gradients():
        n1 = tg.tensor(pi / 2, requires_grad=True)
        n2 = tg.sin(n1)
        n2.retain_grad()
        n3 = tg.pow(n2, 2)
        n3.backward()
        return n1.grad, n2.grad

    n1_grad, n2_grad = call(gradients)
    # cos of the float32 nearest to pi/2 is not zero: a library that computes in float64 prints another number.
    assert repr(n1_grad) == "tensor(-8.7423e-08)"
    assert repr(n2_grad) == "tensor(2.)"


def test_a_non_leaf_has_no_gradient_by_default(tg):
    n1 = tg.tensor(pi / 2, requires_grad=True)
    n2 = tg.sin(n1)
    tg.pow(n2, 2).backward()
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert n2.grad is None


def test_second_backward_needs_retain_graph(tg):
    n1 = tg.tensor(10.0, requires_grad=True)
    n2 = tg.pow(n1, 2)
    n2.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        n2.backward()
    assert_close(n1.grad, 20.0)


def test_second_backward_is_allowed_where_nothing_was_freed(tg):
    n1 = tg.tensor(10.0, requires_grad=True)
    n2 = n1 + 2
    n2.backward()
    n2.backward()
    assert_close(n1.grad, 2.0)


def test_retain_graph_lets_gradients_accumulate(tg, call):
    def gradients():
        n1 = tg.tensor(10.0, requires_grad=True)
        n2 = tg.pow(n1, 2)
        n2.backward(retain_graph=True)
        first = n1.grad.clone()
        n2.backward()
        return first, n1.grad

    first, second = call(gradients)
    assert repr(first) == "tensor(20.)"
    assert repr(second) == "tensor(40.)"


def test_zero_clears_the_gradient(tg, call):
    def gradients():
        n1 = tg.tensor(10.0, requires_grad=True)
        n2 = tg.pow(n1, 2)
        n2.backward(retain_graph=True)
        first = n1.grad.clone()
        n1.grad.zero_()
        n2.backward()
        return first, n1.grad

    first, second = call(gradients)
    assert repr(first) == "tensor(20.)"
    assert repr(second) == "tensor(20.)"


def test_no_grad_and_detach_stop_tracking(tg, call):
    def flags(x, w, b):
        tracked = tg.matmul(x, w) + b
        with tg.no_grad():
            untracked = tg.matmul(x, w) + b
        return tracked.requires_grad, untracked.requires_grad, tracked.detach().requires_grad

    assert call(flags, lambda: linear_inputs(tg)) == (True, False, False)


def test_detached_result_is_a_leaf_that_shares_memory(tg):
    x, w, b = linear_inputs(tg)
    z = tg.matmul(x, w) + b
    z_det = z.detach()
    assert z_det.is_leaf and z_det.grad_fn is None
    assert z_det.data_ptr() == z.data_ptr()


def test_backward_of_a_vector_needs_a_cotangent(tg):
    x = tg.randn(1, 2, requires_grad=True)
    y = 3 * x + 1
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        y.backward()


def test_backward_of_the_sum(tg, call):
    def gradient(x):
        y = 3 * x + 1
        y = y.sum()
        y.backward()
        return x.grad

    assert repr(call(gradient, lambda: [tg.randn(1, 2, requires_grad=True)])) == "tensor([[3., 3.]])"


def test_vector_jacobian_product(tg, call):
    def gradient(x):
        y = 3 * x + 1
        y.backward(tg.ones_like(y))
        return x.grad

    assert repr(call(gradient, lambda: [tg.randn(1, 2, requires_grad=True)])) == "tensor([[3., 3.]])"


def test_the_cotangent_weights_the_rows_of_the_jacobian(tg, call):
    def gradient(x, v):
        (3 * x + 1).backward(v)
        return x.grad

    weighted = call(gradient, lambda: [tg.randn(1, 2, requires_grad=True), tg.tensor([[1.0, 10.0]])])
    assert_close(weighted, [[3.0, 30.0]])
