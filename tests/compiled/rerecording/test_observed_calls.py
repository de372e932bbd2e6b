"""Re-recorded calls beside another thread, which looks at tensors in the middle of them: it never sees memory whose
numbers are not there yet."""

import sys
import threading
import types

import numpy as np
import pytest

import tracegrad as tg

CALLS, TURNS = 12, 4000
SPACE = types.SimpleNamespace(result=None)


@pytest.fixture(autouse=True)
def frequent_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def busy(value):
    """Python works for a while, between an operation and the moment that its numbers are needed."""
    for _ in range(TURNS):
        pass
    return value


def in_a_list():
    kept = []

    def step(x):
        kept[:] = [(x * 2).tanh()]
        return float(busy(x).sum())

    return step, lambda: kept[0] if kept else None, lambda x: [np.tanh(x * 2)]


def under_another_name():
    kept = []
    push = kept.append

    def step(x):
        push((x * 2).tanh())
        return float(busy(x).sum())

    return step, lambda: kept[-1] if kept else None, lambda x: [np.tanh(x * 2)]


def in_a_dict():
    kept = {}

    def step(x):
        kept["result"] = (x * 2).tanh()
        return float(busy(x).sum())

    return step, lambda: kept.get("result"), lambda x: [np.tanh(x * 2)]


def in_an_attribute():
    def step(x):
        SPACE.result = (x * 2).tanh()
        return float(busy(x).sum())

    return step, lambda: SPACE.result, lambda x: [np.tanh(x * 2)]


def in_a_variable():
    kept = None

    def step(x):
        nonlocal kept
        kept = (x * 2).tanh()
        return float(busy(x).sum())

    return step, lambda: kept, lambda x: [np.tanh(x * 2)]


def in_an_object_of_the_program():
    class Holder:
        def __init__(self):
            self.kept = []

        def keep(self, value):
            self.kept += [value]

    holder = Holder()

    def step(x):
        holder.keep((x * 2).tanh())
        return float(busy(x).sum())

    return step, lambda: holder.kept[-1] if holder.kept else None, lambda x: [np.tanh(x * 2)]


def as_a_gradient():
    w = tg.ones(64, 64, requires_grad=True)

    def step(x):
        w.grad = None
        (w * (x * 2).tanh()).sum().backward()
        return float(busy(x).sum())

    return step, lambda: w.grad, lambda x: [np.tanh(x * 2)]


def as_the_state_of_an_optimizer():
    w = tg.ones(64, 64, requires_grad=True)
    optimizer = tg.optim.SGD([w], lr=0.0, momentum=0.0)

    def step(x):
        optimizer.zero_grad()
        (w * (x * 2).tanh()).sum().backward()
        optimizer.step()
        return float(busy(x).sum())

    return step, lambda: w.grad, lambda x: [np.tanh(x * 2)]


def written_in_place():
    kept = tg.zeros(64, 64)

    def step(x):
        kept.copy_((x * 2).tanh())
        return float(busy(x).sum())

    return step, lambda: kept, lambda x: [np.tanh(x * 2), np.zeros((64, 64), np.float32)]


PLACES = (
    in_a_list, under_another_name, in_a_dict, in_an_attribute, in_a_variable, in_an_object_of_the_program,
    as_a_gradient, as_the_state_of_an_optimizer, written_in_place,
)  # fmt: skip


def watched(step, x, look, expected):
    """What another thread has seen that is none of the `expected` numbers, how often it looked, the ways of calls."""
    wrong, looks, done, begun, ways = [], [], threading.Event(), threading.Event(), set()

    def spin():
        while not done.is_set():
            tensor = look()
            if tensor is not None:
                seen = np.array(tensor.detach().numpy())
                looks.append(1)
                if not any(np.allclose(seen, numbers, atol=1e-4) for numbers in expected):
                    wrong.append(seen)
            begun.set()

    thread = threading.Thread(target=spin)
    thread.start()
    try:
        begun.wait(10)
        for _ in range(CALLS):
            step(x)
            ways.add(step.way)
    finally:
        done.set()
        thread.join()
    return wrong, len(looks), ways


@pytest.mark.parametrize("make", PLACES)
def test_another_thread_sees_no_memory_without_numbers(make):
    SPACE.result = None
    function, look, expected = make()
    step, x = tg.compile(function), tg.arange(4096.0).reshape(64, 64) / 4096
    for _ in range(4):
        step(x)
    assert step.way == "re-record", step.explain()
    wrong, looks, ways = watched(step, x, look, expected(x.numpy()))
    assert not wrong and looks
    if "eager" in ways:
        assert "other threads of the program are alive" in step.explain()
    step(x)
    assert step.way == "re-record"


def test_what_nobody_else_can_find_is_put_off_beside_a_thread():
    def step(x):
        y = (x * 2).tanh()
        return y * 2 if float(y.sum()) > 0 else y

    step, x = tg.compile(step), tg.ones(3)
    for _ in range(4):
        step(x)
    assert watched(step, x, lambda: None, [])[2] == {"re-record"}
