"""Modified Bessel functions where they overflow and at infinity: expected values are those of PyTorch 2.13."""

import math

import pytest

import tracegrad as tg

NAMES = ["i0", "i1", "modified_bessel_i0", "modified_bessel_i1", "i0e", "i1e"]
EDGES = [0.0, -0.0, 709.7, -709.7, 709.8, -709.8, 713.0, -713.0, math.inf, -math.inf, math.nan]
#: Of the even functions, for float64; exp(709.8) overflows, and the function would from 714 on.
EVEN = [1.0, 1.0, 2.478809e306, 2.478809e306, *[math.inf] * 4, *[math.nan] * 3]
ODD = [0.0, 0.0, 2.477062e306, -2.477062e306, *[math.inf, -math.inf] * 2, *[math.nan] * 3]
SCALED = {"i0e": [0.0, 0.0, math.nan], "i1e": [0.0, -0.0, math.nan]}  # at the last three


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_values_in_float64(compiled):
    def values(x):
        return [getattr(tg.special, name)(x) for name in NAMES]

    function = tg.compile(values) if compiled else values
    for name, result in zip(NAMES, function(tg.tensor(EDGES, dtype=tg.float64)), strict=True):
        if name in SCALED:
            result, expected = result[-3:], SCALED[name]
        else:
            expected = EVEN if name.endswith("0") else ODD
        expected = tg.tensor(expected, dtype=tg.float64)
        tg.testing.assert_close(result, expected, rtol=1e-6, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [tg.float16, tg.bfloat16, tg.float32, tg.float64])
def test_infinity_in_all_types(dtype):
    ends = tg.tensor([math.inf, -math.inf, math.nan], dtype=dtype)
    assert tg.i0(ends).isnan().all() and tg.i0(ends).dtype is dtype


def test_the_derivative_at_infinity():
    x = tg.tensor([0.0, math.inf, -math.inf, math.nan], requires_grad=True)
    tg.i0(x).sum().backward()
    assert x.grad[0] == 0 and x.grad[1:].isnan().all()
