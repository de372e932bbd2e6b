"""Values and gradients at ties, zeros, infinities and NaN. The expected numbers are what PyTorch 2.13 gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sweep import vector_jacobian

from tracegrad.ops import arithmetic, comparison, division, elementary, logic, products, reductions, rounding, scans
from tracegrad.ops import indexing as places
from tracegrad.ops import trigonometry as trig
from tracegrad.ops.array import Array, Evaluator
from tracegrad.ops.core import interpreting
from tracegrad.ops.erf import erf

inf, nan = math.inf, math.nan


@pytest.fixture(autouse=True)
def evaluator():
    with interpreting(Evaluator()):
        yield


def array(values, dtype="float64"):
    return Array(np.array(values, dtype))


def whole(values):
    return array(values, "int64")


TRUTH = array([True, False], "bool")


def value(function, *operands):
    return function(*(array(x) for x in operands)).ndarray


def gradients(function, *operands):
    """The gradients of the sum of the results."""
    xs = [np.array(x, np.float64) for x in operands]
    ones = np.ones_like(function(*map(Array, xs)).ndarray)
    return vector_jacobian(lambda inputs: [function(*inputs)], xs, [ones])


def fold(op):
    return lambda x: op(x, (0,))


GRADIENTS = {
    "maximum": (arithmetic.maximum, ([1.0, nan, 2, inf], [1.0, 0, nan, inf]), ([0.5, 1, 1, 0.5], [0.5, 1, 1, 0.5])),
    "minimum": (arithmetic.minimum, ([1.0, nan, 2, inf], [1.0, 0, nan, inf]), ([0.5, 1, 1, 0.5], [0.5, 1, 1, 0.5])),
    "abs": (arithmetic.abs, ([0.0, -2, nan],), ([0, -1, 0],)),
    "sign": (arithmetic.sign, ([0.0, nan, inf],), ([0, 0, 0],)),
    "reciprocal": (arithmetic.reciprocal, ([0.0, 2],), ([-inf, -0.25],)),
    "pow": (
        elementary.pow,
        ([0.0, 0, 0, -1, 2, 0, inf, nan], [0.0, 1, 2, 2, 3, -1, 2, 0]),
        ([0, 1, 0, -2, 12, -inf, inf, 0], [0, 0, 0, nan, 8 * math.log(2), -inf, inf, nan]),
    ),
    "square": (lambda x: x**2, ([0.0, -1, inf],), ([0, -2, inf],)),
    "pow 0": (lambda x: x**0, ([0.0, nan],), ([0, 0],)),
    "pow 0.5": (lambda x: x**0.5, ([0.0, 4],), ([inf, 0.25],)),
    "0 pow": (lambda y: 0**y, ([0.0, 1, -1],), ([0, 0, -inf],)),
    "sqrt": (elementary.sqrt, ([0.0, 4, -1],), ([inf, 0.25, nan],)),
    "rsqrt": (elementary.rsqrt, ([0.0, 4, -1],), ([-inf, -0.0625, nan],)),
    "log": (elementary.log, ([0.0, 4, -1],), ([inf, 0.25, -1],)),
    "log1p": (elementary.log1p, ([0.0, -1],), ([1, inf],)),
    "asin": (trig.asin, ([1.0, 0],), ([inf, 1],)),
    "acosh": (trig.acosh, ([1.0, 2],), ([inf, 1 / math.sqrt(3)],)),
    "atan2": (trig.atan2, ([0.0, 1, -1], [0.0, 2, -3]), ([0, 0.4, -0.3], [0, -0.2, 0.1])),
    "round": (rounding.round, ([2.5],), ([0],)),
    "floor_divide": (lambda x: division.floor_divide(x, 2), ([2.5],), ([0],)),
    "remainder": (division.remainder, ([5.0, -5], [3.0, 3]), ([1, 1], [-1, 2])),
    "fmod": (division.fmod, ([5.0, -5], [3.0, 3]), ([1, 1], [-1, 1])),
    "where": (
        lambda x, y: comparison.where(TRUTH, x, elementary.log(y)), ([1.0, 2], [nan, 4.0]), ([1, 0], [nan, 0.25])
    ),
    "amax ties": (fold(reductions.amax), ([1.0, 3, 3],), ([0, 0.5, 0.5],)),
    "amax nan": (fold(reductions.amax), ([1.0, nan, 3],), ([nan, nan, nan],)),
    "amin ties": (fold(reductions.amin), ([1.0, 1, 3],), ([0.5, 0.5, 0],)),
    "prod one zero": (fold(reductions.prod), ([0.0, 2, 3],), ([6, 0, 0],)),
    "prod two zeros": (fold(reductions.prod), ([0.0, 0, 3],), ([0, 0, 0],)),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient(name):
    function, operands, expected = GRADIENTS[name]
    for actual, wanted in zip(gradients(function, *operands), expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-14)


VALUES = {
    "sign": (arithmetic.sign, ([nan, -0.0, inf],), [0, 0, 1]),
    "maximum": (arithmetic.maximum, ([1.0, nan, 2], [nan, 0, 1]), [nan, nan, 2]),
    "round": (rounding.round, ([0.5, 1.5, 2.5, -0.5],), [0, 2, 2, -0.0]),
    "floor_divide": (
        division.floor_divide, ([5.0, -5, inf, -0.0, 1, 1], [2.0, 2, 2, 3, 0, inf]), [2, -3, nan, -0.0, inf, 0]
    ),
    "remainder": (
        division.remainder,
        ([5.0, -5, inf, -0.0, 1, -1, 1], [2.0, 2, 2, 3, 0, inf, -inf]),
        [1, 1, nan, -0.0, nan, inf, -inf],
    ),
    "fmod": (division.fmod, ([5.0, -5, inf, -0.0, 1, -1], [2.0, 2, 2, 3, 0, inf]), [1, -1, nan, -0.0, nan, -1]),
    "pow": (elementary.pow, ([0.0, nan, -8, inf], [0.0, 0, 1 / 3, -1]), [1, 1, nan, 0]),
    "sigmoid": (elementary.sigmoid, ([-inf, -1000.0, 0, 1000, inf, nan],), [0, 0, 0.5, 1, 1, nan]),
    "isnan": (comparison.isnan, ([nan, inf, 0.0],), [True, False, False]),
    "isinf": (comparison.isinf, ([nan, -inf, 0.0],), [False, True, False]),
    "isfinite": (comparison.isfinite, ([nan, -inf, 0.0],), [False, False, True]),
    "amax": (fold(reductions.amax), ([1.0, nan, 3],), nan),
    "sum": (fold(reductions.sum), ([],), 0),
    "prod": (fold(reductions.prod), ([],), 1),
    "any": (fold(reductions.any), ([],), False),
    "all": (fold(reductions.all), ([nan, 1.0],), True),
    "argmax": (lambda x: reductions.argmax(x, 0), ([1.0, nan, 3, nan],), 1),
    "argmin": (lambda x: reductions.argmin(x, 0), ([1.0, 0, 0],), 1),
    "argsort": (lambda x: scans.argsort(x, 0), ([nan, 1.0, nan, 3],), [1, 3, 0, 2]),
    "argsort descending": (lambda x: scans.argsort(x, 0, True), ([nan, 1.0, nan, 3, 1],), [0, 2, 3, 1, 4]),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_value(name):
    function, operands, expected = VALUES[name]
    actual = value(function, *operands)
    np.testing.assert_array_equal(actual, expected)
    if actual.dtype.kind != "f":
        return
    numbers = ~np.isnan(actual)
    np.testing.assert_array_equal(np.signbit(actual)[numbers], np.signbit(np.asarray(expected, actual.dtype))[numbers])


def test_integers():
    n = whole([1, -2, 3])
    np.testing.assert_array_equal(elementary.pow(n, whole([-1, -1, -2])).ndarray, [1, 0, 0])
    np.testing.assert_array_equal(elementary.pow(whole([-1, -1, 0]), whole([-3, -2, 0])).ndarray, [-1, 1, 1])
    np.testing.assert_array_equal(division.floor_divide(whole([7, -7]), 2).ndarray, [3, -4])
    np.testing.assert_array_equal(division.remainder(whole([7, -7]), 3).ndarray, [1, 2])
    np.testing.assert_array_equal(division.fmod(whole([7, -7]), 3).ndarray, [1, -1])
    assert rounding.floor(n).ndarray.dtype == np.int64
    assert elementary.exp(n).ndarray.dtype == np.float32
    np.testing.assert_array_equal(logic.bitwise_not(n).ndarray, [-2, 1, -4])
    np.testing.assert_array_equal(logic.bitwise_not(TRUTH).ndarray, [False, True])


def test_numbers_beyond_the_type():
    """A float becomes infinite without a warning, an integer wraps around."""
    np.testing.assert_array_equal((array([1.0, -1], "float32") * 1e300).ndarray, np.array([inf, -inf], np.float32))
    np.testing.assert_array_equal((array([1], "int32") * (2**40 + 3)).ndarray, np.array([3], np.int32))
    with pytest.raises(OverflowError):
        whole([1]) + 2**64


def test_arithmetic_of_truth_values_is_logic():
    """And stays bool."""
    other = array([True, True], "bool")
    for op, expected in [
        (arithmetic.add, [True, True]), (arithmetic.mul, [True, False]), (arithmetic.maximum, [True, True]),
        (arithmetic.minimum, [True, False]), (logic.bitwise_xor, [False, True]),
    ]:  # fmt: skip
        result = op(TRUTH, other).ndarray
        assert result.dtype == bool and result.tolist() == expected
    assert arithmetic.sign(TRUTH).ndarray.tolist() == [True, False]
    assert bool(reductions.amax(TRUTH, (0,)).ndarray) and not bool(reductions.amin(TRUTH, (0,)).ndarray)
    with pytest.raises(IndexError, match="amax"):
        reductions.amax(array([], "bool"), (0,))


def test_running_products():
    x = [[2.0, 0, 3, 4], [1, 2, 3, 4]]
    np.testing.assert_array_equal(value(lambda x: scans.cumprod(x, 1), x), np.cumprod(x, 1))
    np.testing.assert_array_equal(value(lambda x: scans.products_of_others(x, 1), x), [[0, 24, 0, 0], [24, 12, 8, 6]])


ERRORS = {
    "bool - bool": (lambda: TRUTH - TRUTH, RuntimeError, "Subtraction, the `-` operator, with two bool tensors"),
    "-bool": (lambda: -TRUTH, RuntimeError, "Negation, the `-` operator, on a bool tensor is not supported"),
    "abs(bool)": (lambda: arithmetic.abs(TRUTH), NotImplementedError, "not implemented for 'Bool'"),
    "floor(bool)": (lambda: rounding.floor(TRUTH), NotImplementedError, "not implemented for 'Bool'"),
    "bool ** bool": (lambda: TRUTH**TRUTH, NotImplementedError, "not implemented for 'Bool'"),
    "bool @ bool": (lambda: products.dot(array([[True]], "bool"), array([[True]], "bool")), NotImplementedError,
                    "\"addmm_impl_cpu_\" not implemented for 'Bool'"),
    "float & float": (lambda: logic.bitwise_and(array([1.0]), 1), NotImplementedError, '"bitwise_and_cpu" not impl'),
    "~float": (lambda: logic.bitwise_not(array([1.0])), NotImplementedError, "bitwise_not_cpu"),
    "int // 0": (lambda: division.floor_divide(whole([1]), 0), RuntimeError, "ZeroDivisionError"),
    "int % 0": (lambda: division.remainder(whole([1]), whole([0])), RuntimeError, "ZeroDivisionError"),
    "int ** -1": (lambda: whole([2]) ** -1, RuntimeError, "Integers to negative integer powers are not allowed"),
    "sizes": (lambda: array([1.0, 2]) + array([1.0, 2, 3]), RuntimeError, r"The size of tensor a \(2\) must match"),
    "dot sizes": (lambda: products.dot(array(np.ones((2, 3))), array(np.ones((4, 5)))), RuntimeError,
                  r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"),
    "dot types": (lambda: products.dot(array([[1.0]]), array([[1.0]], "float32")), RuntimeError, "the same dtype"),
    "amax of nothing": (lambda: reductions.amax(array(np.ones((0, 3))), (0,)), IndexError,
                        r"amax\(\): Expected reduction dim 0 to have non-zero size"),
    "argmax of nothing": (lambda: reductions.argmax(array(np.ones((2, 0))), 1), IndexError, r"argmax\(\): Expected"),
    "gather": (lambda: places.gather(whole([1, 2, 3]), whole([10]), 0), RuntimeError,
               "index 10 is out of bounds for dimension 0 with size 3"),
    "gather -1": (lambda: places.gather(whole([1, 2, 3]), whole([-1]), 0), RuntimeError, "index -1 is out of bounds"),
    "take": (lambda: places.take(whole([1, 2, 3]), whole([10])), IndexError,
             "index 10 is out of bounds for dimension 0 with size 3"),
    "take -4": (lambda: places.take(whole([1, 2, 3]), whole([-4])), IndexError, "index -4 is out of bounds"),
    "put": (lambda: places.put(whole([1, 2, 3]), whole([5]), whole([1])), IndexError, "index 5 is out of bounds"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    call, error, words = ERRORS[name]
    with pytest.raises(error, match=words):
        call()


def test_erf_to_the_last_digits():
    """Against the C library's, over the whole line and towards 0; its own error is below 1 ulp, ours below 2."""
    x = np.concatenate([np.linspace(-7, 7, 20001), 10.0 ** -np.arange(300), [inf, -inf, 0.0, 1.0, 6.0]])
    np.testing.assert_allclose(erf(x), [math.erf(v) for v in x], rtol=2 * np.finfo(np.float64).eps)
    assert np.isnan(erf(np.array([nan]))) and np.signbit(erf(np.array([-0.0])))
