"""Whole programs that talk to devices have PyTorch's losses, eager, compiled and deferred."""

import json

import pytest
from expected.device_programs import PROGRAMS, STORED, losses_of

import tracegrad as tg

WANTED = json.loads(STORED.read_text(encoding="utf-8"))
#: What bfloat16 and float16 round differently where sums are taken in another order; float32 programs agree closely.
SHORT = {"amp_bfloat16": 4e-3, "convolutions_with_normalisation": 4e-3, "autocast_around_calls": 4e-3,
         "amp_float16_scaled_and_clipped": 1e-3, "amp_that_overflows": 1e-3}  # fmt: skip


def test_all_programs_are_stored():
    assert set(WANTED) == set(PROGRAMS) and len(PROGRAMS) >= 12


@pytest.mark.parametrize("name", PROGRAMS)
def test_eager(name):
    assert losses_of(name, tg) == pytest.approx(WANTED[name], rel=SHORT.get(name, 2e-6))


@pytest.mark.long(every=5)
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled(name):
    steps = []

    def compiled(step):
        steps.append(tg.compile(step))
        return steps[-1]

    assert losses_of(name, tg, compiled) == pytest.approx(WANTED[name], rel=SHORT.get(name, 2e-6))
    assert len(steps) == 1 and steps[0].way != "eager"


@pytest.mark.long(every=2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_deferred(name):
    with tg.deferred():
        found = losses_of(name, tg)
    assert found == pytest.approx(WANTED[name], rel=SHORT.get(name, 2e-6))
