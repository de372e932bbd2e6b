"""Calls and backward passes that have come before at the same point: noted by functions that are written for them.

Each program below does the same for some calls, so that there are such functions, and then something that they must
notice, or must leave alone.
"""

import sys

import numpy as np
import pytest
from disturbances import CALLS, DISTURBANCES, Nothing, Training
from side_by_side import batch

from tracegrad.tensors.overriding import subclasses


@pytest.mark.long(fast=13, every=2)
@pytest.mark.parametrize("looks", [False, True], ids=["", "looks"])
@pytest.mark.parametrize("disturb", DISTURBANCES, ids=lambda function: function.__name__)
def test_functions_for_expected_calls_notice(agree, disturb, looks):
    assert agree(lambda tg: Training(tg, disturb, looks).program(), calls=CALLS).way in ("re-record", "eager")


def calls_of_python(step, data):
    """Calls of Python functions for one step, and how many of them are the engine's."""
    count = {"calls": 0, "engine": 0}

    def listen(frame, event, argument):
        if event == "call":
            count["calls"] += 1
            count["engine"] += frame.f_code.co_filename.endswith("engine.py")

    sys.setprofile(listen)
    try:
        for x in data:
            step(x)
    finally:
        sys.setprofile(None)
    return count["calls"] / len(data), count["engine"]


class Alternating(Training):
    """Trains and evaluates in turn; no layer of the model asks for the mode."""

    def step(self, x):
        self.model.train(self.n % 2 == 0)
        if self.model.training:
            return super().step(x)
        self.n += 1
        with self.tg.no_grad():
            return self.loss(x)


# 114 and 154 alone. Beside threads of other programs (of those that run tests, for example) three more: who they are is
# asked; two more once there were sparse tensors, one more once there was memory that processes share; a few for
# looks at numbers, which are counted by their lines; one since hooks around an optimizer's step are handed the
# arguments as they were given; a half more where other tests have made classes of tensors.
@pytest.mark.parametrize(("looks", "most"), [(False, 126), (True, 174)], ids=["", "looks"])
def test_a_step_costs_few_calls_of_python(tg, looks, most):
    """Each event of the step is one function, its backward pass goes without the engine."""
    training = Training(tg, Nothing, looks)
    step = tg.compile(training.step)
    data = [batch(tg, i, 5, 3) for i in range(8)]
    for i in range(40):
        step(data[i % 8])
    calls, engine = calls_of_python(step, data)
    assert step.way == "re-record"
    assert engine == 0
    assert calls <= most


def test_modes_that_nobody_asks_for_cost_nothing(tg, monkeypatch):
    monkeypatch.setattr(subclasses, "exist", False)  # a class that another test made costs questions
    training = Alternating(tg, Nothing)
    step = tg.compile(training.step)
    data = [batch(tg, i, 5, 3) for i in range(8)]
    for i in range(60):
        step(data[i % 8])
    calls, engine = calls_of_python(step, data)
    assert step.way == "re-record"
    assert engine == 0
    # 64 of them are those of train() itself; six came when looks at numbers were counted by their lines, one with the
    # arguments of hooks around an optimizer's step.
    assert calls <= 173


def test_training_and_evaluating_in_turn_is_eager(agree):
    assert agree(lambda tg: Alternating(tg, Nothing).program(), calls=CALLS).way == "re-record"


def test_gradients_that_nobody_holds_are_used_again(tg):
    training = Training(tg, Nothing)
    step = tg.compile(training.step)
    data = [batch(tg, i, 5, 3) for i in range(8)]
    for i in range(20):
        step(data[i % 8])
    address = training.weight.grad.data_ptr()
    held = training.weight.grad
    before = np.array(held.tolist())
    step(data[0])
    assert training.weight.grad is not held
    assert np.array_equal(np.array(held.tolist()), before)
    assert address == held.data_ptr() != training.weight.grad.data_ptr()
    del held
    for i in range(4):
        step(data[i])
    address = training.weight.grad.data_ptr()
    step(data[0])
    assert training.weight.grad.data_ptr() == address
