"""Traps of `is` on plain values: an equal one may be another object, and a stand-in for a number is no constant."""

import enum
import itertools
import operator

import pytest
from compiled.table import Section
from side_by_side import Program, ramp

ask = Section("Traps: is")

LONG, FLOAT, TEXT = 10**6, 1.5, "two words"
TUPLE, NESTED, LIST, DICT = (1, 2), ((1, 2), 3), [1, 2], {"a": 1}


class Colour(enum.Enum):
    RED, GREEN, BLUE = range(3)


class Holder:
    pass


# A constant, and a maker of something that is equal to it but another object (for small ints: another number).
VALUES = {
    "small_int": (1, lambda: 2),
    "large_int": (LONG, lambda: int("1000000")),
    "float": (FLOAT, lambda: float("1.5")),
    "zero": (0.0, lambda: float("-0.0")),
    "nan": (float("nan"), lambda: float("nan")),
    "complex": (1j, lambda: complex("1j")),
    "text": (TEXT, lambda: " ".join(["two", "words"])),
    "bytes": (b"two words", lambda: b" ".join([b"two", b"words"])),
    "tuple": (TUPLE, lambda: tuple(iter([1, 2]))),
    "nested": (NESTED, lambda: (TUPLE, 3)),
    "list": (LIST, lambda: [1, 2]),
    "dict": (DICT, lambda: {"a": 1}),
    "frozenset": (frozenset([1, 2]), lambda: frozenset([2, 1])),
    "member": (Colour.RED, lambda: Colour.GREEN),
    "value_of_member": (Colour.GREEN.value, lambda: Colour.BLUE.value),
    "none": (None, lambda: 2),
}
ASKING = {
    "is": lambda a, b: a is b,
    "is_not": lambda a, b: a is not b,
    "operator": operator.is_,
    "operator_not": lambda a, b: operator.is_not(a, b),
    "id": lambda a, b: id(a) == id(b),
}


def by_argument(tg, constant, other, asks):
    x = ramp(tg, 3)
    return Program(
        lambda x, v: x * 2 if asks(v, constant) else x * 3, lambda i: (x, constant if i in (1, 2, 5) else other())
    )


def by_keyword_in_a_dict(tg, constant, other, asks):
    x = ramp(tg, 3)
    return Program(
        lambda x, options: x * 2 if asks(options["v"], constant) else x * 3,
        lambda i: (x, {"v": constant if i in (1, 2, 5) else other()}),
    )


def by_attribute(tg, constant, other, asks):
    x, holder = ramp(tg, 3), Holder()

    def args(i):
        holder.value = constant if i in (1, 2, 5) else other()
        return (x,)

    return Program(lambda x: x * 2 if asks(holder.value, constant) else x * 3, args)


def by_item(tg, constant, other, asks):
    x, table = ramp(tg, 3), {}

    def args(i):
        table["value"] = constant if i in (1, 2, 5) else other()
        return (x,)

    return Program(lambda x: x * 2 if asks(table["value"], constant) else x * 3, args)


def by_two_arguments(tg, constant, other, asks):
    x = ramp(tg, 3)
    return Program(
        lambda x, a, b: x * 2 if asks(a, b) else x * 3,
        lambda i: (x, constant, constant) if i in (1, 2, 5) else (x, constant, other()),
    )


PLACES = (by_argument, by_keyword_in_a_dict, by_attribute, by_item, by_two_arguments)


def _question(value, place, asking):
    def make(tg):
        return place(tg, *VALUES[value], ASKING[asking])

    make.__name__ = f"{value}_{place.__name__}_{asking}"
    make.__doc__ = f"Is a value ({value}) told from another one {place.__name__}, asked by {asking}?"
    return ask.either(calls=7)(make)


# Each way of asking meets each place and each value: 16 values in turn with 5 places and 5 ways.
for (value, place), asking in zip(itertools.product(VALUES, PLACES), itertools.cycle([*ASKING, "is"]), strict=False):
    _question(value, place, asking)


def _three_ways(tg, numbers):
    x, (red, green) = ramp(tg, 3), numbers[:2]

    def step(x, c):
        if c is red:
            return x
        elif c is green:
            return x * 2
        elif c == numbers[2]:
            return x * 3
        raise ValueError(c)

    return Program(step, lambda i: (x, numbers[i % 3]))


@ask.either(calls=9)
def three_small_numbers(tg):
    """Does each of three numbers that are told apart by `is` take its own way, and none the last one?"""
    return _three_ways(tg, (0, 1, 2))


@ask.either(calls=9)
def three_floats(tg):
    """Does each of three floats that are told apart by `is` take its own way?"""
    return _three_ways(tg, (0.25, 0.5, 0.75))


@ask.either(calls=8)
def nan_in_a_container(tg):
    """Is a nan found in a tuple where it is the very object, and no other one, be it a number that changes?"""
    x, nan = ramp(tg, 3), float("nan")
    numbers = (0.5, 0.75, nan, 1.5, float("nan"), nan, 2.0, float("nan"))
    return Program(lambda x, s: x * 2 if s in (nan,) else x * 3, lambda i: (x, numbers[i]))


@ask.either(calls=8)
def nan_in_an_attribute(tg):
    """Is a tuple with a nan equal to another one where both hold the very object?"""
    x, nan, holder = ramp(tg, 3), float("nan"), Holder()

    def args(i):
        holder.value = nan if i in (1, 2, 5) else float("nan")
        return (x,)

    return Program(lambda x: x * 2 if (holder.value,) == (nan,) else x * 3, args)


@ask.replay(specialisations=1, calls=6, c_calls=4)
def none_is_asked_for(tg):
    """Do numbers stay data where only None is asked for by `is`?"""
    x = ramp(tg, 3)
    return Program(lambda x, s: x if s is None else x * s, lambda i: (x, 1.5 + i))


@ask.replay(specialisations=1, calls=6, c_calls=4)
def members_are_asked_for(tg):
    """Do numbers stay data where only members of an enumeration and classes are asked for by `is`?"""
    x, mode = ramp(tg, 3), Colour.RED
    return Program(lambda x, s: x * s if mode is Colour.RED else x, lambda i: (x, 1.5 + i))


@pytest.mark.parametrize("question", ask.rows())
def test_traps_is(question, answer):
    answer(question)
