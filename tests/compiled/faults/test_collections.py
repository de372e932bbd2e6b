"""Collections of garbage in the middle of calls: never switched off, and what finalisers do is no part of a program."""

import gc
import random
import sys
import threading

import numpy as np
import pytest
from side_by_side import ramp

import tracegrad as tg
from tracegrad.compiled.common import collection
from tracegrad.compiled.common.collection import around_collections
from tracegrad.compiled.lazy.finalisers import Aside
from tracegrad.compiled.lazy.interpreter import DeferredOps
from tracegrad.compiled.recording.validity import CallTrace
from tracegrad.ops.core import interpreting, switch


@pytest.fixture
def often():
    """Collections come at any line."""
    before = gc.get_threshold()
    yield lambda: gc.set_threshold(random.choice([5, 11, 17, 23, 29, 40, 61]))
    gc.set_threshold(*before)


class Garbage:
    """What is collected sooner or later, and does something then."""

    def __init__(self, then):
        self.own, self.then = self, then

    def __del__(self):
        self.then()


def replayed(x):
    for _ in range(10):
        x = (x * 1.0625).tanh()
    return x


def rerecorded(x):
    for _ in range(10):
        x = (x * 1.0625).tanh()
    COUNT.append(x.sum().item())
    return x if COUNT[-1] > -1e9 else -x


def deferred(x):
    with tg.deferred():
        return replayed(x)


COUNT = []
WAYS = {
    "replay": lambda: tg.compile(replayed),
    "re-record": lambda: tg.compile(rerecorded),
    "deferred": lambda: deferred,
    "verify": lambda: tg.compile(replayed).verify,
    "verify re-recorded": lambda: tg.compile(rerecorded).verify,
}


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_the_programs_switch_is_never_touched(often, way, wanted):
    """As seen by finalisers, callbacks, hooks within the call, and another thread that polls and calls, too."""
    seen, is_over, step = [], threading.Event(), WAYS[way]()
    errors = []

    def look(*_):
        seen.append(gc.isenabled())

    def other():
        try:
            while not is_over.is_set():
                look()
                step(ramp(tg, 3))
        except BaseException as error:
            errors.append(error)

    gc.callbacks.append(look)
    thread = threading.Thread(target=other)
    try:
        if not wanted:
            gc.disable()
        thread.start()
        for _ in range(8):
            often()
            Garbage(look)
            step(ramp(tg, 3))
            look()
    finally:
        is_over.set()
        thread.join()
        gc.callbacks.remove(look)
        during = set(seen)  # garbage that is left looks when collections are on again
        gc.enable()
    assert during == {wanted} and not errors, errors


def computing(own, shared, found):
    """What a finaliser does: arithmetic on its own tensors, and on one that the function works with."""

    def then():
        own.add_(1)
        try:
            found.append((shared * 2).sum().item())
        except RuntimeError as error:
            assert "finaliser" in str(error)
            found.append(None)

    return then


@pytest.mark.parametrize("way", ["replay", "re-record", "deferred"])
def test_what_finalisers_compute_is_no_part_of_the_call(often, way):
    total, shared, found, number = tg.zeros(2), ramp(tg, 4), [], 0

    def work(x):
        for _ in range(6):
            Garbage(computing(total, shared, found))
            x = (x * shared).tanh()
        return x if way != "re-record" or x.sum() < 1e9 else -x

    def eager(x):
        for _ in range(6):
            x = (x * shared).tanh()
        return x

    step = tg.deferred()(work) if way == "deferred" else tg.compile(work)
    for i in range(40):
        often()
        x = ramp(tg, 4) * (0.1 * i)
        np.testing.assert_allclose(step(x).tolist(), eager(x).tolist(), rtol=1e-5, atol=1e-6)
        number += 6
    gc.collect()
    assert {value for value in found if value is not None} <= {(shared * 2).sum().item()}
    assert total.tolist() == [len(found)] * 2 and len(found) > 100


def test_when_garbage_is_collected_makes_few_programs(often, c_calls):
    """Results in reference cycles are alive until a collection comes, which may be at any time."""

    def work(x):
        for i in range(40):
            x = (x * 1.0625 + 0.01 * i).tanh()
            Garbage(lambda x=x: None)
        return x if x.sum() < 1e9 else -x

    step = tg.compile(work)
    for i in range(60):
        often()
        x = ramp(tg, 4) * (0.1 * i)
        expected = work(x).tolist()
        np.testing.assert_allclose(step(x).tolist(), expected, rtol=1e-5, atol=1e-6)
    assert step.way == "re-record" and 1 <= len(step.segments.programs) <= 8
    assert len(c_calls) >= 40


def test_an_interrupt_dropped_at_the_end_of_a_collection_leaves_the_interpreter_as_it_was():
    """Python drops an exception that comes while a callback is entered: nothing of the callback runs."""
    seen = []
    trace = CallTrace(lambda frame: None, lambda: seen.append("hide"), lambda: seen.append("show"))

    def function():
        inside = switch.stack
        collection._end.call = bool  # the end of the call puts back what was there before it
        gc.collect()
        return switch.stack is inside

    marker = object()
    with interpreting(marker):
        assert trace.watch(function)
    assert seen == ["hide"] and trace.is_torn


def test_an_interrupt_dropped_at_the_start_is_noticed():
    """What finalisers did then may have been recorded: the recording is not used."""
    trace = CallTrace(lambda frame: None, lambda: None, lambda: None)

    def function():
        collection._begin.call = bool  # the end of the call puts back what was there before it
        gc.collect()

    trace.watch(function)
    assert trace.is_torn


def test_a_rerecorded_call_goes_on_after_an_interrupt_dropped_at_the_end():
    inside, deferred = object(), DeferredOps.__new__(DeferredOps)
    with interpreting(inside):
        before = switch.stack
        around_collections((Aside(deferred).begin, bool), gc.collect)
        assert switch.stack is before


def test_what_was_put_back_is_not_held():
    inside = DeferredOps.__new__(DeferredOps)
    before = sys.getrefcount(inside)
    with interpreting(inside):
        around_collections((Aside(inside).begin, bool), gc.collect)
    gc.collect()
    assert sys.getrefcount(inside) == before
