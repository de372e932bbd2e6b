"""backward, autograd.backward and autograd.grad: roots, cotangents, kept graphs, higher derivatives."""

import numpy as np
import pytest
from expected.compare import assert_close


def leaf(tg, *values):
    return tg.tensor(list(values), requires_grad=True)


def test_a_tensor_used_many_times_collects_all_contributions(tg, call):
    def gradient(x):
        (x * x + x * 3 + x.sum()).sum().backward()
        return x.grad

    assert_close(call(gradient, lambda: [leaf(tg, 1.0, 2.0)]), [7.0, 9.0])


def test_a_graph_that_splits_and_joins(tg, call):
    def gradient(x):
        for _ in range(20):
            x = x + x
        return x

    def run(x):
        gradient(x).sum().backward()
        return x.grad

    # The number of paths doubles at each step; a backward pass that walks paths, not nodes, would not end.
    assert_close(call(run, lambda: [leaf(tg, 1.0)]), [2.0**20])


def test_a_deep_graph_needs_no_recursion(tg):
    x = leaf(tg, 1.0)
    y = x
    for _ in range(5000):
        y = y + 1
    y.backward()
    assert x.grad.tolist() == [1.0]


def test_backward_of_an_untracked_tensor(tg):
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        tg.ones(1).backward()


def test_backward_of_a_leaf_gives_one(tg):
    x = tg.tensor(3.0, requires_grad=True)
    x.backward()
    assert x.grad.item() == 1.0


