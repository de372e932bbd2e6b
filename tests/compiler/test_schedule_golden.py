"""Schedules and C that a person has read and found good. TRACEGRAD_UPDATE_GOLDEN=1 writes them anew; read the diff."""

import os
from pathlib import Path

import pytest
from sample_graphs import CASES

from tracegrad.compiler.codegen.render import render
from tracegrad.compiler.schedule.plan import make_schedule

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("name", ["softmax", "column_normalised", "assembled", "swap", "single_elements"])
def test_schedule_and_c_are_as_they_were(name):
    schedule = make_schedule(CASES[name])
    texts = {f"{name}.schedule": str(schedule), f"{name}.c": render(schedule)}
    for file, text in texts.items():
        path = GOLDEN / file
        if os.environ.get("TRACEGRAD_UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{path} differs; if the change is wanted, update it"
