"""Powers at zeros and infinities: a number 0.5 is a root, as in PyTorch, a tensor of that value is not."""

import itertools
import math

import pytest

BASES = [-0.0, 0.0, -math.inf, math.inf, 4.0, -4.0, math.nan]
ROOTS = {  # PyTorch's answers for exponents that are numbers
    0.5: ["-0.0", "0.0", "nan", "inf", "2.0", "nan", "nan"],
    -0.5: ["-inf", "inf", "nan", "0.0", "0.5", "nan", "nan"],
}
POWERS = {  # and for tensors
    0.5: ["0.0", "0.0", "inf", "inf", "2.0", "nan", "nan"],
    -0.5: ["inf", "inf", "0.0", "0.0", "0.5", "nan", "nan"],
}
FORMS = {
    "a number": lambda tg, x, y: x**y,
    "0-d": lambda tg, x, y: x ** tg.tensor(y),
    "0-d of its type": lambda tg, x, y: x ** tg.tensor(y, dtype=x.dtype),
    "full": lambda tg, x, y: tg.pow(x, tg.full(x.shape, y, dtype=x.dtype)),
    "expanded": lambda tg, x, y: x ** tg.tensor([y], dtype=x.dtype).expand(len(x)),
    "in float64": lambda tg, x, y: tg.float_power(x, tg.full(x.shape, y)),
}
ROWS = list(itertools.product(FORMS, ROOTS, ["float32", "float64"]))


def text(tensor):
    return [str(value) for value in tensor.tolist()]


@pytest.mark.parametrize(("form", "exponent", "dtype"), ROWS)
def test_eager_and_compiled_answer_as_pytorch(tg, form, exponent, dtype):
    x, wanted = tg.tensor(BASES, dtype=getattr(tg, dtype)), (ROOTS if form == "a number" else POWERS)[exponent]
    assert text(FORMS[form](tg, x, exponent)) == wanted
    step = tg.compile(lambda x: FORMS[form](tg, x, exponent))
    for _ in range(3):
        assert text(step(x)) == wanted
    with tg.deferred():
        assert text(FORMS[form](tg, x, exponent)) == wanted


@pytest.mark.parametrize("wraps", [False, True])
def test_an_exponent_that_changes(tg, wraps):
    """As a number it is data of one program, as an argument of shape [] a tensor."""
    x, answers = tg.tensor(BASES), POWERS if wraps else ROOTS
    step = tg.compile(lambda x, y: x**y)
    for exponent in (1.5, 2.5, 0.5, -0.5, 0.25, 0.5):
        found = step(x, tg.tensor(exponent) if wraps else exponent)
        if exponent in answers:
            assert text(found) == answers[exponent], step.explain()
