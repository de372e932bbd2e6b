"""Index and scatter functions, sorts and searches, shapes and products: PyTorch's numbers (stored; see
expected/places.py), its errors, and the same from compiled functions."""

import json
import re

import numpy as np
import pytest
from expected import places
from expected.compare import STORE, assert_close, load
from expected.programs import leaves, stored_case

STORED = load("places")
ERRORS = json.loads((STORE / "places.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("expression", places.EXPRESSIONS)
def test_values_and_gradients(tg, expression):
    """First and second gradients, where PyTorch has them."""
    found, expected = places.run_places(tg, expression), stored_case(STORED, expression)
    assert found.keys() >= expected.keys()
    for name in expected:
        assert found[name].numpy().dtype == expected[name].dtype, name
        assert_close(found[name], expected[name])


@pytest.mark.parametrize("expression", places.WRONG)
def test_errors(tg, expression):
    """PyTorch's class, and the greater part of its words; where these are a list of overloads, the class."""
    (name, text), (expected_name, expected_text) = places.error_of(tg, expression), ERRORS[expression]
    assert name == expected_name
    words = re.findall(r"\w+", expected_text)
    common = sum(word in re.findall(r"\w+", text) for word in words)
    assert common > len(words) / 2 or "invalid combination of arguments" in expected_text, (text, expected_text)


@pytest.mark.parametrize("text", places.LAYERS)
def test_layers(tg, text):
    """Keys, initial draws and results."""
    found, expected = places.run_layer(tg, text), stored_case(STORED, text)
    assert list(found) == list(expected)
    for name in expected:
        assert_close(found[name], expected[name])


def test_description_of_a_layer(tg):
    assert repr(tg.nn.Bilinear(2, 3, 4)) == "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)"


# ---------------------------------------------------------------------------------------------------------- compiled

#: How many expressions one compiled function takes: few functions, and little beside a failure.
TOGETHER = 15
#: What looks at numbers is served by recording again; so is a function in which it stands.
LOOKING = (
    "argwhere", "unique", "bincount", "tensor_split(x, tg.tensor", "repeat_interleave(j", "(m,)", "True, False, True",
    "narrow(1, tg.tensor", "as_strided((2, 3), (1, 2), 1)", "x[1:].as_strided", "view(tg.int", "view_copy(n",
    "resize", "apply_", "map_", "set_(", "block_diag(z",
)  # fmt: skip
PURE = [e for e in places.EXPRESSIONS if not any(word in e for word in LOOKING)]
OTHERS = [e for e in places.EXPRESSIONS if e not in PURE]


def groups(expressions):
    return [expressions[start : start + TOGETHER] for start in range(0, len(expressions), TOGETHER)]


def varied(call):
    """Other numbers at each call; index arrays keep their values but change their places."""
    return {
        name: array + call / 8 if array.dtype.kind == "f" else np.roll(array, call, 0)
        for name, array in places.ARRAYS.items()
    }


def assert_compiled(tg, expressions, ways):
    programs = {expression: places.program(tg, expression, places.ARRAYS) for expression in expressions}

    def every(*tensors):
        return {expression: program(*tensors) for expression, program in programs.items()}

    step = tg.compile(every)
    for call in range(4):
        arrays = varied(call)
        expected, found = every(*leaves(tg, arrays)), step(*leaves(tg, arrays))
        for expression in expressions:
            assert found[expression].keys() == expected[expression].keys(), expression
            for name, value in expected[expression].items():
                assert found[expression][name].dtype is value.dtype, (expression, name)
                assert_close(found[expression][name], value)
    assert step.way in ways, step.explain()


@pytest.mark.long(every=5)
@pytest.mark.parametrize("expressions", groups(PURE), ids=lambda group: group[0])
def test_compiled(tg, expressions):
    """What depends on no number in its shape is replayed."""
    assert_compiled(tg, expressions, ("replay",))


@pytest.mark.long(every=2)
@pytest.mark.parametrize("expressions", groups(OTHERS), ids=lambda group: group[0])
def test_recorded_again(tg, expressions):
    assert_compiled(tg, expressions, ("re-record",))


def test_a_few_compiled(tg):
    assert_compiled(tg, PURE[7::29], ("replay",))


def test_a_few_recorded_again(tg):
    assert_compiled(tg, OTHERS[3::9], ("re-record",))
