"""What a recording hears of the program: all that it says to the outside, and little else, in C or in Python."""

import random

import pytest

import tracegrad as tg
from tracegrad.compiled.recording import quiet_code
from tracegrad.compiler.errors import CaptureError
from tracegrad.runtime.listener import is_possible


@pytest.fixture(params=["c", "python"])
def way(request, monkeypatch):
    if request.param == "python":
        monkeypatch.setattr(quiet_code, "provide_listener", lambda: None)
    elif not is_possible():
        pytest.skip("written for CPython with its lock")
    return request.param


def speaks(x):
    print(x.shape)
    return x * 2


def draws(x):
    return x * random.random()


def sorts(x):
    return x * sorted([3, 1], key=lambda n: print(n) or n)[0]


@pytest.mark.parametrize("step, heard", [(speaks, "print"), (draws, "random"), (sorts, "print")])
def test_what_speaks_to_the_outside_is_refused(step, heard, way, capsys):
    with pytest.raises(CaptureError, match=heard) as error:
        tg.compile(step, fullgraph=True)(tg.ones(3))
    assert f"{__file__}:{step.__code__.co_firstlineno + 1}" in str(error.value)


def calls_of_python(monkeypatch, times):
    """How often Python is called back while so many operations are recorded."""
    called = [0]
    original = quiet_code.listener

    def counted(note):
        listen = original(note)

        def hear(*event):
            called[0] += 1
            listen(*event)

        return hear

    with monkeypatch.context() as patch:
        patch.setattr(quiet_code, "listener", counted)

        def step(x):
            for _ in range(times):
                x = (x * 2).relu() + 1
            return x

        tg.compile(step)(tg.ones(3))
    return called[0]


@pytest.mark.skipif(not is_possible(), reason="written for CPython with its lock")
def test_operations_do_not_call_python_back(monkeypatch):
    calls_of_python(monkeypatch, 1)  # judges the library's code
    few, many = calls_of_python(monkeypatch, 10), calls_of_python(monkeypatch, 110)
    assert many - few < 3 * 100 * 3  # three operations each time; in Python it is hundreds for each
