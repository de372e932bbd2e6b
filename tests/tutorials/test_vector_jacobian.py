"""Third tutorial (shared/tutorials/002): leaves, grad_fn, and the argument of backward."""

import pytest
from expected.compare import assert_close


def test_the_graph_is_made_while_the_forward_pass_runs(tg):
    x = tg.tensor(1.0, requires_grad=True)
    z = x * tg.tensor(2.0)
    assert z.grad_fn is not None and x.grad is None
    (function, _), (nothing, _) = z.grad_fn.next_functions
    assert function.variable is x and nothing is None


def test_every_run_may_build_another_graph(tg):
    x = tg.tensor(2.0, requires_grad=True)
    for exponent, gradient in ((2, 4.0), (3, 12.0)):
        x.grad = None
        y = tg.tensor(1.0)
        for _ in range(exponent):
            y = y * x
        y.backward()
        assert_close(x.grad, gradient)


def test_requires_grad_set_later(tg):
    a = tg.randn(2, 2)
    a = (a * 3) / (a - 1)
    assert a.requires_grad is False
    a.requires_grad_(True)
    assert a.requires_grad is True
    a.requires_grad = False
    assert a.requires_grad is False


def test_requires_grad_underscore_defaults_to_true(tg):
    # The tutorial's text says False.
    x = tg.ones(2)
    assert x.requires_grad_() is x
    assert x.requires_grad is True


def test_grad_is_none_until_backward(tg):
    x, y = tg.tensor(1.0), tg.tensor(1.0, requires_grad=True)
    assert x.grad is None and y.grad is None
    (x * y).backward()
    assert x.grad is None and y.grad is not None


def test_grad_fn_has_the_name_of_the_operation(tg):
    a = tg.ones(2, 2, requires_grad=True)
    assert repr((a * a).grad_fn).startswith("<MulBackward0 object at 0x")
    assert a.grad_fn is None


def test_what_is_a_leaf(tg):
    created = tg.tensor(1.0)
    untracked_result = created * 2
    tracked = tg.tensor(1.0, requires_grad=True)
    assert created.is_leaf and untracked_result.is_leaf and tracked.is_leaf
    assert not (tracked * 2).is_leaf
    assert (tracked * 2).detach().is_leaf


def test_ways_out_of_the_graph(tg):
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    assert y.detach().numpy().tolist() == [2.0, 4.0]
    assert y.tolist() == [2.0, 4.0]
    assert y.sum().item() == 6.0
    # The tutorial lists numpy() as one of them; PyTorch wants detach() first.
    with pytest.raises(RuntimeError, match=r"Use tensor.detach\(\).numpy\(\) instead"):
        y.numpy()


def test_no_grad_block(tg):
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    with tg.no_grad():
        y = x * 2
    assert not y.requires_grad and y.grad_fn is None and y.is_leaf


def test_capital_tensor_takes_neither_a_number_nor_requires_grad(tg):
    # The tutorial's example raises in PyTorch, too; `tensor` is what it means.
    with pytest.raises(TypeError):
        tg.Tensor(1.0, requires_grad=True)
    with pytest.raises(TypeError):
        tg.Tensor(2.0)


def test_gradient_goes_to_the_leaf_that_requires_it(tg, call):
    def gradients(x, y):
        z = x * y
        z.backward()
        return x.grad, y.grad, z.requires_grad

    x_grad, y_grad, tracked = call(gradients, lambda: [tg.tensor(1.0, requires_grad=True), tg.tensor(2.0)])
    assert_close(x_grad, 2.0)
    assert y_grad is None and tracked is True


def test_backward_passes_one_by_default(tg, call):
    def gradients(x):
        (x * 2).backward()
        implicit = x.grad.clone()
        x.grad = None
        (x * 2).backward(tg.tensor(1.0))
        return implicit, x.grad

    implicit, explicit = call(gradients, lambda: [tg.tensor(1.0, requires_grad=True)])
    assert_close(implicit, 2.0)
    assert_close(explicit, 2.0)


def test_the_cotangent_has_the_shape_of_the_output(tg):
    # The tutorial says: of the tensor whose gradient is calculated.
    w = tg.ones(3, 2, requires_grad=True)
    x = tg.ones(4, 3)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x @ w).backward(tg.ones(3, 2))
    (x @ w).backward(tg.ones(4, 2))
    assert_close(w.grad, [[4.0, 4.0]] * 3)


def test_scalar_chain(tg, call):
    def gradient():
        a = tg.tensor(1.0, requires_grad=True)
        b = a + 2
        c = a * b
        c.backward()
        return a.grad

    assert repr(call(gradient)) == "tensor(4.)"


def quadratic(x):
    y = x * 2
    return y * y * 2


def test_vector_result_prints_its_grad_fn(tg):
    x = tg.ones(3, requires_grad=True)
    assert f"f(x): {quadratic(x)}" == "f(x): tensor([8., 8., 8.], grad_fn=<MulBackward0>)"


def test_weighted_cotangent(tg, call):
    def gradient(x):
        v = tg.tensor([1, 2, 3], dtype=tg.float)
        quadratic(x).backward(v, retain_graph=True)
        return x.grad

    assert repr(call(gradient, lambda: [tg.ones(3, requires_grad=True)])) == "tensor([16., 32., 48.])"


def test_autograd_backward_with_grad_tensors(tg, call):
    def gradient(x):
        v = tg.tensor([1, 2, 3], dtype=tg.float)
        tg.autograd.backward(quadratic(x), grad_tensors=v, retain_graph=True)
        return x.grad

    assert_close(call(gradient, lambda: [tg.ones(3, requires_grad=True)]), [16.0, 32.0, 48.0])


def test_unit_cotangent_after_zeroing(tg, call):
    def gradient(x):
        quadratic(x).backward(tg.tensor([1, 2, 3], dtype=tg.float), retain_graph=True)
        x.grad.zero_()
        unit_tensor = tg.ones(3, dtype=tg.float)
        quadratic(x).backward(unit_tensor, retain_graph=True)
        return x.grad

    assert repr(call(gradient, lambda: [tg.ones(3, requires_grad=True)])) == "tensor([16., 16., 16.])"


def test_rows_of_the_jacobian(tg):
    x = tg.ones(3, requires_grad=True)
    z = quadratic(x)
    rows = [tg.autograd.grad(z, x, unit, retain_graph=True)[0].tolist() for unit in tg.eye(3)]
    assert rows == [[16.0, 0.0, 0.0], [0.0, 16.0, 0.0], [0.0, 0.0, 16.0]]
