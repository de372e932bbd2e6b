"""Derivatives of functions of complex numbers: PyTorch's, from what they must be by definition."""

import pytest

import tracegrad as tg

X = tg.tensor([1 + 2j, 0.5 - 1j], dtype=tg.complex128)
V = tg.tensor([2 - 1j, 1j], dtype=tg.complex128)
R = tg.tensor([1.0, 2.0], dtype=tg.float64)
FUNCTIONS = {
    "square": lambda x: x * x * (1 + 3j),
    "conj": lambda x: x.conj() * 2j,
    "real": lambda x: x.real * 2,
    "abs": lambda x: x.abs(),
    "mixed": lambda x: x.conj() * x * x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_forward_and_reverse_mode_agree_with_differences(name):
    f, step = FUNCTIONS[name], 1e-6
    change = (f(X + step * V) - f(X - step * V)) / (2 * step)
    for found in (
        tg.func.jvp(f, (X,), (V,))[1],
        tg.autograd.functional.jvp(f, X, V)[1],
        tg.func.linearize(f, X)[1](V),
    ):
        assert found.dtype is change.dtype and tg.allclose(found, change)
    (pulled,) = tg.func.vjp(f, X)[1](change)
    assert tg.allclose((pulled.conj() * V).sum().real, (change.conj() * change).sum().real.double())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_products_with_second_derivatives(name):
    def loss(x):
        return (FUNCTIONS[name](x).abs() ** 2).sum()

    step = 1e-5
    change = (tg.func.grad(loss)(X + step * V) - tg.func.grad(loss)(X - step * V)) / (2 * step)
    assert tg.allclose(tg.autograd.functional.hvp(loss, X, V)[1], change)
    assert tg.allclose(tg.autograd.functional.vhp(loss, X, V)[1], change)


def test_gradients_and_values():
    slope, value = tg.func.grad_and_value(lambda x: (x.abs() ** 2).sum())(X)
    assert value.item() == pytest.approx(6.25) and tg.allclose(slope, 2 * X)
    assert tg.allclose(tg.func.vmap(tg.func.grad(lambda x: x.abs() ** 2))(X), 2 * X)


@pytest.mark.parametrize("call, message", [
    (lambda: tg.func.grad(lambda x: (x * x).sum())(X), "only for real scalar outputs but got"),
    (lambda: tg.func.grad(lambda x: (x * 1j).sum())(R), "only for real scalar outputs but got"),
    (lambda: tg.func.jacrev(lambda x: x * x)(X), "jacrev: Expected all inputs to be real but received complex"),
    (lambda: tg.func.jacfwd(lambda x: x * x)(X), "jacfwd: Expected all inputs to be real but received complex"),
    (lambda: tg.func.jacrev(lambda x: x * 1j)(R), "jacrev: Expected all outputs to be real but received complex"),
    (lambda: tg.func.jacfwd(lambda x: x * 1j)(R), "jacfwd: Expected all outputs to be real but received complex"),
    (lambda: tg.func.hessian(lambda x: (x.abs() ** 2).sum())(X), "jacfwd: Expected all inputs to be real"),
    (lambda: tg.autograd.functional.jacobian(lambda x: x * x, X), "only for real scalar outputs"),
])  # fmt: skip
def test_what_has_no_real_jacobian_is_refused(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_integers_have_no_tangents():
    whole = tg.tensor([1, 2])
    with pytest.raises(ValueError, match="Expected primal to be floating point or complex"):
        tg.func.jvp(lambda x: x * 2, (whole,), (whole,))
