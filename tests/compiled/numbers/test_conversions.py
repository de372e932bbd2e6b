"""What ``float()`` and ``int()`` give of changing numbers is data, as the numbers are: one program serves them all."""

import itertools
import sys

import numpy as np
import pytest
from side_by_side import ramp

# Python 3.10 does not say where a class is only called: there the outcomes of conversions are guards.
TELLS_CALLS = sys.version_info >= (3, 11)
VALUES = [0.3, 0.4, 0.55, 0.6, 0.7, 0.8, 0.95, 0.25, 0.35]
UNARY = "sqrt cos sin tan exp expm1 log log1p tanh arctan floor ceil square abs negative".split()
BINARY = "maximum minimum hypot power arctan2 fmod add multiply".split()


def with_half(function):
    return lambda v: function(v, 0.5)


FUNCTIONS = {
    "nothing": lambda v: v,
    "sum": lambda v: v + 1,
    "clip": lambda v: np.clip(v, 0.2, 0.9),
    **{name: getattr(np, name) for name in UNARY},
    **{name: with_half(getattr(np, name)) for name in BINARY},
}
CONVERSIONS = {
    "float": lambda v: float(v),  # in calls of their own: only these may be stood in for
    "int": lambda v: int(v * 100),
    "float of int": lambda v: float(int(v * 100)),
}


def agree(step, values, tg):
    """The compiled function after it has given what eager mode gives for each of the `values`."""
    compiled = tg.compile(step)
    for value in values:
        found, expected = compiled(ramp(tg, 3), value), step(ramp(tg, 3), value)
        assert found.dtype == expected.dtype and found.tolist() == expected.tolist()
    return compiled


@pytest.mark.parametrize(("function", "conversion"), itertools.product(FUNCTIONS, CONVERSIONS))
def test_converted_numbers_are_data(tg, function, conversion):
    of, convert = FUNCTIONS[function], CONVERSIONS[conversion]
    compiled = agree(lambda x, v: x * convert(of(v)), VALUES, tg)
    assert not TELLS_CALLS or (len(compiled.specialisations) == 1 and compiled.way == "replay")


USES = {
    "isinstance": lambda x, v: x * float(v) if isinstance(v, float) else x,
    "an iterator": lambda x, v: x * next(map(float, [v])),
    "a dtype": lambda x, v: x.to(float) * float(v),
    "numpy's dtype": lambda x, v: x * float(np.zeros(2, dtype=float)[0] + v),
    "texts": lambda x, v: x * float("0.5") * int("11", 2) * v,
    "sizes": lambda x, v: x[: int(v * 4)] * v,
    "ranges": lambda x, v: sum((x * i for i in range(int(v * 4))), x),
    "tuples": lambda x, v: x * (1.0, 2.0, 3.0, 4.0)[int(v * 4)],
    "branches": lambda x, v: x * v if int(v * 2) else -x,
}


@pytest.mark.parametrize("use", USES)
def test_other_uses_of_the_classes_are_as_in_eager_mode(tg, use):
    agree(USES[use], VALUES, tg)


def test_errors_are_those_of_eager_mode(tg):
    """A number that cannot be converted comes after those that can."""
    step = lambda x, v: x * int(v)  # noqa: E731
    compiled = agree(step, [1.5, 2.5, 3.5, -4.5], tg)
    for value, kind in ((float("inf"), OverflowError), (float("nan"), ValueError)):
        with pytest.raises(kind) as eager:
            step(ramp(tg, 3), value)
        with pytest.raises(kind) as found:
            compiled(ramp(tg, 3), value)
        assert str(found.value) == str(eager.value)
    assert compiled(ramp(tg, 3), 5.5).tolist() == step(ramp(tg, 3), 5.5).tolist()


def test_the_classes_are_back_after_a_recording(tg):
    agree(lambda x, v: x * float(v) * int(v * 9), VALUES[:4], tg)
    assert "float" not in globals() and "int" not in globals()