def test_cotangent_of_another_shape(tg):
    x = leaf(tg, 1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of"):
        (x * 2).backward(tg.ones(3))


def test_second_backward_with_saved_values(tg):
    x = leaf(tg, 2.0)
    y = x * x
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time") as caught:
        y.backward()
    assert "retain_graph=True" in str(caught.value)


@pytest.mark.parametrize("saves_nothing", ["x + 1", "-x", "3 - x", "x.sum()", "x.view(1)", "x.clone()", "x.mean()"])
def test_second_backward_without_saved_values(tg, saves_nothing):
    x = leaf(tg, 2.0)
    y = eval(saves_nothing, {"x": x})
    y.backward()
    y.backward()
    assert x.grad.item() == (-2.0 if "-" in saves_nothing else 2.0)


@pytest.mark.parametrize(
    "saves", ["x * x", "x * 2", "x / 2", "x ** 2", "x.exp()", "x.sin()", "x / x", "x @ x", "x.relu()", "x.tanh()"]
)
def test_second_backward_with_freed_values(tg, saves):
    x = leaf(tg, 2.0)
    y = eval(saves, {"x": x})
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_a_shared_part_is_freed_too(tg):
    x = leaf(tg, 2.0)
    shared = x.exp()
    (shared * 2).backward()
    with pytest.raises(RuntimeError, match="second time"):
        (shared * 3).backward()


def test_retain_graph_keeps_all(tg, call):
    def gradient(x):
        y = (x * x).sum()
        for _ in range(3):
            y.backward(retain_graph=True)
        y.backward()
        return x.grad

    assert_close(call(gradient, lambda: [leaf(tg, 1.0, 3.0)]), [8.0, 24.0])


def test_several_roots(tg, call):
    def gradients(x, y):
        tg.autograd.backward([(x * y).sum(), x.exp()], [None, tg.tensor([1.0, 10.0])])
        return x.grad, y.grad

    x_grad, y_grad = call(gradients, lambda: [leaf(tg, 0.0, 0.0), leaf(tg, 2.0, 3.0)])
    assert_close(x_grad, [3.0, 13.0])
    assert_close(y_grad, [0.0, 0.0])


def test_backward_into_chosen_inputs(tg):
    x, y = leaf(tg, 2.0), leaf(tg, 3.0)
    (x * y).backward(inputs=[x])
    assert x.grad.item() == 3.0 and y.grad is None


def test_grad_returns_and_does_not_store(tg, call):
    def gradients(x, y):
        return tg.autograd.grad((x * y).sum(), (x, y))

    x, y = leaf(tg, 2.0), leaf(tg, 3.0)
    assert call(gradients, lambda: [x, y]) == (tg.tensor([3.0]), tg.tensor([2.0]))
    assert x.grad is None and y.grad is None


def test_grad_with_respect_to_a_non_leaf(tg):
    x = leaf(tg, 2.0)
    y = x * 3
    (gradient,) = tg.autograd.grad((y * y).sum(), y)
    assert gradient.item() == 12.0


def test_grad_of_several_outputs(tg, call):
    def gradient(x):
        return tg.autograd.grad([x.sum(), (x * x)], x, [None, tg.tensor([1.0, 2.0])])[0]

    assert_close(call(gradient, lambda: [leaf(tg, 1.0, 2.0)]), [3.0, 9.0])


def test_grad_wants_scalar_outputs(tg):
    x = leaf(tg, 1.0, 2.0)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        tg.autograd.grad(x * 2, x)


def test_unused_input(tg):
    x, unused = leaf(tg, 1.0), leaf(tg, 1.0)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph. Set allow_unused=True"):
        tg.autograd.grad(x * 2, [x, unused])
    gradient, nothing = tg.autograd.grad(x * 2, [x, unused], allow_unused=True)
    assert gradient.item() == 2.0 and nothing is None


def test_untracked_input(tg):
    x, constant = leaf(tg, 1.0), tg.ones(1)
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        tg.autograd.grad(x * 2, constant)


def test_second_derivative(tg, call):
    def derivatives(x):
        y = x**3
        (first,) = tg.autograd.grad(y.sum(), x, create_graph=True)
        (second,) = tg.autograd.grad(first.sum(), x, create_graph=True)
        (third,) = tg.autograd.grad(second.sum(), x)
        return first.detach(), second.detach(), third

    first, second, third = call(derivatives, lambda: [leaf(tg, 1.0, 2.0)])
    assert_close(first, [3.0, 12.0])
    assert_close(second, [6.0, 12.0])
    assert_close(third, [6.0, 6.0])


def test_gradient_penalty(tg, call):
    def penalty(x, w):
        y = tg.tanh(x @ w).sum()
        (gradient,) = tg.autograd.grad(y, x, create_graph=True)
        loss = ((gradient.norm(2, dim=1) - 1) ** 2).mean()
        loss.backward()
        return loss.detach(), w.grad

    x, w = np.array([[0.5, -0.2]]), np.array([[0.3], [0.7]])
    loss, gradient = call(penalty, lambda: [tg.tensor(v, dtype=tg.float32, requires_grad=True) for v in (x, w)])

    def analytic(w):
        return ((1 - np.tanh(x @ w).item() ** 2) * np.linalg.norm(w) - 1) ** 2

    assert_close(loss, analytic(w))
    step = 1e-6 * np.eye(2)[:, :, None]
    differences = [[(analytic(w + h) - analytic(w - h)) / 2e-6] for h in step]
    assert_close(gradient, differences)


def test_first_gradient_without_create_graph_is_untracked(tg):
    x = leaf(tg, 2.0)
    (gradient,) = tg.autograd.grad(x * x, x)
    assert not gradient.requires_grad
    (gradient,) = tg.autograd.grad(x * x, x, create_graph=True)
    assert gradient.requires_grad


def test_gradient_through_an_update(tg):
    # One step of gradient descent, differentiated: d/dlr of loss(w - lr * loss'(w)).
    w, rate = leaf(tg, 3.0), tg.tensor(0.1, requires_grad=True)
    (gradient,) = tg.autograd.grad((w**2).sum(), w, create_graph=True)
    ((w - rate * gradient) ** 2).sum().backward()
    assert_close(rate.grad, 2 * (3 - 0.6) * -6)


def test_keep_gradients_out_of_integer_paths(tg):
    x = leaf(tg, 1.5, 2.5)
    (x * x.long()).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("retained", [False, True])
@pytest.mark.parametrize("names", ["y", "yy", "ay", "yay"])
def test_gradients_of_inputs_are_stored_once(tg, names, retained):
    """Of one that is named twice, and of one that retains its gradient anyway."""
    leaf = tg.ones(2, requires_grad=True)
    inner = leaf * 1.0
    if retained:
        inner.retain_grad()
    for count in (1, 2):
        (inner * 3).sum().backward(inputs=[{"a": leaf, "y": inner}[name] for name in names], retain_graph=True)
        assert inner.grad.tolist() == [3 * count] * 2
        assert leaf.grad is None if "a" not in names else leaf.grad.tolist() == [3 * count] * 2
