"""Factors, types, names and lists among arguments mean what they mean to PyTorch: stored outcomes of expressions."""

import ast
import json
import warnings

import numpy as np
import pytest
from expected import argument_forms

import tracegrad as tg

STORED = json.loads(argument_forms.STORED.read_text())
GROUPS = argument_forms.GROUPS
#: Two or three roundings of the type that is computed in: 16-bit numbers are rounded once, others in some order.
TOLERANCES = {
    "float16": 1e-3,
    "bfloat16": 8e-3,
    "float32": 4e-7,
    "complex64": 4e-7,
    "float64": 1e-15,
    "complex128": 1e-15,
}


def agrees(expression):
    expected = STORED[expression]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = argument_forms.outcome(tg, expression)
    if isinstance(expected, str) or isinstance(found, str) or found[:2] != expected[:2]:
        return found == expected
    ours, theirs = (
        np.array(eval(x[2], {"nan": np.nan, "inf": np.inf, "nanj": complex(0, np.nan)})) for x in (found, expected)
    )
    near = TOLERANCES.get(expected[0], 0)
    return np.allclose(ours, theirs, rtol=near, atol=near, equal_nan=True)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_expressions_have_pytorchs_outcomes(group):
    wrong = {e: (argument_forms.outcome(tg, e), STORED[e]) for e in group() if not agrees(e)}
    assert not wrong


def test_outcomes_are_stored_of_all_expressions():
    assert list(STORED) == argument_forms.expressions() and len(STORED) > 500
    assert all(isinstance(ast.parse(e, mode="eval"), ast.Expression) for e in STORED)
