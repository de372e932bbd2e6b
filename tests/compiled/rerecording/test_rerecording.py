"""What cannot be replayed runs as Python at each call: results and side effects are eager ones."""

import contextlib
import importlib.util
import io
import random

import numpy as np
import pytest
from compiled.rerecording import refused
from side_by_side import assert_same, noted

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
        # Behind a lock there may be a thread that looks before the numbers are there.
        assert step.way == ("eager" if name == "lock" else "re-record") and step.specialisations == []


LAID_OUT = {
    "in_place": lambda tg, x: x.exp().normal_(),
    "like": lambda tg, x: tg.rand_like((x + 1).tanh()),
    "like_a_transposed_product": lambda tg, x: tg.randn_like((x @ x.t()).t().exp()),
    "dropout": lambda tg, x: tg.nn.functional.dropout((x * 2).sin(), 0.5),
    "fold_of_repeated_rows": lambda tg, x: x[None].expand(2, 4, 3).permute(2, 0, 1).exp().sum(0).uniform_(),
}


@pytest.mark.parametrize("draw", LAID_OUT.values(), ids=LAID_OUT)
def test_draws_fill_what_is_put_off_in_the_order_of_its_memory(tg, draw):
    """Of an operation that is put off nothing is known but where its result will lie: as numpy would place it."""
    notes = []
    for wrap in (tg.compile, lambda f: f):
        tg.manual_seed(0)

        def step(x):
            if x.sum() > 1e9:
                x = x * 2
            return draw(tg, x)

        step = wrap(step)
        results = [step(tg.randn(3, 4).t()) for _ in range(5)]
        notes.append([(r.stride(), r.tolist()) for r in results])
    for (layout, one), (eager_layout, other) in zip(*notes, strict=True):
        assert layout == eager_layout
        np.testing.assert_allclose(one, other, rtol=1e-6)
