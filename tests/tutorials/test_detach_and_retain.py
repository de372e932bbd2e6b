"""Second tutorial (shared/tutorials/001): mean squared errors, detach, and retain_graph."""

import warnings

import pytest
from expected.compare import assert_close


def vector(tg):
    return [tg.tensor([1.0, 2.0, 3.0], requires_grad=True)]


def test_printed_leaf(tg):
    assert repr(vector(tg)[0]) == "tensor([1., 2., 3.], requires_grad=True)"


def test_requires_grad_is_false_by_default(tg):
    assert tg.tensor([1.0, 2.0, 3.0]).requires_grad is False


def test_mean_squared_error_of_x_and_its_square(tg, call):
    def loss_and_gradient(x):
        y = x * x
        out = tg.nn.MSELoss()(x, y)
        out.backward()
        return out.detach(), x.grad

    out, gradient = call(loss_and_gradient, lambda: vector(tg))
    assert repr(out) == "tensor(13.3333)"
    # d/dx (x - x²)² / 3 = 2 (x - x²) (1 - 2 x) / 3
    assert_close(gradient, [0.0, 4.0, 20.0])


def test_the_loss_names_its_backward_function(tg):
    (x,) = vector(tg)
    out = tg.nn.MSELoss()(x, x * x)
    # The tutorial's library prints another name; this is PyTorch's.
    assert repr(out) == "tensor(13.3333, grad_fn=<MseLossBackward0>)"


def test_only_a_scalar_has_an_implicit_backward(tg):
    (x,) = vector(tg)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        (x * x).backward()


def test_one_element_counts_as_a_scalar(tg, call):
    def gradient(x):
        (x * 5).backward()
        return x.grad

    assert_close(call(gradient, lambda: [tg.ones(1, 1, requires_grad=True)]), [[5.0]])


def test_leaf_gradients_are_kept_after_backward(tg, call):
    def accumulated(x):
        for _ in range(3):
            (x * x).sum().backward()
        return x.grad

    assert_close(call(accumulated, lambda: vector(tg)), [6.0, 12.0, 18.0])


def test_optimizer_zero_grad_ends_the_accumulation(tg, maybe_compile):
    w = tg.nn.Parameter(tg.tensor([1.0, 2.0]))
    optimizer = tg.optim.SGD([w], lr=0.5)

    def step(x):
        optimizer.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    step = maybe_compile(step)
    losses = [step(tg.tensor([1.0, 1.0])).item() for _ in range(4)]
    assert losses == [3.0, 2.0, 1.0, 0.0]
    assert_close(w.grad, [1.0, 1.0])


def test_every_branch_contributes_to_the_gradient(tg, call):
    def loss_and_gradient(x):
        y = x * x
        z = x**3
        out = tg.nn.MSELoss()(x, y + z)
        out.backward()
        return out.detach(), x.grad

    out, gradient = call(loss_and_gradient, lambda: vector(tg))
    assert repr(out) == "tensor(396.6667)"
    assert repr(gradient) == "tensor([  2.6667, 100.0000, 704.0000])"


def test_detach_cuts_its_branch_out_of_the_gradient(tg, call):
    def loss_and_gradient(x):
        y = x * x
        z = x.detach() ** 3
        out = tg.nn.MSELoss()(x, y + z)
        out.backward()
        return out.detach(), x.grad

    out, gradient = call(loss_and_gradient, lambda: vector(tg))
    assert repr(out) == "tensor(396.6667)"
    assert repr(gradient) == "tensor([  0.6667,  20.0000, 110.0000])"


def test_detach_between_two_models_trains_the_second_only(tg, call):
    first = tg.nn.Linear(3, 2)
    second = tg.nn.Linear(2, 1)

    def gradients(x):
        second.zero_grad()
        second(first(x).detach()).sum().backward()
        return second.weight.grad, first.weight.grad, first.bias.grad

    second_grad, first_weight_grad, first_bias_grad = call(gradients, lambda: [tg.ones(4, 3)])
    assert first_weight_grad is None and first_bias_grad is None
    assert second_grad.shape == (1, 2)


def product(tg):
    return tg.tensor(2.0, requires_grad=True), tg.tensor(3.0, requires_grad=True)


def test_retain_graph_allows_a_second_gradient(tg, call):
    def gradients(x, y):
        z = x * y
        x_grad = tg.autograd.grad(z, x, retain_graph=True)
        y_grad = tg.autograd.grad(z, y)
        return x_grad[0], y_grad[0], x.grad

    x_grad, y_grad, stored = call(gradients, lambda: product(tg))
    assert repr(x_grad) == "tensor(3.)" and repr(y_grad) == "tensor(2.)"
    assert stored is None


def test_without_retain_graph_the_second_gradient_is_an_error(tg):
    x, y = product(tg)
    z = x * y
    tg.autograd.grad(z, x)
    with pytest.raises(RuntimeError, match="Specify retain_graph=True"):
        tg.autograd.grad(z, y)


def test_retain_graph_does_not_show_the_gradient_of_a_non_leaf(tg):
    # The tutorial's text says that it does (and writes requires_grad=True where its code has retain_graph=True).
    x, y = product(tg)
    z = x * y
    (z * z).backward(retain_graph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert z.grad is None
    z.retain_grad()
    (z * z).backward()
    assert_close(z.grad, 12.0)
