"""Programs whose surroundings change between the calls, after calls were replayed: eager and compiled do the same.

A program is ``make(tg)``, which gives ``step, change``. ``step(x)`` is called eight times; ``change(5.0)`` comes before
the fifth call and ``change(2.0)`` before the seventh, so that a program of the first calls may fit again. In what it
began with, 2.0 is the value.
"""

import importlib

import pytest
from side_by_side import Program, assert_agree, ramp, run

SAMPLED = 8  # of so many programs one is run in the fast tier
CALLS, CHANGES = 8, {4: 5.0, 6: 2.0}


class Programs:
    """The programs of one file, by decoration."""

    def __init__(self):
        self.makers = []

    def __call__(self, make):
        self.makers.append(make)
        return make

    def rows(self):
        """The programs as parameters of a test: a sample of them where nobody asks for long tests."""
        marks = [() if i % SAMPLED == 0 else (pytest.mark.long(every=8),) for i in range(len(self.makers))]
        return [pytest.param(make, id=make.__name__, marks=m) for make, m in zip(self.makers, marks, strict=True)]


def _program(make, tg):
    step, change = make(tg)
    return Program(
        step,
        lambda i: (ramp(tg, 3) + i,),
        between=lambda i: change(CHANGES[i]) if i in CHANGES else None,
        raises=(AttributeError, IndexError, KeyError, NameError, TypeError, ValueError),
    )


def assert_changes_are_noticed(tg, make):
    """The program does the same compiled as it does eager, or eager as it does in PyTorch; returns the ways."""

    def build(library):
        return _program(make, library)

    try:
        if tg.__name__ == "torch":
            actual, _, program = run(importlib.import_module("tracegrad"), build, False, CALLS)
            expected, _, _ = run(tg, build, False, CALLS)
            for note in (*expected, *actual):
                del note["world"]  # the generators' states have other forms
        else:
            expected, _, _ = run(tg, build, False, CALLS)
            actual, _, program = run(tg, build, True, CALLS)
    finally:
        change = make(tg)[1]
        getattr(change, "undo", lambda: change(2.0))()  # what is changed in libraries is as it was
    assert_agree(actual, expected)
    return program.ways
