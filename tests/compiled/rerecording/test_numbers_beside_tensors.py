"""Operators between numbers, tensors that are there and tensors that the step computes, in calls that run Python."""

import operator

import pytest
from side_by_side import assert_same, noted

OPERATORS = {
    name: getattr(operator, name)
    for name in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift",
        "eq", "ne", "lt", "le", "gt", "ge",
    )
}  # fmt: skip
FUNCTIONS = ("remainder", "fmod", "floor_divide", "gcd", "lcm", "maximum", "atan2")
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64")
FORMS = {
    "number, tensor": lambda f, a, b: f(7, a),
    "number, computed": lambda f, a, b: f(7, b + 1),
    "float, computed": lambda f, a, b: f(7.5, b + 1),
    "tensor, number": lambda f, a, b: f(a, 3),
    "computed, number": lambda f, a, b: f(b + 1, 3),
    "tensor, computed": lambda f, a, b: f(a, b + 1),
    "computed, computed": lambda f, a, b: f(b + 1, b + 1),
    "computed, tensor": lambda f, a, b: f(b + 1, a),
    "number in a tensor, computed": lambda f, a, b: f(a[0], b + 1),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*OPERATORS, *FUNCTIONS])
def test_each_form_is_as_in_eager_mode(tg, name, dtype):
    function = OPERATORS.get(name) or getattr(tg, name)
    a = tg.tensor([3, 1, 5, 2]).to(getattr(tg, dtype))
    forms = [form for form in FORMS.values() if not isinstance(_outcome(lambda: form(function, a, a)), str)]  # noqa: B023
    expected = [_outcome(lambda: form(function, a, a)) for form in forms]  # noqa: B023
    step = tg.compile(lambda a, b: [*(form(function, a, b) for form in forms), a.real.float().sum().item()])
    for _ in range(4):
        assert_same([noted(result) for result in step(a, a)[:-1]], expected)


def _outcome(function):
    try:
        return noted(function())
    except (RuntimeError, TypeError, NotImplementedError) as error:
        return type(error).__name__
