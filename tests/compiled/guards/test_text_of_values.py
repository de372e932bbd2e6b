"""What is said of a call (why it was recorded, `explain`) runs no code of the user's: a table of objects whose text is
the user's, in each place of a value that may be shown."""

import enum
from collections import OrderedDict

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn
from tracegrad.compiled.common.value_text import value_text

RAN = []


class _Said:
    def __repr__(self):
        RAN.append(type(self).__name__)
        return "said"

    __str__ = __repr__

    def __format__(self, spec):
        return repr(self)


class Plain(_Said):
    scale = 2.0


class Number(_Said, float):
    scale = 2.0


class Text(_Said, str):
    scale = 2.0

    def startswith(self, *args):
        RAN.append("startswith")
        return True


class Mode(_Said, enum.Enum):
    A = 2.0

    @property
    def scale(self):
        return 2.0


class Layer(nn.Module):
    scale = 2.0

    def extra_repr(self):
        RAN.append("extra_repr")
        return ""


class Meta(type):
    def __repr__(cls):
        RAN.append("Meta")
        return "said"


class OfMeta(metaclass=Meta):
    scale = 2.0


OBJECTS = {
    "object": Plain,
    "float": lambda: Number(1.5),
    "str": lambda: Text("<text"),
    "enum": lambda: Mode.A,
    "module": Layer,
    "class": lambda: OfMeta,
    "of a metaclass": OfMeta,
}
PLACES = {
    "itself": lambda found: found,
    "list": lambda found: [found],
    "tuple": lambda found: (found, 1),
    "dict": lambda found: {"key": [found]},
    "set": lambda found: frozenset({found}),
    "ordered": lambda found: OrderedDict(key=found),
    "array": lambda found: np.array([found, None], dtype=object),
    "method": lambda found: found.__init__,
    "slice": lambda found: slice(found, None),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", OBJECTS)
def test_the_text_of_a_value_runs_no_code_of_the_users(kind, place):
    value = PLACES[place](OBJECTS[kind]())
    RAN.clear()
    text = value_text(value)
    assert isinstance(text, str) and RAN == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", OBJECTS)
def test_recording_and_explaining_a_call_run_no_text_of_an_argument(kind):
    step = tg.compile(lambda x, found: (x * found.scale).sum())
    RAN.clear()
    for i in range(3):
        assert float(step(tg.ones(3) * i, OBJECTS[kind]())) == 6.0 * i
    step.explain()
    assert RAN == []


@pytest.mark.parametrize(
    "value",
    [1, -0.0, True, None, "a", b"a", [], [1, "a"], (), (1,), (1, 2), {}, {"a": [1, 2.5]}, {3}, set(), frozenset(),
     frozenset({1}), range(3), int, np.float32(2), np.ones(2), np.dtype("float32"), len.__class__, ...],
)  # fmt: skip
def test_the_text_of_pythons_own_values_is_their_repr(value):
    assert value_text(value) == repr(value)


def test_the_text_of_a_container_that_holds_itself_ends():
    held = [1]
    held.append(held)
    assert value_text(held).startswith("[1, [1, ")
