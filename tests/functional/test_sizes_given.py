"""Sizes, axes and counts of all forms, against PyTorch's outcomes."""

import json

import pytest
from expected import sizes_given as cases
from expected.compare import STORE

EXPECTED = json.loads((STORE / "sizes_given.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", EXPECTED)
def test_sizes_given(tg, name):
    assert cases.outcome(tg, cases.programs()[name]) == EXPECTED[name]


def test_all_are_asked():
    assert list(EXPECTED) == sorted(cases.programs())
