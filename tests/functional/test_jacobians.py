"""autograd.functional: Jacobians and Hessians whose values are known."""

import pytest


def test_jacobian_of_an_elementwise_function_is_diagonal(tg):
    x = tg.tensor([1.0, 2.0, 3.0])
    found = tg.autograd.functional.jacobian(lambda x: x**2, x)
    assert found.tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]] and not found.requires_grad


def test_jacobian_with_several_inputs_and_outputs(tg):
    a, b = tg.tensor([1.0, 2.0]), tg.tensor(3.0)
    (to_a, to_b), (none, two) = tg.autograd.functional.jacobian(lambda a, b: (a * b, 2 * b), (a, b))
    assert to_a.tolist() == [[3.0, 0.0], [0.0, 3.0]] and to_b.tolist() == [1.0, 2.0]
    assert none.tolist() == [0.0, 0.0] and two.item() == 2.0


def test_hessian_of_a_quadratic_form(tg):
    m = tg.tensor([[1.0, 2.0], [3.0, 4.0]])
    found = tg.autograd.functional.hessian(lambda x: x @ m @ x, tg.tensor([5.0, 6.0]))
    assert found.tolist() == [[2.0, 5.0], [5.0, 8.0]]


def test_hessian_wants_a_single_element(tg):
    with pytest.raises(RuntimeError, match="should contain a single element"):
        tg.autograd.functional.hessian(lambda x: x * x, tg.ones(2))


def test_products_with_vectors(tg):
    m, x = tg.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tg.tensor([1.0, -1.0])
    value, product = tg.autograd.functional.vjp(lambda x: m @ x, x, tg.tensor([1.0, 0.0, 2.0]))
    assert value.tolist() == [-1.0, -1.0, -1.0] and product.tolist() == [11.0, 14.0]
    _, product = tg.autograd.functional.jvp(lambda x: (m @ x) ** 2, x, tg.tensor([1.0, 0.0]))
    assert product.tolist() == [-2.0, -6.0, -10.0]
