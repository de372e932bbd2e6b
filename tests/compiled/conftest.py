"""Fixtures for small programs that are run eager and compiled side by side, and the answers to the table's questions.

``pytest tests/compiled --question-table`` prints how the questions are served.
"""

import collections
import functools
import importlib
import threading

import pytest
from compiled.known_defects import KNOWN as KNOWN_DEFECTS
from side_by_side import Program, agreeing, assert_same, batch, noted, ramp, run, weight

from compiled import table

# Tests may take these from here or from side_by_side.
__all__ = ["Program", "assert_same", "batch", "noted", "ramp", "run", "weight"]

REFUSED, KNOWN = "refused with fullgraph", "known defects"
SERVED = collections.Counter()


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makemodule(parent):
    """Of each file the first test and every 97th are in the fast tier, but for functions marked otherwise; every
    third of the others is long, of functions with many parameters a part of these."""
    module = yield
    if not parent.config.getoption("--question-table"):
        module.add_marker(pytest.mark.long(fast=97, every=3, by_size=True))
    return module


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Of questions, which somebody has thought of one by one, none is left out of the long tier."""
    node, _ = next(metafunc.definition.iter_markers_with_node("long"), (metafunc.definition, None))
    if node is not metafunc.definition and "answer" in metafunc.fixturenames:
        metafunc.definition.add_marker(pytest.mark.long(fast=97))


@pytest.fixture(autouse=True)
def no_thread_is_left():
    """While there is one, numbers of globals and attributes are guards: later tests would be other tests."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(5)
        assert not thread.is_alive(), f"{thread} is left"


@pytest.fixture
def agree(tg):
    """``agree(make)``: the program that ``make(tg)`` builds does the same eager and compiled, call by call."""
    return functools.partial(agreeing, tg)


@pytest.fixture
def answer(tg, c_calls):
    """``answer(question)`` checks one row of the table."""

    def check(question):
        assert question.text, "a question asks something"
        if tg.__name__ == "torch":
            table.answer_in_pytorch(tg, importlib.import_module("tracegrad"), question)
        elif str(question) in KNOWN_DEFECTS:
            SERVED[question.section, KNOWN] += 1
            table.answer(tg, question, c_calls)
        else:
            SERVED[question.section, table.answer(tg, question, c_calls)] += 1
            SERVED[question.section, REFUSED] += question.way == table.RERECORD

    return check


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--question-table"):
        terminalreporter.write_line(summary())


def summary():
    """Section by way: how the questions are served that are answered rightly, and how many are not."""
    columns = [table.REPLAY, table.RERECORD, table.EAGER, KNOWN, REFUSED]
    rows = [[section, *(SERVED[section, way] for way in columns)] for section in sorted({name for name, _ in SERVED})]
    rows.append(["all", *(sum(row[i + 1] for row in rows) for i in range(len(columns)))])
    rows = [[row[0], sum(row[1:5]), *row[1:]] for row in rows]
    header = ["section", "questions", *columns]
    widths = [max(len(str(row[i])) for row in (header, *rows)) for i in range(len(header))]
    rule = [f"{'-' * width}{':' if i else '-'}" for i, width in enumerate(widths)]
    lines = [[f"{cell:{'>' if i else '<'}{widths[i]}}" for i, cell in enumerate(row)] for row in (header, *rows)]
    return "\n".join(
        ["| " + " | ".join(lines[0]) + " |", "|-" + "|-".join(rule) + "|"]
        + ["| " + " | ".join(x) + " |" for x in lines[1:]]
    )
