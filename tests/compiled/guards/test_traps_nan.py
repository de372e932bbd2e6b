"""A nan is found in a container by its identity, which ``in``, ``==`` and their like ask for before they compare.

So a nan that is another object is another value for code that may compare containers, wherever it stands.
"""

import collections
import decimal
import itertools
import operator
import types

import numpy as np
import pytest

NANS = {
    "float": lambda: float("nan"),
    "complex": lambda: complex("nan"),
    "float32": lambda: np.float32("nan"),
    "float64": lambda: np.float64("nan"),
    "Decimal": lambda: decimal.Decimal("nan"),
}


def _places(nan):
    """Each way to keep `nan`: what holds it, how it is put there, and how it is read."""
    yield "list", [nan], lambda held, v: held.__setitem__(0, v), lambda held: held[0]
    yield "nested", {"a": [(nan,)]}, lambda held, v: held.__setitem__("a", [(v,)]), lambda held: held["a"][0][0]
    yield "dict", {"a": nan}, lambda held, v: held.__setitem__("a", v), lambda held: held["a"]
    yield "deque", collections.deque([nan]), lambda held, v: held.__setitem__(0, v), lambda held: held[0]
    yield "object", types.SimpleNamespace(a=[nan]), lambda held, v: setattr(held, "a", [v]), lambda held: held.a[0]


#: Whether `value` is found in `known`, which holds one nan.
QUESTIONS = {
    "in": lambda value, known: value in known,
    "not in": lambda value, known: value not in known,
    "==": lambda value, known: [value] == known,
    "!=": lambda value, known: (value,) != tuple(known),
    "count": lambda value, known: known.count(value) > 0,
    "contains": lambda value, known: operator.contains(known, value),
    "set": lambda value, known: value in {*known},
    "dict": lambda value, known: {"k": value} == {"k": known[0]},
    "get": lambda value, known: dict.fromkeys(known, True).get(value, False),
}
CASES = [*itertools.product(NANS, ("list", "nested", "dict", "deque", "object"), QUESTIONS)]


def _answers(tg, way, kind, place, question):
    """What a function gives for the nan that it knows, and for others."""
    nan, asked = NANS[kind](), QUESTIONS[question]
    known = [nan]
    _, held, put, read = next(each for each in _places(nan) if each[0] == place)
    step = way(lambda x: x * 2 if asked(read(held), known) else x * 3)
    answers = []
    for i in range(6):
        put(held, nan if i in (0, 3, 4) else NANS[kind]())
        answers.append(step(tg.ones(2)).tolist())
    return answers


@pytest.mark.parametrize(("kind", "place", "question"), CASES)
def test_a_nan_is_the_object_that_it_is(tg, kind, place, question):
    expected = _answers(tg, lambda step: step, kind, place, question)
    assert len({*map(str, expected)}) == 2  # one nan is found, the others are not
    assert _answers(tg, tg.compile, kind, place, question) == expected
