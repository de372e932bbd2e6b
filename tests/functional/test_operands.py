"""Every public function and method with each kind of wrong operand: the answer is PyTorch's (expected/operands.py)."""

import json
import re

import numpy as np
import pytest
from expected import operands
from expected.compare import STORE

STORED = json.loads((STORE / "operands.json").read_text(encoding="utf-8"))
#: An axis that is not given and an axis of None are the same here.
NO_AXIS = {f"{owner}.{name}(x, None)" for owner in ("tg", "Tensor") for name in ("max", "min")}
#: Errors of Python code in PyTorch that trips over the operand; a TypeError says what is wrong.
TRIPPING = ("AttributeError", "RuntimeError")


def test_outcomes(tg):
    found = operands.outcomes(tg)
    assert len(found) > 5000
    wrong = {}
    for label, outcome in found.items():
        expected = STORED.get(label, "TypeError")
        allowed = {expected, "TypeError"} if expected in TRIPPING else {expected}
        if outcome not in allowed and label not in NO_AXIS:
            wrong[label] = (outcome, expected)
    assert wrong == {}


MESSAGES = [
    ("tg.add(x, [1.0])", "add(): argument 'other' (position 2) must be Tensor, not list"),
    ("x.add([1.0])", "add(): argument 'other' (position 1) must be Tensor, not list"),
    ("x.add(other='a')", "add(): argument 'other'"),
    ("tg.exp(2.0)", "exp(): argument 'input' (position 1) must be Tensor, not float"),
    ("tg.maximum(x, 2)", "maximum(): argument 'other' (position 2) must be Tensor, not int"),
    ("x.maximum(None)", "maximum(): argument 'other' (position 1) must be Tensor, not NoneType"),
    ("x.matmul(array)", "matmul(): argument"),
    ("x.gather(0, [1])", "gather(): argument 'index'"),
]


@pytest.mark.parametrize("expression, message", MESSAGES)
def test_messages_name_the_argument(tg, maybe_compile, expression, message):
    @maybe_compile
    def step(x):
        return eval(expression, {"tg": tg, "x": x, "array": np.ones(2)})

    for _ in range(3):
        with pytest.raises(TypeError, match=re.escape(message)):
            step(tg.ones(2, 2))


@pytest.mark.parametrize(
    "expression",
    ["tg.mul(2, x)", "tg.add(x, other=y)", "tg.mul(input=x, other=2)", "tg.pow(2.0, x)", "tg.where(x > 0, 1.0, y)",
     "x.mul(other=y)", "tg.exp(input=x)", "tg.float_power(2, x)"],
)  # fmt: skip
def test_operands_by_name_and_numbers_first(tg, call, expression):
    expected = {"x": np.array([1.0, -2.0]), "y": np.array([3.0, 0.5])}

    def program(x, y):
        return eval(expression, {"tg": tg, "x": x, "y": y})

    result = call(program, lambda: [tg.tensor(expected["x"]), tg.tensor(expected["y"])])
    assert result.dtype == tg.float64 and result.shape == (2,)
