"""What `inspect`, `typing` and `functools` read of a function that is given to them is noticed when it is set later."""

import functools
import inspect
import typing

import pytest
from side_by_side import Program, agreeing

import tracegrad as tg


class Kinds:
    """Things with parameters; each is made anew for each run."""

    @staticmethod
    def function():
        def f(a: int, b=2.0, *, c=3.0) -> float:
            """Documented."""

        return f

    @staticmethod
    def plain():
        return lambda a, b: 0

    @staticmethod
    def wrapped():
        @functools.wraps(Kinds.function())
        def f(*args):
            pass

        return f

    @staticmethod
    def partial():
        return functools.partial(Kinds.function(), 1)

    @staticmethod
    def partial_of_plain():
        return functools.partial(Kinds.plain(), 1)


def _other(a, x: str, y: str = "", *, z=5.0):
    """Documented otherwise, and longer."""


_SIGNATURE = inspect.signature(_other)

# What is set on the thing, or on the function in it.
CHANGES = {
    "__signature__": lambda f: setattr(f, "__signature__", _SIGNATURE),
    "__wrapped__": lambda f: setattr(f, "__wrapped__", _other),
    "__defaults__": lambda f: setattr(_function(f), "__defaults__", (7.0, 8.0)),
    "__kwdefaults__": lambda f: setattr(_function(f), "__kwdefaults__", {"c": 9.0}),
    "an entry of __kwdefaults__": lambda f: (_function(f).__kwdefaults__ or {}).update(c=9.0),
    "__annotations__": lambda f: setattr(_function(f), "__annotations__", {"a": str, "b": str, "return": int}),
    "an entry of __annotations__": lambda f: _function(f).__annotations__.update(a=str, b=str),
    "__code__": lambda f: setattr(_function(f), "__code__", _other.__code__),
    "__name__": lambda f: setattr(_function(f), "__name__", "another_name"),
    "__qualname__": lambda f: setattr(_function(f), "__qualname__", "another_name"),
    "__doc__": lambda f: setattr(_function(f), "__doc__", "Another, and a longer text."),
    "__text_signature__": lambda f: setattr(f, "__text_signature__", "(a, b, c)"),
    "__no_type_check__": lambda f: setattr(f, "__no_type_check__", True),
}


def _function(f):
    return f.func if isinstance(f, functools.partial) else f


QUESTIONS = {
    "signature": lambda f: len(str(inspect.signature(f))),
    "not followed": lambda f: len(str(inspect.signature(f, follow_wrapped=False))),
    "default of b": lambda f: float(len(repr(inspect.signature(f).parameters.get("b")))),
    "full arguments": lambda f: len(repr(inspect.getfullargspec(f))),
    "unwrapped": lambda f: inspect.unwrap(_function(f)).__code__.co_argcount,
    "documentation": lambda f: len(inspect.getdoc(_function(f)) or ""),
    "types": lambda f: len(repr(typing.get_type_hints(_function(f)))),
    "own names": lambda f: len(functools.wraps(_function(f))(lambda: 0).__name__),
    "an attribute": lambda f: len(str(getattr(f, "__signature__", None))),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", [name for name in vars(Kinds) if name[0] != "_"])
def test_what_is_set_after_replays_is_noticed(kind, change, question):
    ask = QUESTIONS[question]

    def make(tg):
        thing = getattr(Kinds, kind)()

        def step(x):
            return x * ask(thing)

        between = lambda i: CHANGES[change](thing) if i == 3 else None  # noqa: E731
        return Program(step, lambda i: (tg.ones(2),), between=between, raises=(ValueError, TypeError))

    agreeing(tg, make)
