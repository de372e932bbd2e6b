"""Partials and descriptors that are given other parts after a replay, by means that set no attribute."""

import functools

import pytest
from side_by_side import agreeing, switched


def scaling(value):
    return lambda *_: value


def times(x, k):
    return x * k


MADE_ANEW = {  # what is used in the function, and how it is given other parts
    "partial": (
        lambda: functools.partial(times, k=1.0),
        lambda made, value: made.__setstate__((times, (), {"k": value}, {})),
        lambda made, x: made(x),
    ),
    "property": (
        lambda: property(scaling(1.0)),
        lambda made, value: made.__init__(scaling(value)),
        lambda made, x: x * type("Scaled", (), {"scale": made})().scale,
    ),
    "staticmethod": (
        lambda: staticmethod(scaling(1.0)),
        lambda made, value: made.__init__(scaling(value)),
        lambda made, x: x * made(),
    ),
    "cached_property": (
        lambda: functools.cached_property(scaling(1.0)),
        lambda made, value: setattr(made, "func", scaling(value)),
        lambda made, x: x * made.func(None),
    ),
}


@pytest.mark.parametrize("kind", MADE_ANEW)
def test_parts_of_callables_and_descriptors_may_be_others(tg, kind):
    make, change, use = MADE_ANEW[kind]

    def build(tg):
        made = make()
        return switched(tg, lambda x: use(made, x), lambda value: change(made, value))

    agreeing(tg, build, 6)


class Twice:
    def scaled(self, x):
        return x * 2


class Threefold:
    def scaled(self, x):
        return x * 3


def test_the_bases_of_a_class_may_be_others(tg):
    def build(tg):
        class Layer(Twice):
            pass

        layer = Layer()

        def change(value):
            Layer.__bases__ = (Twice, Threefold)[int(value) % 2 :][:1]

        return switched(tg, lambda x: layer.scaled(x), change)

    agreeing(tg, build, 6)
