"""Values that are equal for Python, and that a program can tell apart all the same: each takes its own way."""

import collections
import datetime
import decimal
import functools
import itertools
import pathlib
import types
import uuid

import numpy as np
import pytest

Decimal, UTC = decimal.Decimal, datetime.timezone.utc
SOON = datetime.timezone(datetime.timedelta(hours=1))
THREE = [1.5, 2.5, 3.5]  # the very objects, in containers of several kinds


class Other(list):
    """A class of the program's."""


#: Two values, and what a program may ask of one; the answers differ.
PAIRS = {
    "a set's order": (lambda: {0, 8}, lambda: {8, 0}, lambda v: next(iter(v)) + 1),
    "a frozenset's order": (lambda: frozenset([0, 8]), lambda: frozenset([8, 0]), lambda v: next(iter(v)) + 1),
    "a set's order within": (lambda: [{0, 8}], lambda: [{8, 0}], lambda v: next(iter(v[0])) + 1),
    "a dict's order": (lambda: {"a": 1, "b": 2}, lambda: {"b": 2, "a": 1}, lambda v: ord(next(iter(v)))),
    "deque.maxlen": (lambda: collections.deque([1], 5), lambda: collections.deque([1], 6), lambda v: v.maxlen),
    "default_factory": (
        lambda: collections.defaultdict(int, a=1),
        lambda: collections.defaultdict(lambda: 7, a=1),
        lambda v: v.default_factory() + 1,
    ),
    "a list, a tuple": (lambda: [*THREE], lambda: (*THREE,), lambda v: 1 + isinstance(v, tuple)),
    "a list, another class": (lambda: [*THREE], lambda: Other(THREE), lambda v: len(type(v).__name__)),
    "dict, OrderedDict": (
        lambda: dict.fromkeys(THREE),
        lambda: collections.OrderedDict.fromkeys(THREE),
        lambda v: 1 + hasattr(v, "move_to_end"),
    ),
    "dict, defaultdict": (
        lambda: dict.fromkeys(THREE),
        lambda: collections.defaultdict(int, dict.fromkeys(THREE)),
        lambda v: 1 + hasattr(v, "default_factory"),
    ),
    "dict, Counter": (lambda: {"a": 1}, lambda: collections.Counter(a=1), lambda v: 1 + hasattr(v, "elements")),
    "keys 1, True": (lambda: {1: 2}, lambda: {True: 2}, lambda v: len(str(next(iter(v))))),
    "items 1, True": (lambda: {1}, lambda: {True}, lambda v: len(str(next(iter(v))))),
    "keys 0, -0": (lambda: {0.0: 1}, lambda: {-0.0: 1}, lambda v: len(str(next(iter(v))))),
    "Decimal's exponent": (lambda: Decimal("1.0"), lambda: Decimal("1.00"), lambda v: len(str(v))),
    "Decimal's sign": (lambda: Decimal("0"), lambda: Decimal("-0"), lambda v: len(str(v))),
    "datetime.fold": (
        lambda: datetime.datetime(2020, 1, 1, fold=0),
        lambda: datetime.datetime(2020, 1, 1, fold=1),
        lambda v: 1 + v.fold,
    ),
    "a datetime's zone": (
        lambda: datetime.datetime(2020, 1, 1, 12, tzinfo=UTC),
        lambda: datetime.datetime(2020, 1, 1, 13, tzinfo=SOON),
        lambda v: v.hour,
    ),
    "a zone's name": (
        lambda: datetime.timezone(datetime.timedelta(0), "A"),
        lambda: datetime.timezone(datetime.timedelta(0), "BB"),
        lambda v: len(v.tzname(None)),
    ),
    "case of a path": (
        lambda: pathlib.PureWindowsPath("A"),
        lambda: pathlib.PureWindowsPath("a"),
        lambda v: ord(str(v)),
    ),
    "UUID.is_safe": (
        lambda: uuid.UUID(int=5, is_safe=uuid.SafeUUID.safe),
        lambda: uuid.UUID(int=5, is_safe=uuid.SafeUUID.unsafe),
        lambda v: v.is_safe.value + 3,
    ),
    "units of datetime64": (
        lambda: np.datetime64("2020-01-01"),
        lambda: np.datetime64("2020-01-01T00"),
        lambda v: len(str(v)),
    ),
    "units of timedelta64": (
        lambda: np.timedelta64(1, "h"),
        lambda: np.timedelta64(60, "m"),
        lambda v: float(v.astype(int)),
    ),
    "order of bytes": (lambda: np.ones(3, "<f4"), lambda: np.ones(3, ">f4"), lambda v: 1 + (v.dtype.byteorder == ">")),
    "order in memory": (lambda: np.ones((2, 2)), lambda: np.ones((2, 2), order="F"), lambda v: v.strides[0]),
    "signs of zeros": (lambda: np.zeros(1), lambda: -np.zeros(1), lambda v: 2 + float(np.copysign(1, v[0]))),
    "a slice's type": (lambda: slice(0, 1), lambda: slice(0, True), lambda v: len(str(v.stop))),
    "a range's end": (lambda: range(0, 3, 2), lambda: range(0, 4, 2), lambda v: v.stop),
}


def _passed(way, read, values, ones):
    step = way(lambda x, v: x * read(v))
    return [step(ones, value).tolist() for value in values]


def _put(put, held, way, read, values, ones):
    step = way(lambda x: x * read(held["v"] if isinstance(held, dict) else held.v))
    answers = []
    for value in values:
        put(held, value)
        answers.append(step(ones).tolist())
    return answers


PLACES = {
    "an argument": _passed,
    "an item": lambda *args: _put(lambda held, value: held.update(v=value), {"v": None}, *args),
    "an attribute": lambda *args: _put(lambda held, value: setattr(held, "v", value), types.SimpleNamespace(), *args),
}


@functools.cache
def _values(name):
    first, second, read = PAIRS[name]
    values = [make() for make in (first, second, first, second, second, first)]
    assert len({*map(read, values)}) == 2
    return values, read


@pytest.mark.parametrize(("name", "place"), [*itertools.product(PAIRS, PLACES)])
def test_equal_values_are_told_apart(tg, name, place):
    values, read = _values(name)
    expected = PLACES[place](lambda step: step, read, values, tg.ones(2))
    assert PLACES[place](tg.compile, read, values, tg.ones(2)) == expected


def test_most_are_equal():
    plain = [name for name in PAIRS if not isinstance(_values(name)[0][0], (np.ndarray, range))]
    equal = [name for name in plain if _values(name)[0][0] == _values(name)[0][1]]
    assert len(equal) > 0.8 * len(plain)
