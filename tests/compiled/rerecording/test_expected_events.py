"""Calls and backward passes that have come before at the same point: noted by functions that are written for them.

Each program below does the same for some calls, so that there are such functions, and then something that they must
notice, or must leave alone.
"""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import calls_of_python
import numpy as np
import pytest
from disturbances import CALLS, DISTURBANCES, Nothing, Training
from side_by_side import batch


@pytest.mark.long(fast="first", every=9)
@pytest.mark.parametrize("looks", [False, True], ids=["", "looks"])
@pytest.mark.parametrize("disturb", DISTURBANCES, ids=lambda function: function.__name__)
def test_functions_for_expected_calls_notice(agree, disturb, looks):
    assert agree(lambda tg: Training(tg, disturb, looks).program(), calls=CALLS).way in ("re-record", "eager")


# What was counted. A module that comes to an ordinary step adds to it: say here which, and why.
CALLS_OF_PYTHON = {"plain": 119, "looks": 167, "alternating": 169}


@functools.cache
def counts():
    """What `calls_of_python.py` counts, in a process of its own: all are asked at once."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    program = Path(calls_of_python.__file__)
    done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.long
@pytest.mark.parametrize("name", CALLS_OF_PYTHON)
def test_a_step_costs_few_calls_of_python(name):
    """Each event is one function, the backward pass goes without the engine, unused modes cost nothing."""
    way, calls, engine = counts()[name]
    assert way == "re-record"
    assert engine == 0
    assert calls <= CALLS_OF_PYTHON[name]


def test_training_and_evaluating_in_turn_is_eager(agree):
    assert agree(lambda tg: calls_of_python.Alternating(tg, Nothing).program(), calls=CALLS).way == "re-record"


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
