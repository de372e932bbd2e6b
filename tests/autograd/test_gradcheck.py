"""``gradcheck`` and ``gradgradcheck``: each option changes what is found, as in PyTorch."""

import inspect
import itertools

import numpy as np
import pytest

import tracegrad as tg

gradcheck, gradgradcheck = tg.autograd.gradcheck, tg.autograd.gradgradcheck
Error = tg.autograd.GradcheckError


def function(backward, tangent=lambda t: t * 2, forward=lambda x: x * 2, materialize=True):
    class Made(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return backward(g)

        @staticmethod
        def jvp(ctx, t):
            return tangent(t)

    return Made.apply


def numbers(*shape, dtype=tg.float64):
    values = np.random.default_rng(0).normal(size=(*shape, 2))
    x = tg.tensor(values[..., 0] + 1j * values[..., 1] if dtype.is_complex else values[..., 0])
    return x.to(dtype).requires_grad_()


RIGHT = {
    "sin": lambda x: x.sin(),
    "several": lambda x: (x.exp(), (x * x).sum(), x.detach(), x.sum(0)),
    "matmul": lambda x: x @ x.mT,
    "conj": lambda x: x.conj() * x,
    "a view": lambda x: x[:, 0],
    "itself": lambda x: x,
    "empty": lambda x: x[:0],
}
OPTIONS = [
    dict(zip(("fast_mode", "check_forward_ad", "check_batched_grad", "check_grad_dtypes"), values, strict=True))
    for values in itertools.product((False, True), repeat=4)
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: " ".join(name for name in o if o[name]) or "none")
@pytest.mark.parametrize("dtype", [tg.float64, tg.complex128], ids=str)
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes(name, dtype, options):
    x = numbers(2, 3, dtype=dtype)
    before = x.tolist()
    assert gradcheck(RIGHT[name], (x,), **options)
    assert x.tolist() == before


@pytest.mark.long(fast=4)
@pytest.mark.parametrize("dtype", [tg.float64, tg.complex128], ids=str)
@pytest.mark.parametrize("options", [{}, {"check_fwd_over_rev": True}, {"fast_mode": True}], ids=str)
def test_second_derivatives(dtype, options):
    x = numbers(2, 2, dtype=dtype)
    for gaps in (False, True):
        assert gradgradcheck(lambda x: (x**3, x * 2), (x,), gen_non_contig_grad_outputs=gaps, **options)
    assert gradgradcheck(lambda x: x**3, (x,), tg.ones(2, 2, dtype=dtype), **options)
    assert gradgradcheck(
        lambda x: x**3, (x,), check_rev_over_rev=False, check_undefined_grad=False, check_fwd_over_rev=True
    )


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("dtype", [tg.float64, tg.complex128], ids=str)
def test_a_wrong_gradient_is_found(dtype, fast):
    wrong, x = function(lambda g: g * 3), numbers(3, dtype=dtype)
    with pytest.raises(
        Error, match="(?s)Jacobian mismatch for output 0 with respect to input 0,\nnumerical:.*analytical:"
    ):
        gradcheck(wrong, (x,), fast_mode=fast)
    assert not gradcheck(wrong, (x,), fast_mode=fast, raise_exception=False)
    assert gradcheck(wrong, (x,), fast_mode=fast, rtol=1.0)
    assert gradcheck(wrong, (x,), fast_mode=fast, atol=2.0)
    with pytest.raises(Error, match="slow mode" if fast else "Jacobian mismatch"):
        gradcheck(wrong, (x,), fast_mode=fast)


def test_a_wrong_second_derivative_is_found():
    cut = function(lambda g: (g * 2).detach())
    with pytest.raises(Error, match="Jacobian mismatch"):
        gradgradcheck(lambda x: cut(x) * x, (numbers(2),), check_undefined_grad=False)


def test_a_wrong_forward_derivative_is_found():
    wrong = function(lambda g: g * 2, lambda t: t * 3)
    assert gradcheck(wrong, (numbers(2),))
    assert gradcheck(function(lambda g: g * 2, lambda t: t * 2), (numbers(2),), check_forward_ad=True)
    with pytest.raises(Error, match="Jacobian computed with forward mode mismatch"):
        gradcheck(wrong, (numbers(2),), check_forward_ad=True)
    with pytest.raises(Error, match="Jacobian computed with forward mode mismatch"):
        gradcheck(wrong, (numbers(2),), check_forward_ad=True, check_backward_ad=False, fast_mode=True)


def test_the_step_counts():
    x = tg.zeros(1, dtype=tg.float64, requires_grad=True)
    assert gradcheck(lambda x: x.abs() + x * 0 if x.item() else x * 0, (x,), eps=1e-6, atol=2.0)
    kink = lambda x: (x - 0.5).relu()  # noqa: E731
    assert gradcheck(kink, (x,)) and not gradcheck(kink, (x,), eps=1.0, raise_exception=False)


def test_backward_passes_that_differ():
    calls = itertools.count()
    noisy = function(lambda g: g * (2 + 1e-8 * next(calls)))
    with pytest.raises(Error, match="Backward is not reentrant"):
        gradcheck(noisy, (numbers(3),))
    with pytest.raises(Error, match="Backward is not reentrant"):
        gradcheck(noisy, (numbers(3),), fast_mode=True)
    assert gradcheck(noisy, (numbers(3),), nondet_tol=1e-5)


def test_gradients_that_are_not_linear():
    with pytest.raises(Error, match="backward not multiplied by grad_output"):
        gradcheck(function(lambda g: g * 2 + 1e-7), (numbers(3),))


def test_undefined_gradients():
    made_up = function(lambda g: tg.ones(3, dtype=tg.float64) if g is None else g * 2, materialize=False)
    with pytest.raises(Error, match="Expected all input grads to be undefined or zero when all output grads are"):
        gradcheck(lambda x: made_up(x * 2).sin(), (numbers(3),))
    assert gradcheck(lambda x: made_up(x * 2).sin(), (numbers(3),), check_undefined_grad=False)
    with pytest.raises(TypeError, match="NoneType"):
        gradcheck(function(lambda g: g * 2, materialize=False), (numbers(3),))


def test_what_cannot_be_checked():
    with pytest.raises(ValueError, match="expects at least one input tensor to require gradient"):
        gradcheck(lambda x: x, (tg.ones(2),))
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(lambda x: x * 2, (numbers(1).expand(3),))
    with pytest.raises(Error, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, (numbers(2),))
    assert gradcheck(lambda x: (x * 0).long(), (numbers(2),))
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        gradcheck(lambda x: x.sin(), (numbers(2, dtype=tg.float32),), raise_exception=False)


@pytest.mark.parametrize("options, message", [
    ({"check_backward_ad": False}, "at least one of check_forward_ad or check_backward_ad to be True"),
    ({"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True}, "requires check_backward_ad"),
    ({"check_batched_forward_grad": True}, "requires check_forward_ad to be True"),
])  # fmt: skip
def test_options_that_contradict_each_other(options, message):
    with pytest.raises(AssertionError, match=message):
        gradcheck(lambda x: x, (numbers(2),), **options)


@pytest.mark.parametrize("options, message", [
    ({"check_rev_over_rev": False}, "at least one of check_fwd_over_rev or check_rev_over_rev"),
    ({"check_rev_over_rev": False, "check_fwd_over_rev": True}, "check_undefined_grad=True requires"),
    (dict(check_rev_over_rev=False, check_fwd_over_rev=True, check_undefined_grad=False, check_batched_grad=True),
     "check_batched_grad=True requires"),
])  # fmt: skip
def test_second_options_that_contradict_each_other(options, message):
    with pytest.raises(AssertionError, match=message):
        gradgradcheck(lambda x: x, (numbers(2),), **options)


def test_parameters_are_those_of_pytorch():
    common = (
        "eps atol rtol {}raise_exception nondet_tol check_undefined_grad check_grad_dtypes check_batched_grad {} "
        "fast_mode masked"
    )
    first = common.format("", "check_batched_forward_grad check_forward_ad check_backward_ad")
    second = common.format("gen_non_contig_grad_outputs ", "check_fwd_over_rev check_rev_over_rev")
    assert [*inspect.signature(gradcheck).parameters] == ["func", "inputs", *first.split()]
    assert [*inspect.signature(gradgradcheck).parameters] == ["func", "inputs", "grad_outputs", *second.split()]
