"""Fixtures for small programs that are run eager and compiled side by side (tests/side_by_side.py)."""

import functools

import pytest
from side_by_side import Program, agreeing, assert_same, batch, noted, ramp, run, weight

# Tests may take these from here or from side_by_side.
__all__ = ["Program", "assert_same", "batch", "noted", "ramp", "run", "weight"]


@pytest.fixture
def agree(tg):
    """``agree(make)``: the program that ``make(tg)`` builds does the same eager and compiled, call by call."""
    return functools.partial(agreeing, tg)
