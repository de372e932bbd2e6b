"""`verify()` takes back what the calls that it makes write into namespaces: it is as if there had been none."""

import datetime
import functools
import logging
import re
import types
from decimal import Decimal

import numpy as np
import pytest


class Slotted:
    __slots__ = ("empty", "n")

    def __init__(self):
        self.n = 0


class Listed(list):
    n = 0


class Mapped(dict):
    n = 0


class Plain:
    def __init__(self):
        self.n = 0


class SlottedBelow(Slotted):
    def __init__(self):
        super().__init__()
        self.own = 0


def function():
    """Has attributes."""


def fresh():
    """Owners as they are before the calls: nobody has written to them."""
    module = types.ModuleType("a_module")
    module.n = 0
    kind = type("Kind", (), {"n": 0})
    partial = functools.partial(print)
    partial.n = 0
    named = types.FunctionType(function.__code__, globals(), "named")
    named.n = 0
    logger = logging.Logger("verified")
    logger.n = 0
    return {
        "an object": Plain(), "slots": Slotted(), "slots and attributes": SlottedBelow(), "a list": Listed(),
        "a dict": Mapped(), "a class": kind, "a module": module, "a function": named, "a partial": partial,
        "a logger": logger,
    }  # fmt: skip


WRITES = {
    "counts": "o.n += 1",
    "by a computed name": "setattr(o, 'n'.lower(), o.n + 1)",
    "a new name": "o.empty = 3",
    "an item and a count": "o.n += 1; (o.append(1) if isinstance(o, list) else None)",
    "takes away": "o.n = 1; del o.n",
    "two names": "o.n, o.empty = 5, [1]",
}
GLOBALS = {
    "a count": "global COUNT; COUNT += 1",
    "a new global": "global NEW; NEW = 1",
    "a global by name": "globals()['NEW'] = COUNT",
    "a global that goes": "global COUNT; COUNT = 1; del COUNT",
}


def entries(owner):
    """What an owner has under names, those of slots among them."""
    own = dict(vars(owner)) if hasattr(owner, "__dict__") else {}
    for base in type(owner).__mro__:
        for name in vars(base).get("__slots__", ()):
            if hasattr(owner, name):
                own[name] = getattr(owner, name)
    items = list(owner) if isinstance(owner, (list, dict)) else None
    return own, items


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("owner", fresh())
def test_owners(tg, owner, write):
    space = {"tg": tg, "o": fresh()[owner]}
    exec(f"def step(x):\n    {WRITES[write]}\n    return x * 2", space)
    before = entries(space["o"])
    if write == "takes away" and owner in ("a list", "a dict"):
        pytest.skip("the name is the class's afterwards")
    compiled = tg.compile(space["step"])
    assert compiled.verify(tg.ones(3)).ok
    assert entries(space["o"]) == before
    assert set(space) == {"tg", "o", "step", "__builtins__"}


@pytest.mark.parametrize("write", GLOBALS)
def test_globals(tg, write):
    space = {"tg": tg, "COUNT": 0}
    exec(f"def step(x):\n    {GLOBALS[write]}\n    return x * 2", space)
    before = dict(space)
    assert tg.compile(space["step"]).verify(tg.ones(3)).ok
    assert space == before


FOREIGN = {  # their classes are written in C or Cython, and have members that Python cannot set
    "a drawn number": "np.random.rand()",
    "a drawn number by a variable": "draw()",
    "an array's flags": "array.flags.num",
    "a compiled pattern": "len(pattern.findall('a0b1'))",
    "a partial function": "part(2)",
    "a slice": "range(9)[cut].stop",
    "a date": "day.toordinal()",
    "a decimal": "float(amount)",
}


@pytest.mark.parametrize("read", FOREIGN)
def test_objects_of_other_libraries(tg, read):
    space = {
        "tg": tg, "np": np, "draw": np.random.random, "array": np.ones(3), "pattern": re.compile(r"\d"),
        "part": functools.partial(pow, 3), "cut": slice(1, 4),
        "day": datetime.date(2020, 1, 1), "amount": Decimal("1.5"),
    }  # fmt: skip
    exec(f"def step(x):\n    return x * 2 + ({FOREIGN[read]})", space)
    assert tg.compile(space["step"]).verify(tg.ones(3)).ok
