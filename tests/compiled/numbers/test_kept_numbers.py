"""What a function puts a number into that is data, and keeps: afterwards there is a plain number in it, whether the
call came to an end or not."""

import collections
import functools
import gc
import itertools
import operator
import types
import weakref

import pytest

import tracegrad as tg
from tracegrad.compiled.symbolic.number import Formulas


class OfTuple(tuple):
    """A tuple of the program's own, with attributes."""


class OfList(list):
    """A list of the program's own."""


class OfDict(dict):
    """A dict of the program's own."""


class OfSet(set):
    """A set of the program's own."""


class OfFrozenSet(frozenset):
    """A frozen set of the program's own."""


class ReadOnly:
    """An object whose slot nobody sets a second time."""

    __slots__ = ("value",)

    def __init__(self, value):
        object.__setattr__(self, "value", value)

    def __setattr__(self, name, value):
        raise AttributeError(name)


def generated(value):
    yield value
    yield value


def begun(value):
    made = generated(value)
    next(made)
    return made


def with_default(value):
    def inner(of=value, *, by_name=value):
        return of + by_name

    return inner


def with_cell(value):
    return lambda: value


def with_attribute(value):
    made = types.SimpleNamespace()
    made.scale = value
    return made


def with_tuple_attribute(value):
    made = OfTuple((value,))
    made.scale = value
    return made


def bound(value):
    return value.__add__


def raised(value):
    try:
        raise ValueError(value)
    except ValueError as error:
        return error.with_traceback(None)


def own_function(value):
    return functools.partial(max, value, key=value)


HOLDERS = {
    "list": lambda n: [n], "tuple": lambda n: (n,), "tuples": lambda n: (((n,), n), n), "dict": lambda n: {"a": n},
    "key": lambda n: {"b": 1, n: 2, "c": 3}, "set": lambda n: {n}, "frozenset": lambda n: frozenset([n]),
    "own tuple": lambda n: OfTuple([n]), "own list": lambda n: OfList([n]), "own dict": lambda n: OfDict(a=n),
    "own set": lambda n: OfSet([n]), "own frozenset": lambda n: OfFrozenSet([n]), "own slot": ReadOnly,
    "tuple with an attribute": with_tuple_attribute, "deque": lambda n: collections.deque([n]),
    "ordered": lambda n: collections.OrderedDict(a=n), "counter": lambda n: collections.Counter(a=n),
    "partial": own_function, "getter": operator.itemgetter, "caller": lambda n: operator.methodcaller("f", n),
    "slice": slice, "bound": bound, "property": property, "alias": lambda n: list[n], "default": with_default,
    "cell": with_cell, "attribute": with_attribute, "error": raised, "new generator": lambda n: (n for _ in [1]),
    "iterator": lambda n: iter([n]), "zip": lambda n: zip([n]), "cycle": lambda n: itertools.cycle([n]),
    "proxy": lambda n: types.MappingProxyType({"a": n}), "chain": lambda n: collections.ChainMap({"a": n}),
    "slots in a list": lambda n: [[ReadOnly(n)], (n, ReadOnly((n,)))],
}  # fmt: skip
#: In which no other object can be put, and which cannot be made anew.
CLOSED = {"repeat": itertools.repeat, "begun generator": begun}


@pytest.fixture
def stand_ins(monkeypatch):
    """A function that gives the stand-ins which are alive, and how many there were."""
    made, make = [], Formulas._number

    def noting(self, position, value):
        number = make(self, position, value)
        made.append(weakref.ref(number))
        return number

    monkeypatch.setattr(Formulas, "_number", noting)

    def alive():
        gc.collect()
        return [number for number in (each() for each in made) if number is not None], len(made)

    return alive


def keeping(hold, fails):
    """A step that keeps a number from its third call on."""
    space, kept = types.SimpleNamespace(scale=2.0), []

    def step(x):
        kept[:] = [hold(space.scale)] if space.scale > 2.5 else []
        if fails and space.scale > 2.5:
            raise KeyError("a")
        return x * space.scale

    return tg.compile(step), space, kept


def run(step, space):
    for scale in (2.0, 2.0, 3.0):
        space.scale = scale
        try:
            step(tg.ones(2))
        except KeyError:
            pass


@pytest.mark.long(fast=13, every=5)
@pytest.mark.parametrize("fails", [False, True], ids=["", "fails"])
@pytest.mark.parametrize("name", HOLDERS)
def test_what_a_function_keeps_is_a_plain_number(stand_ins, name, fails):
    step, space, kept = keeping(HOLDERS[name], fails)
    run(step, space)
    alive, count = stand_ins()
    assert not alive and len(kept) == 1
    assert count, "the number was data"


@pytest.mark.parametrize("fails", [False, True], ids=["", "fails"])
@pytest.mark.parametrize("name", CLOSED)
def test_where_that_is_not_possible_the_program_is_told(name, fails):
    step, space, kept = keeping(CLOSED[name], fails)
    with pytest.warns(UserWarning, match="a number that stands for 3.0 in a recording stays in"):
        run(step, space)
    assert next(kept[0]) == 3.0


def test_a_method_of_a_number_stays_the_method():
    step, space, kept = keeping(bound, True)
    run(step, space)
    assert kept[0] == (3.0).__add__ and kept[0](1.0) == 4.0


def test_keys_stay_in_their_order():
    step, space, kept = keeping(HOLDERS["key"], True)
    run(step, space)
    assert list(kept[0]) == ["b", 3.0, "c"] and type(list(kept[0])[1]) is float


def raising(x, scale):
    raise ValueError(scale)


ERRORS = {
    "of the program": lambda x, n, given: raising(x * n, *given),
    "in a call with a tuple": lambda x, n, given: (lambda y, *rest: y.view(*rest))(x * n, *given, 3),
    "of an op": lambda x, n, given: x.view(n, *given),
    "of backward": lambda x, n, given: [(x.requires_grad_() * n).exp().sum().backward(), tg.ones(n).backward()],
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("wrong", [False, True], ids=["", "wrong arguments"])
@pytest.mark.parametrize("error", ERRORS)
def test_an_error_that_is_kept_is_no_place_that_keeps_numbers(stand_ins, error, wrong):
    """Frames of a traceback hold arguments, in tuples too: nobody is to be told of that."""
    step = tg.compile(lambda x, n, *given: ERRORS[error](x, n, given) if given else x * n)
    for n in range(2, 8):
        step(tg.ones(2), n)
        with pytest.raises((ValueError, TypeError, RuntimeError)) as raised:
            step(tg.ones(2), n, *(() if wrong else (n,)), **({"z": n} if wrong else {}))
        kept = raised.value  # noqa: F841
    assert stand_ins()[1], "the number was data"
