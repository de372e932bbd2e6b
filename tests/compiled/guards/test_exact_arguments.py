"""Arguments that are equal and not the same: other types, other zeros, other dicts, wherever in the tree they stand."""

import collections
import itertools
import math

import pytest


class Text(str):
    pass


class Integer(int):
    pass


def of_one(value):
    """What a program can tell a plain value by."""
    real = getattr(value, "real", 0.0) if isinstance(value, (int, float, complex)) else 0.0
    return (type(value).__name__, math.copysign(1.0, real))


NUMBERS = {
    "ones": [1, True, 1.0, Integer(1), complex(1)],
    "zeros": [0, False, 0.0, -0.0],
    "nans": [math.nan, -math.nan],
    "complex zeros": [complex(0.0, 1), complex(-0.0, 1)],
    "texts": ["a", Text("a")],
}
PLACES = {
    "a leaf": lambda v: v,
    "a key": lambda v: {v: 0},
    "a key inside": lambda v: {"a": [{v: 0}]},
    "in a frozenset": lambda v: frozenset([v]),
    "a bound": lambda v: slice(v, 3),
    "in a tuple of a slice": lambda v: slice((v, 1), 3),
}


def shown(tree):
    """The plain values in a tree with their types, as text."""
    if isinstance(tree, dict):
        return [(shown(key), shown(item)) for key, item in tree.items()]
    if isinstance(tree, (list, tuple, frozenset)):
        return [shown(item) for item in tree]
    if isinstance(tree, slice):
        return [shown(tree.start), shown(tree.stop)]
    return of_one(tree)


def factor(tree):
    """A number that is another one for each text."""
    return float(sum(ord(letter) * (i + 1) for i, letter in enumerate(str(shown(tree)))) % 1009)


@pytest.mark.parametrize(
    ("numbers", "place"), [case for case in itertools.product(NUMBERS, PLACES) if case != ("nans", "a key")]
)
@pytest.mark.parametrize("way", ["by position", "by keyword"])
def test_equal_values_that_are_not_the_same(tg, numbers, place, way):
    def step(x, tree):
        return x * factor(tree)

    compiled = tg.compile(step)
    x = tg.ones(2)
    for _ in range(3):
        for value in (*NUMBERS[numbers], *reversed(NUMBERS[numbers])):
            tree = PLACES[place](value)
            got = compiled(x, tree) if way == "by position" else compiled(x, tree=tree)
            assert got.tolist() == step(x, tree).tolist(), value


@pytest.mark.parametrize("numbers", ["texts"])
def test_names_of_keywords(tg, numbers):
    def step(x, **options):
        return x * factor(options)

    compiled = tg.compile(step)
    for name in NUMBERS[numbers] * 4:
        assert compiled(tg.ones(2), **{name: 0}).tolist() == step(tg.ones(2), **{name: 0}).tolist()


def by_class(x, d):
    return x * 2 if isinstance(d, collections.OrderedDict) else x * 3


def by_type(x, d):
    return x * 2 if type(d) is dict else x * 3


def by_name(x, d):
    return x * d.get("k", 1.0) if type(d).__name__ == "dict" else x * 11


def by_method(x, d):
    return x * 2 if hasattr(d, "move_to_end") else x * 5


def by_attribute(x, d):
    return x * d.default_factory() if hasattr(d, "default_factory") else x * 7


def by_pattern(x, d):
    match d:
        case collections.OrderedDict():
            return x * 2
        case {"k": v}:
            return x * v


def by_missing(x, d):
    try:
        return x * d["missing"]
    except KeyError:
        return x


class Missing(dict):
    def __missing__(self, key):
        return 9.0


DICTS = {
    "dict": lambda: {"k": 2.0},
    "ordered": lambda: collections.OrderedDict(k=2.0),
    "with a factory": lambda: collections.defaultdict(lambda: 4.0, k=2.0),
    "with another factory": lambda: collections.defaultdict(lambda: 6.0, k=2.0),
    "the user's": lambda: Missing(k=2.0),
}


ASKED = (by_class, by_type, by_name, by_method, by_attribute, by_pattern, by_missing)


@pytest.mark.parametrize("step", ASKED, ids=lambda step: step.__name__)
def test_dicts_of_other_classes(tg, step):
    compiled = tg.compile(step)
    for kind in [*DICTS, *DICTS] * 2:
        assert compiled(tg.ones(2), DICTS[kind]()).tolist() == step(tg.ones(2), DICTS[kind]()).tolist(), kind
