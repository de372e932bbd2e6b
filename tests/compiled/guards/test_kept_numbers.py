"""Numbers that a call keeps in the program's objects, also in those that `gc.freeze` hides from `gc.get_referrers`."""

import gc
from collections import deque, namedtuple

import pytest

from tracegrad.compiled.common import collection

hides_holders = collection.hides_holders  # the conftest has another one from the first test on

Pair = namedtuple("Pair", "one other")


class Attribute:
    value = None


class Slot:
    __slots__ = ("value",)


class Cell:
    def __init__(self):
        kept = None

        def put(value):
            nonlocal kept
            kept = value

        self.put, self.look = put, lambda: kept


TRAINER = """
class Trainer:
    def __init__(self):
        self.count, self.log = 0, []

    def step(self, x):
        self.count += 1
        if self.count % 3 == 0:
            self.log.append(self.count)
        return x * self.count
"""

PLACES = {
    "list": (list, list.append, list),
    "dict": (dict, lambda place, n: place.update(a=n), lambda place: [place["a"]]),
    "deque": (deque, deque.append, list),
    "set": (set, set.add, sorted),
    "attribute": (Attribute, lambda place, n: setattr(place, "value", n), lambda place: [place.value]),
    "list in an attribute": (Attribute, lambda place, n: setattr(place, "value", [n]), lambda place: place.value),
    "slot": (Slot, lambda place, n: setattr(place, "value", n), lambda place: [place.value]),
    "tuple in a slot": (Slot, lambda place, n: setattr(place, "value", (n,)), lambda place: list(place.value)),
    "tuple in a list": (list, lambda place, n: place.append((n,)), lambda place: [n for (n,) in place]),
    "pair in an attribute": (
        Attribute,
        lambda place, n: setattr(place, "value", Pair(n, 0)),
        lambda place: place.value,
    ),
    "tuple in a tuple": (Slot, lambda place, n: setattr(place, "value", ((n,),)), lambda place: list(place.value[0])),
    "cell": (Cell, lambda place, n: place.put(n), lambda place: [place.look()]),
}
VALUES = {"of an argument": lambda x, k: k * 2 + 1, "of a tensor": lambda x, k: x.sum().item() + k}


def histories(tg, way, freezes, make, put, look, value):
    place = make()

    def function(x, k):
        put(place, value(x, k))
        return (x * k).sum()

    if freezes:
        gc.freeze()
    try:
        step, seen = way(function), []
        for k in range(1, 7):
            result = step(tg.ones(3), k)
            seen.append((float(result), look(place), [type(n) for n in look(place)]))
        return seen
    finally:
        if freezes:
            gc.freeze()


@pytest.mark.parametrize("freezes", [False, True])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("place", PLACES)
def test_numbers_that_are_kept(tg, place, value, freezes, monkeypatch):
    if freezes:
        monkeypatch.setattr(collection, "hides_holders", hides_holders)
    eager = histories(tg, lambda function: function, freezes, *PLACES[place], VALUES[value])
    assert histories(tg, tg.compile, freezes, *PLACES[place], VALUES[value]) == eager


@pytest.mark.parametrize("module", ["examples.train", "benchmarks", "tests.programs"])
def test_programs_in_the_checkout_are_no_library(tg, module):
    """What runs as ``python -m tracegrad.examples.train`` is a program like any other."""
    names = {"__name__": f"tracegrad.{module}"}
    exec(compile(TRAINER, __file__, "exec"), names)
    trainer = names["Trainer"]()
    step = tg.compile(trainer.step)
    assert [float(step(tg.ones(1))) for _ in range(9)] == list(range(1, 10))
    assert trainer.log == [3, 6, 9]
