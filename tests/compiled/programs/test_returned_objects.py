"""What a function returns besides tensors in lists: objects that hold its argument are made anew at each call."""

import collections
import enum
import functools
import types
import typing

import pytest


class Count(int):
    """An int with attributes."""


class Text(str):
    """A string with attributes."""


def with_attribute(thing, x):
    thing.tensor = x
    return thing


# A function of the argument, and how its result leads to the argument again.
RETURNED = {
    "a function": (lambda x: lambda: x, lambda r: r()),
    "a default": (lambda x: lambda y=x: y, lambda r: r()),
    "a class": (lambda x: type("Made", (), {"tensor": x}), lambda r: r.tensor),
    "in containers": (lambda x: {"a": [(x.sum(), lambda s: x * s)]}, lambda r: r["a"][0][1](1)),
    "a key": (lambda x: {x: 1}, lambda r: next(iter(r))),
    "a function as a key": (lambda x: {(lambda: x): 1}, lambda r: next(iter(r))()),
    "a function within a key": (lambda x: {(1, lambda: x): 1}, lambda r: next(iter(r))[1]()),
    "a set": (lambda x: {x}, lambda r: next(iter(r))),
    "a slice": (lambda x: slice(x, None), lambda r: r.start),
    "a deque": (lambda x: collections.deque([x]), lambda r: r[0]),
    "a defaultdict": (lambda x: collections.defaultdict(lambda: x), lambda r: r[3]),
    "an int with attributes": (lambda x: with_attribute(Count(3), x), lambda r: r.tensor),
    "a string with attributes": (lambda x: with_attribute(Text("a"), x), lambda r: r.tensor),
    "a function with attributes": (lambda x: with_attribute(lambda: 0, x), lambda r: r.tensor),
    "an exception": (lambda x: ValueError(x), lambda r: r.args[0]),
    "a partial": (lambda x: functools.partial(max, x), lambda r: r.args[0]),
    "a method": (lambda x: x.clone, lambda r: r()),
    "an enum": (lambda x: enum.Enum("Made", {"A": x}).A, lambda r: r.value),
    "a generator": (lambda x: (i for i in [x]), lambda r: next(r)),
    "a module": (lambda x: with_attribute(types.ModuleType("made"), x), lambda r: r.tensor),
    "a namespace": (lambda x: types.SimpleNamespace(tensor=x), lambda r: r.tensor),
    "an annotation": (lambda x: typing.Annotated[int, x], lambda r: r.__metadata__[0]),
    "a proxy": (lambda x: types.MappingProxyType({"a": x}), lambda r: r["a"]),
    "a view of a dict": (lambda x: {"a": x}.values(), lambda r: next(iter(r))),
}


@pytest.mark.parametrize("kind", RETURNED)
def test_what_is_returned_holds_the_argument_of_its_call(tg, kind):
    function, look = RETURNED[kind]
    step = tg.compile(function)
    for i in range(4):
        assert look(step(tg.full((1,), float(i)))).item() == i, step.explain()


def test_the_class_of_a_named_tuple_may_be_made_by_the_call(tg):
    step = tg.compile(lambda x: collections.namedtuple("Made", "a")(x))
    results = [step(tg.ones(2)) for _ in range(4)]
    assert len({type(result) for result in results}) == 4


def test_constants_and_importable_classes_are_returned_by_replays(tg):
    step = tg.compile(lambda x: (x.sum(), "text", None, ..., 2.5, tg.float32, type(x), collections.deque, slice(1, 2)))
    for _ in range(4):
        assert step(tg.ones(2))[1:] == ("text", None, ..., 2.5, tg.float32, tg.Tensor, collections.deque, slice(1, 2))
    assert step.way == "replay"
