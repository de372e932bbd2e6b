"""What cannot be replayed runs as Python at each call: results and side effects are eager ones."""

import contextlib
import importlib.util
import io
import random

import numpy as np
import pytest
from compiled.conftest import assert_same, noted

from compiled import refused

CALLS = 6
# What these do to the world is done by the first call for all later ones (or, the last, raises): these are replayed.
ONLY_ONCE = ("new_global", "new_attribute", "mode_left", "graph_from_outside")


def world(tg):
    """A copy of the refused programs of its own, with the tensors that they find outside."""
    spec = importlib.util.spec_from_file_location("refused_copy", refused.__file__)
    programs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(programs)
    programs.W = tg.ones(3, requires_grad=True)
    programs.OUTSIDE = programs.W * 2
    programs.SCHEDULER = tg.optim.lr_scheduler.StepLR(tg.optim.SGD([programs.W], lr=0.1), 1)
    return programs


def state_of(programs):
    """What the programs have left outside."""
    holder, w = programs.HOLDER, programs.W
    return noted([programs.COUNT, programs.LOSSES, programs.TABLE, vars(holder), type(holder).calls, w, w.grad])


def outcome(call):
    """The result or the error."""
    try:
        return noted(call())
    except Exception as error:
        return [type(error).__name__, str(error)]


def run(tg, name, compiled):
    """Results, what was printed and what is outside, after each call."""
    programs = world(tg)
    random.seed(0)
    np.random.seed(0)
    tg.manual_seed(0)
    function = getattr(programs, name)

    def step(x):
        return function(tg, x)

    served = tg.compile(step) if compiled else step
    notes = []
    try:
        for i in range(CALLS):
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                result = outcome(lambda i=i: served(tg.ones(3) * (i + 1)))
            notes.append([result, printed.getvalue(), state_of(programs)])
    finally:
        tg.set_grad_enabled(True)
    return notes, served


@pytest.mark.parametrize("name", [f.__name__ for f in refused.ALL])
def test_eager_and_rerecorded(tg, name):
    expected, _ = run(tg, name, False)
    actual, step = run(tg, name, True)
    for one, other in zip(actual, expected, strict=True):
        assert_same(one, other)
    if name not in ONLY_ONCE:
        assert step.way == "re-record" and step.specialisations == []
