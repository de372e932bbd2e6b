"""Code that compares or names the classes of its objects makes no objects of them: constructors do not matter."""

import dataclasses
import random

import numpy as np
import pytest

from tracegrad.compiled.guards.bytecode import attribute_names


@dataclasses.dataclass(order=True)
class Settings:
    scale: float = 2.0

    def __post_init__(self):
        random.seed(0)
        np.random.seed(0)

    def use(self, x):
        return x * self.scale


@dataclasses.dataclass(frozen=True)
class Frozen:
    scale: float = 2.0


class Box:
    pass


def making(of):
    return of.__class__(3.0), type(of)(3.0)


def comparing_and_making(of):
    return type(of) is Settings and type(of)(3.0), of.__class__ is of.__class__ and of.__class__(3.0)


def comparing(of, other):
    return type(of) is Settings and of.__class__ is other.__class__ and type(of).__name__ == of.__class__.__qualname__


WRITTEN = [vars(Settings)[name] for name in ("__eq__", "__lt__", "__ge__")]
WRITTEN += [vars(Frozen)[name] for name in ("__eq__", "__setattr__", "__delattr__", "__hash__")]


@pytest.mark.parametrize("function", [*WRITTEN, comparing], ids=lambda f: f.__name__)
def test_comparing_asks_for_no_class(function):
    assert {"type", "__class__"}.isdisjoint(attribute_names(function.__code__))


@pytest.mark.parametrize("function", [making, comparing_and_making], ids=lambda f: f.__name__)
def test_making_asks_for_classes(function):
    assert {"type", "__class__"} <= {*attribute_names(function.__code__)}


def test_settings_are_reached_without_what_makes_them(tg):
    settings = Settings()
    step = tg.compile(lambda x: settings.use(x).sum())
    for _ in range(4):
        step(tg.ones(2))
    assert step.way == "replay" and "seed" not in step.explain()


def test_what_makes_them_is_asked_where_they_are_made(tg):
    settings = Settings()
    step = tg.compile(lambda x: type(settings)(3.0).use(x).sum())
    for _ in range(4):
        assert step(tg.ones(2)).item() == 6
    assert "seed" in step.explain()


READS = {
    "type name": lambda box, other, x: x * len(type(box).__name__),
    "class name": lambda box, other, x: x * len(box.__class__.__qualname__),
    "repr": lambda box, other, x: x * len(repr(other)),
    "type is": lambda box, other, x: x * (2 if type(box) is Box else 3),
    "class is": lambda box, other, x: x * (2 if box.__class__ is other.__class__ else 3),
    "equal": lambda box, other, x: x * (2 if other == Settings(2.0) else 3),
}
CHANGES = {
    "name": lambda kinds: [setattr(kind, "__name__", "Longer") for kind in kinds],
    "qualname": lambda kinds: [setattr(kind, "__qualname__", "Longer than that") for kind in kinds],
}


@pytest.mark.parametrize("change", [*CHANGES, "class"])
@pytest.mark.parametrize("read", READS)
def test_names_and_classes_are_still_compared(tg, read, change):
    kind, kind_of_other = type("Box", (Box,), {}), dataclasses.make_dataclass("Other", [("k", float, 1.0)], frozen=True)
    box, other = kind(), kind_of_other()

    def function(x):
        return READS[read](box, other, x)

    step, x = tg.compile(function), tg.ones(1)
    for _ in range(3):
        tg.testing.assert_close(step(x), function(x))
    if change == "class":
        box.__class__ = Box
        object.__setattr__(other, "__class__", type("OtherThanThat", (kind_of_other,), {}))
    else:
        CHANGES[change]([kind, kind_of_other])
    for _ in range(3):
        tg.testing.assert_close(step(x), function(x))
