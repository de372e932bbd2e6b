"""Schedules and whole C files of small graphs, as a person has read them; tests/test_golden.py has training steps."""

import pytest
from sample_graphs import CASES

from tracegrad.compiler.codegen.render import render
from tracegrad.compiler.schedule.plan import make_schedule


@pytest.mark.parametrize("name", ["softmax", "column_normalised", "assembled", "swap", "single_elements"])
def test_schedule_and_c_are_as_they_were(name, golden):
    schedule = make_schedule(CASES[name])
    golden(f"{name}.schedule", str(schedule))
    golden(f"{name}.c", render(schedule))
