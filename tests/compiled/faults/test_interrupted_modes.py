"""Ctrl-C where blocks of grad modes and of autocast begin and end in eager mode: what held before holds again."""

import gc
import sys
from pathlib import Path

import pytest

import tracegrad as tg
from tracegrad.devices.amp import autocast_mode
from tracegrad.tape import grad_mode
from tracegrad.tape.grad_mode import switches
from tracegrad.tensors import autocasting

sys.path.insert(0, str(Path(__file__).parent))

from check_points import CheckPoints  # noqa: E402

OWN = {autocast_mode.__file__, autocasting.__file__, grad_mode.__file__}
# Not set_grad_enabled: it acts when it is made, and whether a block would have followed cannot be told.
BLOCKS = {
    "autocast": lambda: tg.autocast("cpu", dtype=tg.bfloat16),
    "float16": lambda: tg.autocast("cpu", dtype=tg.float16, cache_enabled=False),
    "off": lambda: tg.autocast("cpu", enabled=False),
    "no_grad": tg.no_grad,
    "enable_grad": tg.enable_grad,
    "inference": tg.inference_mode,
    "recorded": grad_mode.recorded,
    "transform": grad_mode.within_transform,
}


def modes():
    state = autocasting.state
    gradients = switches.enabled, switches.both, switches.in_transform
    return state.modes, state.lower, state.nesting, state.change, gradients


def computed():
    weight = tg.ones(2, 2).requires_grad_()
    return weight @ weight


def as_block(make):
    def call():
        with make():
            computed()

    return call


def nested(make):
    def call():
        with make():
            with make():
                computed()
            computed()

    return call


def decorated(make):
    block = make()  # which may be entered again while it is open

    @block
    def inner():
        computed()

    @block
    def call():
        inner()

    return call


def wanted(code):
    return code.co_filename in OWN and code.co_name != "__del__"


@pytest.mark.parametrize("form", [as_block, nested, decorated], ids=lambda form: form.__name__)
@pytest.mark.parametrize("name", BLOCKS)
def test_wherever_python_can_let_it_in(name, form):
    counter = CheckPoints(wanted)
    assert not counter.run(form(BLOCKS[name]))
    before, count = modes(), 0
    for place, times in counter.seen.items():
        for time in range(1, times + 1):
            tracer = CheckPoints(wanted, (place, time))
            count += tracer.run(form(BLOCKS[name]))
            gc.collect(0)
            assert modes() == before, tracer.where
            form(BLOCKS[name])()
            assert modes() == before, tracer.where
    assert count > 3
