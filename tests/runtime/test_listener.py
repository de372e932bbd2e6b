"""`listener.c`: what Python's own `sys.setprofile` says, without the code that is known to say nothing."""

import sys
from functools import reduce

import pytest

from tracegrad.runtime.listener import is_possible
from tracegrad.runtime.provide import provide_listener

pytestmark = pytest.mark.skipif(not is_possible(), reason="written for CPython with its lock")


def inner(x):
    return abs(x) + len([x])


def generator(n):
    for i in range(n):
        yield inner(i)


def raising(x):
    raise ValueError(x)


def failing(x):
    try:
        return raising(x) or int("no number")
    except ValueError:
        return inner(x)


class Callable:
    def __call__(self, x):
        return inner(x)


def work(x):
    return inner(x), list(generator(3)), failing(x), Callable()(x), sorted([3, 1], key=inner), reduce(max, [1, 2])


def heard(begin, function, *args):
    """The events in `function` and what it calls, in order."""
    events = []

    def note(frame, event, argument):
        events.append((frame.f_code.co_name, event, getattr(argument, "__name__", type(argument).__name__)))

    begin(note)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
    return [each for each in events if each[0] != "heard"]


def test_it_says_what_python_says():
    listener = provide_listener()
    python = [each for each in heard(sys.setprofile, work, 1) if each[1] in ("call", "return", "c_call")]
    assert len(python) > 30
    assert heard(listener.begin, work, 1) == python
    assert sys.getprofile() is None


def test_code_that_was_added_says_nothing():
    namespace = {"inner": inner}
    exec("def quiet(x):\n    return inner(x) + abs(x)\n", namespace)
    quiet, listener = namespace["quiet"], provide_listener()
    assert ("quiet", "call", "NoneType") in heard(listener.begin, quiet, 2)
    assert listener.add(id(quiet.__code__)) == 0
    KEPT.append(quiet.__code__)
    events = heard(listener.begin, quiet, 2)
    assert {name for name, _, _ in events} == {"inner"}
    assert ("quiet", "call", "NoneType") in heard(sys.setprofile, quiet, 2)  # Python's own hears it


KEPT = []  # what was added must not be gone before the process is


def test_any_number_of_codes():
    namespace = {}
    exec("\n".join(f"def f{i}():\n    return {i}\n" for i in range(20_000)), namespace)
    functions = [namespace[f"f{i}"] for i in range(20_000)]
    listener = provide_listener()
    for function in functions[::2]:
        assert listener.add(id(function.__code__)) == 0
        KEPT.append(function.__code__)

    def all_of_them():
        for function in functions:
            function()

    calls = [name for name, event, _ in heard(listener.begin, all_of_them) if event == "call"]
    assert calls == ["all_of_them", *[f"f{i}" for i in range(1, 20_000, 2)]]


@pytest.mark.parametrize("way", ["python", "c"])
def test_an_error_while_it_listens_ends_it(way):
    def note(frame, event, argument):
        if frame.f_code is inner.__code__:
            raise LookupError("in the listener")

    begin = sys.setprofile if way == "python" else provide_listener().begin
    try:
        with pytest.raises(LookupError, match="in the listener"):
            begin(note)
            inner(1)
        assert sys.getprofile() is None
    finally:
        sys.setprofile(None)


def test_python_knows_who_listens():
    def note(frame, event, argument):
        pass

    provide_listener().begin(note)
    found = sys.getprofile()
    sys.setprofile(None)
    assert found is note
