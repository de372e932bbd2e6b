"""Values and gradients of operations beyond the core (stored; see expected/wider_ops.py)."""

import pytest
from expected.compare import assert_close, load
from expected.programs import stored_case, value_and_gradients
from expected.tensor_ops import ARRAYS
from expected.wider_ops import EXPRESSIONS

STORED = load("wider_ops")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_value_and_gradients(tg, expression):
    found, expected = value_and_gradients(tg, expression, ARRAYS), stored_case(STORED, expression)
    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name].numpy().dtype == expected[name].dtype
        assert_close(found[name], expected[name])
