"""Arguments that PyTorch refuses or takes, found by writing docstrings' examples. The answers are PyTorch 2.13's."""

import pytest

inf, nan = float("inf"), float("nan")

REFUSED = {
    "positive of bool": (lambda tg: +tg.tensor([True]), RuntimeError, r"`\+` operator, on a bool tensor"),
    "bitwise_not of floats": (lambda tg: tg.bitwise_not(tg.tensor([1.0])), NotImplementedError, "bitwise_not_cpu"),
    "~ of floats": (lambda tg: ~tg.tensor([1.0]), TypeError, "only implemented on integer and Boolean-type"),
    "threshold of bool": (lambda tg: tg.threshold(tg.tensor([True]), 0, 1), NotImplementedError, "threshold_cpu"),
    "heaviside of complex": (
        lambda tg: tg.heaviside(tg.tensor([1j]), tg.tensor([1j])),
        RuntimeError,
        "not yet implemented for complex tensors",
    ),
    "clamp by a number and elements": (lambda tg: tg.clamp(tg.ones(2), tg.ones(1), 2), TypeError, r"clamp\(\)"),
    "clamp by a number and a parameter": (
        lambda tg: tg.clamp(tg.ones(2), tg.tensor(1.0, requires_grad=True), 2),
        TypeError,
        r"clamp\(\)",
    ),
    "normal of numbers without size": (lambda tg: tg.normal(0.0, 1.0), TypeError, r"normal\(\)"),
    "normal of numbers, one int as size": (lambda tg: tg.normal(0.0, 1.0, 3), TypeError, r"normal\(\)"),
    "normal of tensors with size": (lambda tg: tg.normal(tg.zeros(2), tg.ones(2), (2,)), TypeError, r"normal\(\)"),
    "normal of tensors with dtype": (
        lambda tg: tg.normal(tg.zeros(2), 1.0, dtype=tg.float64),
        TypeError,
        r"normal\(\)",
    ),
    "normal of tensors requiring gradients": (
        lambda tg: tg.normal(tg.zeros(2), 1.0, requires_grad=True),
        TypeError,
        r"normal\(\)",
    ),
    "normal elsewhere": (lambda tg: tg.normal(0.0, 1.0, (1,), device="cuda"), (RuntimeError, AssertionError), "CUDA"),
    "randint below a fraction": (lambda tg: tg.randint(2.5, (2,)), TypeError, r"randint\(\)"),
    "randint up to a fraction": (lambda tg: tg.randint(0, 3.5, (2,)), TypeError, r"randint\(\)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(tg, case):
    call, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        call(tg)


ANSWERED = {
    "bitwise_not": (lambda tg: ~tg.tensor([0, 5]), [-1, -6]),
    "clamp by a 0-d tensor and a number": (
        lambda tg: tg.clamp(tg.tensor([0.0, 1.5, 3.0]), tg.tensor(1), 2),
        [1, 1.5, 2],
    ),
    "clamp by a number and a 0-d tensor": (lambda tg: tg.clamp(tg.tensor([1, 2, 4]), 1.5, tg.tensor(3)), [1.5, 2, 3]),
    "float16's largest": (lambda tg: tg.nan_to_num(tg.tensor([inf, -inf, nan], dtype=tg.float16)), [65504, -65504, 0]),
    "bfloat16's largest": (
        lambda tg: tg.nan_to_num(tg.tensor([inf, nan], dtype=tg.bfloat16)),
        [2.0**127 * (2 - 2.0**-7), 0],
    ),
    "instance_norm without weights": (
        lambda tg: tg.instance_norm(tg.tensor([[[1.0, 3.0]]]), None, None, None, None, True, 0.1, 0.0, False),
        [[[-1, 1]]],
    ),
}


@pytest.mark.parametrize("case", ANSWERED)
def test_answered(tg, case):
    call, expected = ANSWERED[case]
    assert call(tg).tolist() == expected


def test_bounds_of_both_kinds_are_compiled(tg):
    def clamped(x):
        return tg.clamp(x, x.detach().min() + 1, 2).sum()

    step = tg.compile(clamped)
    for shift in (0.0, 0.25, 0.5, 0.75):
        x = tg.tensor([0.0, 1.5 + shift, 3.0]) + shift
        assert step(x).item() == clamped(x).item()


#: Functions that have no such types, and PyTorch's errors.
TYPES = {
    "xlogy": (lambda tg, x: tg.xlogy(x, x), "complex64", NotImplementedError, "xlogy_cpu"),
    "glu": (lambda tg, x: tg.nn.functional.glu(tg.cat([x, x])), "complex64", NotImplementedError, "glu_cpu"),
    "hardsigmoid": (lambda tg, x: tg.nn.functional.hardsigmoid(x), "complex64", NotImplementedError, "hardsigmoid_cpu"),
    "hardtanh": (
        lambda tg, x: tg.nn.functional.hardtanh(x),
        "complex64",
        NotImplementedError,
        "not supported for comp",
    ),
    "nansum": (lambda tg, x: tg.nansum(x), "complex64", RuntimeError, "does not support complex inputs"),
    "mvlgamma": (lambda tg, x: tg.mvlgamma(x, 1), "bool", RuntimeError, "may not be a boolean tensor"),
    "frexp": (lambda tg, x: tg.frexp(x), "complex64", RuntimeError, "only supports floating-point dtypes"),
    "isposinf": (lambda tg, x: tg.isposinf(x), "complex64", RuntimeError, "does not support complex inputs"),
    "isneginf": (lambda tg, x: tg.isneginf(x), "complex64", RuntimeError, "does not support complex inputs"),
    "deg2rad": (lambda tg, x: tg.deg2rad(x), "complex64", RuntimeError, "not supported for complex tensors"),
    "addcmul": (lambda tg, x: tg.addcmul(x, x, x), "bool", NotImplementedError, "addcmul_cpu_out"),
    "dist": (lambda tg, x: tg.dist(x, tg.ones(1)), "bool", RuntimeError, "with a bool tensor is not supported"),
    "mse_loss": (lambda tg, x: tg.nn.functional.mse_loss(x, x), "complex64", NotImplementedError, "mse_cpu"),
    "huber_loss": (lambda tg, x: tg.nn.functional.huber_loss(x, tg.ones(1)), "bool", RuntimeError, "can't be cast"),
    "binary_cross_entropy": (
        lambda tg, x: tg.nn.functional.binary_cross_entropy(x, x),
        "int64",
        NotImplementedError,
        "binary_cross_entropy",
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_types_that_a_function_has_not(tg, name):
    call, dtype, error, words = TYPES[name]
    with pytest.raises(error, match=words):
        call(tg, tg.ones(1, dtype=getattr(tg, dtype)))


MIXED = {
    "hypot of integers and floats": (lambda tg: tg.hypot(tg.tensor([3]), tg.tensor([4.0])), [5.0]),
    "logaddexp of bool and floats": (lambda tg: tg.logaddexp(tg.tensor([True]), tg.tensor([-inf])), [1.0]),
    "squares of floats and bool": (
        lambda tg: tg.nn.functional.mse_loss(tg.tensor([3.0]), tg.tensor([True]), reduction="none"),
        [4.0],
    ),
    "Huber's of floats and bool": (
        lambda tg: tg.nn.functional.huber_loss(tg.tensor([3.0]), tg.tensor([True]), reduction="none"),
        [1.5],
    ),
}


@pytest.mark.parametrize("case", MIXED)
def test_mixed_types(tg, case):
    call, expected = MIXED[case]
    assert call(tg).tolist() == expected
