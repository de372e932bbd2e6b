"""What PyTorch's operator database has found to differ is as PyTorch has it (expected/database_calls.py)."""

import warnings

import numpy as np
import pytest
from expected import database_calls as cases
from expected.compare import load

#: A few roundings of the type that is computed in, of short types those that torch.testing.assert_close allows.
SHORT = {"half()": 1e-3, "bfloat16()": 1.6e-2}
TOLERANCE = {"complex64": 1e-6, "float64": 1e-9, "complex128": 1e-9}


@pytest.mark.parametrize("number, expression", list(enumerate(cases.expressions())))
def test_calls(tg, number, expression):
    stored = {key.partition("/")[2]: x for key, x in load("database_calls").items() if key.startswith(f"{number}/")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cases.evaluated(tg, expression)
    assert set(found) == set(stored)
    for key, expected in stored.items():
        assert found[key].dtype == expected.dtype and found[key].shape == expected.shape
        short = [bound for name, bound in SHORT.items() if name in expression]
        tolerance = short[0] if short else TOLERANCE.get(str(expected.dtype), 0)
        np.testing.assert_allclose(found[key], expected, rtol=tolerance, atol=tolerance)


def test_a_copy_is_asked_for_by_position(tg):
    x = tg.ones(2)
    assert x.to(tg.float32, False, True) is not x and x.to("cpu", tg.float32, True) is x
    assert tg.median(x[0], 0).values.data_ptr() != x.data_ptr()
    assert x.new_empty_strided((2, 3), (1, 2)).stride() == (1, 2)
