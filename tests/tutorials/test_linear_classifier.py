"""Fourth tutorial (shared/tutorials/003): the one-layer network with binary cross entropy, and Jacobian products."""

import numpy as np
import pytest
from expected.compare import FLOAT32_RTOL, assert_close

STEPS = 20


def network(tg):
    tg.manual_seed(7)
    x = tg.ones(5)
    y = tg.zeros(3)
    w = tg.randn((5, 3), requires_grad=True)
    b = tg.randn(3, requires_grad=True)
    return x, y, w, b


def bce_loss(tg, x, y, w, b):
    z = tg.matmul(x, w) + b
    return z, tg.nn.functional.binary_cross_entropy_with_logits(z, y)


def test_gradients_of_the_classifier(tg, call):
    def gradients(x, y, w, b):
        z, loss = bce_loss(tg, x, y, w, b)
        loss.backward()
        return z.detach(), loss.detach(), w.grad, b.grad

    z, loss, w_grad, b_grad = call(gradients, lambda: network(tg))
    logits = z.numpy().astype(np.float64)
    sigmoid = 1 / (1 + np.exp(-logits))
    # With y = 0 the loss is the mean of log(1 + exp z), its gradient sigmoid(z) / 3.
    assert_close(loss, np.log1p(np.exp(logits)).mean())
    assert_close(b_grad, sigmoid / 3)
    assert_close(w_grad, np.broadcast_to(sigmoid / 3, (5, 3)))


def test_gradient_functions_by_name(tg):
    z, loss = bce_loss(tg, *network(tg))
    assert type(z.grad_fn).__name__ == "AddBackward0"
    assert type(loss.grad_fn).__name__ == "BinaryCrossEntropyWithLogitsBackward0"


def test_descending_by_hand(tg, maybe_compile):
    """Twenty steps written with tensors only: the loss falls, compiled as eagerly.

    Compiled losses agree within 1e-5 relative: each step rounds some tens of times (6e-8 each) and the update
    contracts errors.
    """

    def train(step_wrapper):
        x, y, w, b = network(tg)

        def step(x, y):
            loss = bce_loss(tg, x, y, w, b)[1]
            loss.backward()
            with tg.no_grad():
                for parameter in (w, b):
                    parameter -= 0.1 * parameter.grad
                    parameter.grad.zero_()
            return loss.detach()

        step = step_wrapper(step)
        return [step(x, y).item() for _ in range(STEPS)]

    eager = train(lambda step: step)
    assert eager == sorted(eager, reverse=True) and eager[-1] < 0.5 * eager[0]
    np.testing.assert_allclose(train(maybe_compile), eager, rtol=FLOAT32_RTOL)


def test_a_second_backward_needs_retain_graph(tg):
    loss = bce_loss(tg, *network(tg))[1]
    loss.backward(retain_graph=True)
    loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()


def test_the_intermediate_has_no_gradient(tg):
    z, loss = bce_loss(tg, *network(tg))
    loss.backward()
    with pytest.warns(UserWarning, match="not a leaf Tensor"):
        assert z.grad is None


def test_requires_grad_switched_on_later(tg):
    x, y, w, b = network(tg)
    w, b = w.detach(), b.detach()
    assert not bce_loss(tg, x, y, w, b)[1].requires_grad
    w.requires_grad_(True)
    bce_loss(tg, x, y, w, b)[1].backward()
    assert w.grad.shape == (5, 3) and b.grad is None


def test_frozen_parameters_get_no_gradient(tg, call):
    model = tg.nn.Sequential(tg.nn.Linear(4, 3), tg.nn.Tanh(), tg.nn.Linear(3, 1))
    model[0].requires_grad_(False)

    def gradients(x):
        model.zero_grad()
        model(x).sum().backward()
        return [parameter.grad for parameter in model.parameters()]

    frozen_weight, frozen_bias, weight, bias = call(gradients, lambda: [tg.ones(2, 4)])
    assert frozen_weight is None and frozen_bias is None
    assert weight.shape == (1, 3)
    assert_close(bias, [2.0])


def test_control_flow_on_python_values(tg, call):
    def gradient(x):
        y = x
        for power in range(4):
            y = y * x if power % 2 else y + x
        y.sum().backward()
        return x.grad

    # y goes 2x, 2x², 2x² + x, 2x³ + x²
    assert_close(call(gradient, lambda: [tg.tensor([1.0, 2.0], requires_grad=True)]), [8.0, 28.0])


def test_control_flow_on_tensor_values_eagerly(tg):
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    y = x
    while y.norm() < 10:
        y = y * 2
    y.sum().backward()
    assert_close(x.grad, [8.0, 8.0])


TWOS_AND_FOURS = [[4.0 if row == column else 2.0 for column in range(5)] for row in range(4)]


def test_jacobian_products_accumulate(tg, call):
    def gradients():
        inp = tg.eye(4, 5, requires_grad=True)
        out = (inp + 1).pow(2).t()
        out.backward(tg.ones_like(out), retain_graph=True)
        first = inp.grad.clone()
        out.backward(tg.ones_like(out), retain_graph=True)
        second = inp.grad.clone()
        inp.grad.zero_()
        out.backward(tg.ones_like(out), retain_graph=True)
        return first, second, inp.grad

    first, second, after_zeroing = call(gradients)
    assert first.tolist() == TWOS_AND_FOURS
    assert second.tolist() == [[2 * entry for entry in row] for row in TWOS_AND_FOURS]
    assert after_zeroing.tolist() == TWOS_AND_FOURS


def test_printed_jacobian_product(tg):
    inp = tg.eye(4, 5, requires_grad=True)
    out = (inp + 1).pow(2).t()
    out.backward(tg.ones_like(out))
    assert repr(inp.grad) == (
        "tensor([[4., 2., 2., 2., 2.],\n"
        "        [2., 4., 2., 2., 2.],\n"
        "        [2., 2., 4., 2., 2.],\n"
        "        [2., 2., 2., 4., 2.]])"
    )


def test_transposed_output_takes_a_transposed_cotangent(tg):
    inp = tg.eye(4, 5, requires_grad=True)
    out = (inp + 1).pow(2).t()
    assert out.shape == (5, 4)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        out.backward(tg.ones_like(inp))


def test_returned_loss_is_the_eager_one(tg, call):
    def loss_of(x, y, w, b):
        loss = bce_loss(tg, x, y, w, b)[1]
        loss.backward()
        return loss

    assert call(loss_of, lambda: network(tg)).requires_grad is True
