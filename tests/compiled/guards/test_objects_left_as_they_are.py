"""Reading makes nothing: what a compiled function finds has a ``__dict__`` after its calls if it had one before."""

import functools
import gc
import sys

import pytest
from side_by_side import served

import tracegrad as tg


class Scaled(functools.partial):
    """A partial of the program's."""


class Refused(ValueError):
    """An exception of the program's."""


class Slotted:
    """Has no ``__dict__``."""

    __slots__ = ("scale",)

    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return x * self.scale


def scaling(x, scale=2.0, *, more=1.0):
    """Has no attributes, but what functions have."""
    return x * scale * more


def _function():
    def scaled(x, scale=2.0):
        return scaling(x, scale)

    return scaled


def _wrapped():
    @functools.wraps(scaling)
    def scaled(x):
        return scaling(x)

    return scaled


def _with_an_attribute(thing):
    thing.scale = 2.0
    return thing


# What is found, and what is done with it.
KINDS = {
    "function": (_function, "thing(x)"),
    "lambda": (lambda: lambda x: x + 1, "thing(x)"),
    "generator function": (lambda: lambda x: (yield x), "next(thing(x))"),
    "function with a decorator": (_wrapped, "thing(x)"),
    "function with an attribute": (lambda: _with_an_attribute(_function()), "thing(x) * thing.scale"),
    "partial": (lambda: functools.partial(scaling, scale=3.0), "thing(x)"),
    "partial of a partial's own class": (lambda: Scaled(scaling, scale=3.0), "thing(x)"),
    "partial of a lambda": (lambda: functools.partial(lambda a, x: a * x, 3.0), "thing(x)"),
    "partial with tensors": (lambda: functools.partial(scaling, more=tg.ones(2)), "thing(x)"),
    "partial with a list": (lambda: functools.partial(sum, start=[1.0][0]), "thing([x, x])"),
    "partial with an attribute": (lambda: _with_an_attribute(functools.partial(scaling)), "thing(x) * thing.scale"),
    "method": (lambda: Slotted(2.0).__call__, "thing(x)"),
    "slots": (lambda: Slotted(2.0), "thing(x)"),
    "exception": (lambda: ValueError(2.0), "x * thing.args[0]"),
    "exception of the program": (lambda: Refused(2.0), "x * thing.args[0]"),
    "singledispatch": (lambda: functools.singledispatch(_function()), "thing(x)"),
    "class method": (lambda: classmethod(_function()), "thing.__func__(x)"),
    "module": (lambda: tg.nn.Linear(2, 2), "thing(x)"),
}
# What else the code names: names that make the library look at more of what it finds.
BESIDE = {
    "nothing": "0",
    "missing": "getattr(thing, 'no_such_name', 0)",
    "asked": "int(hasattr(thing, '__signature__'))",
    "computed": "len([n for n in ('a', 'b') if hasattr(thing, n + '_')])",
    "set elsewhere": "(setattr(other, 'count', 1) or 0)",
}


def facts(thing):
    """How large an object is, what it holds, and how a partial of it is made."""
    held = [type(each).__name__ for each in gc.get_referents(thing)]
    flat = functools.partial(thing, a=1).func is thing if callable(thing) else None
    return sys.getsizeof(thing), sorted(held), flat


def _made(kind, beside):
    make, use = KINDS[kind]
    found = {"thing": make(), "other": Slotted, "tg": tg}
    exec(f"def step(x):\n    return {use} + {BESIDE[beside]}", found)
    return found["thing"], found["step"]


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("way", ["replayed", "re-recorded", "verified"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_call_finds_is_left_as_it_was(kind, way, beside):
    thing, step = _made(kind, beside)
    step(tg.ones(2))  # Python keeps what it has looked up
    before = facts(thing)
    compiled = served(tg, step, "replayed" if way == "verified" else way)
    with tg.no_grad():
        for _ in range(3):
            compiled(tg.ones(2))
        if way == "verified":
            compiled.verify(tg.ones(2))
    assert facts(thing) == before


def test_attributes_that_come_later_are_noticed():
    thing = functools.partial(scaling)
    step = tg.compile(lambda x: x * getattr(thing, "scale", 3.0))
    found = [step(tg.ones(1)).item() for _ in range(3)]
    thing.scale = 5.0
    found.append(step(tg.ones(1)).item())
    del thing.scale
    assert [*found, step(tg.ones(1)).item()] == [3.0, 3.0, 3.0, 5.0, 3.0]


def test_attributes_that_a_call_makes_are_noticed():
    def counted(x):
        counted.calls = getattr(counted, "calls", 0) + 1
        return x * counted.calls

    step = tg.compile(counted)
    assert [step(tg.ones(1)).item() for _ in range(5)] == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_verifying_takes_attributes_away_that_were_not_there():
    error, thing = ValueError(), functools.partial(scaling)

    def step(x):
        error.seen = thing.seen = True
        return x * 2

    report = tg.compile(step)
    report.verify(tg.ones(2))
    assert not vars(error) and not vars(thing)
