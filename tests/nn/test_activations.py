"""Activations: values and gradients (stored; see expected/activations.py)."""

import pytest
from expected.activations import ARRAYS, EXPRESSIONS
from expected.compare import assert_close, load
from expected.programs import leaves, program, stored_case

STORED = load("activations")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_activation(tg, call, expression):
    found, expected = call(program(tg, expression, ARRAYS), lambda: leaves(tg, ARRAYS)), stored_case(STORED, expression)
    assert found.keys() == expected.keys()
    for name in expected:
        assert_close(found[name], expected[name])


def test_in_place_relu_changes_its_input(tg):
    x = tg.tensor([-1.0, 1.0])
    assert tg.nn.ReLU(inplace=True)(x) is x and x.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("name", ["Tanh", "Sigmoid", "GELU", "SiLU", "Softplus", "ELU", "LogSoftmax"])
def test_double_precision_second_derivative(tg, name):
    options = {"dim": 0} if name == "LogSoftmax" else {}
    activation = getattr(tg.nn, name)(**options)
    x = tg.tensor([0.3, -0.7, 1.9], dtype=tg.float64, requires_grad=True)

    def slope(x):
        return tg.autograd.grad((activation(x) * tg.tensor([1.0, 2.0, 3.0])).sum(), x, create_graph=True)[0]

    direction = tg.tensor([0.5, -1.0, 0.25], dtype=tg.float64)
    (second,) = tg.autograd.grad((slope(x) * direction).sum(), x)
    step = 1e-5
    ahead, behind = (slope((x + sign * step * direction).detach().requires_grad_()) for sign in (1, -1))
    # Central differences err by step² times the fourth derivative, and by 1e-16 / step in rounding: below 1e-9 here.
    assert_close(second, (ahead - behind).detach() / (2 * step), rtol=1e-7, atol=1e-8)
