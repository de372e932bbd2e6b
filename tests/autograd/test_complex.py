"""Complex tensors: gradients in PyTorch's convention, views of parts, what stands around numbers."""

import math

import numpy as np
import pytest

RANDOM = np.random.default_rng(3)
INPUTS = {
    "z": RANDOM.uniform(0.5, 1.5, (2, 3)) + 1j * RANDOM.uniform(0.2, 1.2, (2, 3)),
    "u": RANDOM.uniform(0.5, 1.5, (2, 3)) - 1j * RANDOM.uniform(0.2, 1.2, (2, 3)),
    "x": RANDOM.uniform(0.5, 1.5, (2, 3)),
}
SMOOTH = [
    "z + u", "z - x", "z * u", "z * x", "z / u", "x / z", "z ** 2", "z ** u", "2 ** z", "x ** z", "z ** -1.5", "-z",
    "z.exp()", "z.expm1()", "z.log()", "z.log1p()", "z.log2()", "z.log10()", "z.sqrt()", "z.rsqrt()", "z.reciprocal()",
    "z.sigmoid()", "z.sin()", "z.cos()", "z.tan()", "z.asin()", "z.acos()", "z.atan()", "z.sinh()", "z.cosh()",
    "z.tanh()", "z.asinh()", "z.acosh()", "z.atanh()", "z.abs()", "z.angle()", "z.sgn()", "z.conj()", "z.real",
    "z.imag", "tg.view_as_real(z)", "tg.view_as_complex(tg.stack([x, x * x], -1))", "tg.complex(x, x * x)",
    "tg.polar(x, x * x)", "z.sum()", "z.mean(1)", "z.prod(1)", "z.cumsum(1)", "z.cumprod(0)", "z.var(1)", "z.norm()",
    "z.norm(3, 1)", "z @ u.t()", "z @ u.mH", "z.logsumexp(1)", "tg.logaddexp(z, u)", "z[0, 1:]", "z[[0, 0], 1]",
    "tg.where(x > 1, z, u)", "tg.cat([z, u], 1)", "z.repeat(2, 1)", "z.roll(1, 1)", "z.lerp(u, 0.3)",
    "z.real.to(tg.complex128) * z", "tg.einsum('ij,kj->ik', z, u)",
]  # fmt: skip


def tensors(tg, kinds="cf"):
    return {n: tg.tensor(a, requires_grad=a.dtype.kind in kinds) for n, a in INPUTS.items()}


def named(tg, expression):
    names = [name for name in INPUTS if name in expression.replace("expm1", "").replace("exp", "")]
    inputs = tensors(tg)
    return lambda *xs: eval(expression, {"tg": tg, **dict(zip(names, xs, strict=True))}), [inputs[n] for n in names]


@pytest.mark.parametrize("expression", SMOOTH)
def test_first_and_second_derivative(tg, expression):
    function, inputs = named(tg, expression)
    assert tg.autograd.gradcheck(function, inputs)
    assert tg.autograd.gradgradcheck(function, inputs)


def test_the_gradient_of_a_squared_size_points_uphill(tg):
    z = tg.tensor([1 + 2j, -3j], requires_grad=True)
    (z.abs() ** 2).sum().backward()
    assert z.grad.tolist() == [2 + 4j, -6j] or np.allclose(z.grad.numpy(), [2 + 4j, -6j])


def test_real_operands_of_complex_results_get_real_gradients(tg):
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    (x * (3 + 4j)).abs().sum().backward()
    assert x.grad.dtype is tg.float32
    np.testing.assert_allclose(x.grad.numpy(), [5, 5], rtol=1e-6)


def test_parts_are_views_that_can_be_written_to(tg):
    z = tg.tensor([1 + 2j, 3 + 4j])
    z.real += 10
    z.imag = tg.zeros(2)
    tg.view_as_real(z)[1, 1] = 7
    assert z.tolist() == [11 + 0j, 13 + 7j]
    assert z.real.data_ptr() == z.data_ptr() and tg.real(z.real) is not None


def test_a_write_to_a_part_has_its_gradient(tg):
    z = tg.tensor([1 + 2j, 3 + 4j], dtype=tg.complex128, requires_grad=True)
    y = z * 1
    y.imag.mul_(2)
    (y.real * 3 + y.imag * 5).sum().backward()
    assert z.grad.tolist() == [3 + 10j, 3 + 10j]


def test_numbers_to_python_and_back(tg):
    z = tg.tensor([1 + 2j])
    assert z.item() == 1 + 2j and complex(z) == 1 + 2j and z.tolist() == [1 + 2j]
    assert z.numpy().dtype == np.complex64 and z.is_complex() and not z.is_conj()
    assert str(z) == "tensor([1.+2.j])" and bool(z)
    assert (z == 1 + 2j).item() and (z * 0 != 1j).item()


def test_optimizers_take_both_parts_as_numbers(tg):
    z = tg.nn.Parameter(tg.tensor([1 + 1j, -2j]))
    optimizer = tg.optim.SGD([z], lr=0.25)
    for _ in range(3):
        optimizer.zero_grad()
        (z.abs() ** 2).sum().backward()
        optimizer.step()
    np.testing.assert_allclose(z.detach().numpy(), np.array([1 + 1j, -2j]) / 8, rtol=1e-6)


def test_draws_are_those_of_both_parts(tg):
    for complex_type, real_type in ((tg.complex64, tg.float32), (tg.complex128, tg.float64)):
        tg.manual_seed(0)
        drawn, uniform = tg.randn(3, 5, dtype=complex_type), tg.rand(4, dtype=complex_type)
        tg.manual_seed(0)
        parts, others = tg.randn(3, 5, 2, dtype=real_type) * 2**-0.5, tg.rand(4, 2, dtype=real_type)
        assert drawn.dtype is complex_type and (tg.view_as_real(drawn) == parts).all()
        assert (tg.view_as_real(uniform) == others).all()
    tg.manual_seed(0)
    assert abs(tg.randn(3, dtype=tg.complex64)[0].item() - (1.0896 - 0.2075j)) < 1e-4  # PyTorch's


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_running_sums_of_exponentials_have_tangents_and_second_derivatives(tg, dtype):
    x = tg.randn(3, 7, dtype=getattr(tg, dtype), requires_grad=True)

    def run(x):
        return tg.logcumsumexp(x, 1)

    assert tg.autograd.gradcheck(run, (x,), check_forward_ad=True) and tg.autograd.gradgradcheck(run, (x,))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_what_is_minus_infinity_has_no_share_in_running_sums(tg, dtype, compiled):
    def run(x):
        (g,) = tg.autograd.grad(tg.logcumsumexp(x, 0).real[[0, -1]].sum(), x)
        return g

    step = tg.compile(run) if compiled else run
    numbers = [1.0, -math.inf, -math.inf, -math.inf, 2.0, -math.inf, 0.5]
    for _ in range(2):
        g = step(tg.tensor(numbers, dtype=getattr(tg, dtype), requires_grad=True))
        shares = tg.tensor(numbers).softmax(0) + tg.tensor([1.0] + [0.0] * 6)
        assert tg.allclose(g.real.float(), shares, rtol=1e-6)
