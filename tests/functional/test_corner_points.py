"""Elementwise functions at NaN, infinities, zeros, kinks, denormal and huge numbers, as PyTorch 2.13 has them."""

import numpy as np
import pytest
from expected import corner_points as cases
from expected.compare import load

STORED = load("corner_points")
# Some of PyTorch's constants (a sixth, the logarithm of a base) are float32 where it computes float64; its float32
# kernels round formulas in other places than ours.
RTOL = {"float32": 2e-5, "float64": 1e-6}
#: Formulas that cancel: where little is left, it is all rounding.
CANCELLING = {
    "F.gelu(x)", "F.gelu(x, approximate='tanh')", "F.mish(x)", "F.softplus(x)", "F.logsigmoid(x)", "tg.atan2(x, y)"
}  # fmt: skip
#: What PyTorch loses to an overflow, where ours is the limit: names of the results, by expression.
OVERFLOWS = {"F.gelu(x)": ("value", "dxx"), "F.mish(x)": ("dxx",)}
#: The second derivative of softplus at its threshold itself: PyTorch's is that of the line, ours that of the curve.
AT_THRESHOLD = {"F.softplus(x)": 20.0}
#: In eager mode the power of 0 is a constant; ours has a derivative, which is zero.
MORE = {"x ** 0": {"dxx"}}


def stored(expression, dtype):
    prefix = f"{expression}|{dtype}|"
    return {key[len(prefix) :]: STORED[key] for key in STORED if key.startswith(prefix)}


def assert_same(found, expression, dtype):
    wanted = stored(expression, dtype)
    assert set(found) - MORE.get(expression, set()) == set(wanted)
    for name, expected in wanted.items():
        known = np.ones(expected.shape, bool)
        if name in OVERFLOWS.get(expression, ()):
            known = ~np.isnan(expected)
        if name == "dxx" and expression in AT_THRESHOLD:
            known &= cases.points(1, dtype)[0] != AT_THRESHOLD[expression]
        atol = np.finfo(dtype).tiny  # denormal results may be flushed
        if expression in CANCELLING:
            atol = 4 * np.finfo(dtype).eps
        np.testing.assert_allclose(
            found[name][known], expected[known], RTOL[dtype], atol, err_msg=f"{name} of {expression} in {dtype}"
        )


@pytest.mark.parametrize("dtype", cases.POINTS)
@pytest.mark.parametrize("expression", cases.expressions())
def test_values_and_derivatives(tg, expression, dtype):
    assert_same(cases.results(tg, expression, cases.expressions()[expression], dtype), expression, dtype)


def compiled_results(tg, expressions, dtype):
    """The derivatives of several expressions, in one compiled call."""

    @tg.compile
    def step(xs, first, second):
        found = {}
        for expression in expressions:
            operands = (xs,) if cases.expressions()[expression] == 1 else (first, second)
            found[expression] = cases.derivatives(tg, expression, operands)
        return found

    given = [*cases.points(1, dtype), *cases.points(2, dtype)]
    for _ in range(2):
        found = step(*(tg.tensor(each).requires_grad_() for each in given))
    return {e: {name: value.numpy() for name, value in results.items()} for e, results in found.items()}


#: Functions with formulas of their own in C.
OWN_FORMULAS = [
    "F.elu(x)", "F.selu(x)", "F.celu(x, 2.0)", "F.hardswish(x)", "F.hardtanh(x)", "F.hardsigmoid(x)",
    "tg.reciprocal(x)", "tg.hypot(x, y)", "tg.logaddexp(x, y)", "tg.fmod(x, y)", "x ** -0.5", "x ** 0.5",
]  # fmt: skip


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("dtype", cases.POINTS)
def test_own_formulas_compiled(tg, dtype):
    for expression, found in compiled_results(tg, OWN_FORMULAS, dtype).items():
        assert_same(found, expression, dtype)


SIZE = 12
GROUPS = [list(cases.expressions())[start : start + SIZE] for start in range(0, len(cases.expressions()), SIZE)]


@pytest.mark.long(every=3)
@pytest.mark.parametrize("dtype", cases.POINTS)
@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_compiled(tg, group, dtype):
    for expression, found in compiled_results(tg, GROUPS[group], dtype).items():
        assert_same(found, expression, dtype)
