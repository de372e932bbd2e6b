"""Special functions, reductions and differences against stored numbers of PyTorch's, eager and compiled."""

import numpy as np
import pytest
from expected.compare import STORE, assert_close, load
from expected.elementwise import ARRAYS, EXPRESSIONS, rtol
from expected.programs import leaves, program, stored_case, value_and_gradients

from tracegrad.ops.formulas.c_text import header
from tracegrad.ops.formulas.catalogue import FORMULAS
from tracegrad.ops.formulas.write_header import PATH

STORED = load("elementwise")
#: So many that the C compiler is started a few times only.
EXPRESSIONS_PER_PROGRAM = 30
GROUPS = [EXPRESSIONS[i : i + EXPRESSIONS_PER_PROGRAM] for i in range(0, len(EXPRESSIONS), EXPRESSIONS_PER_PROGRAM)]


def assert_stored(found, expression):
    expected = stored_case(STORED, expression)
    for name, array in expected.items():
        if name in found or np.any(array):
            assert found[name].numpy().dtype == array.dtype, expression
            allowed = rtol(expression, array.dtype)
            assert_close(found[name], array, allowed, allowed)
    assert not set(found) - set(expected), expression


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_value_and_gradients(tg, expression):
    assert_stored(value_and_gradients(tg, expression, ARRAYS), expression)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0])
def test_compiled(tg, group):
    """Several expressions in one program, each with tensors of its own."""
    programs = [program(tg, expression, ARRAYS) for expression in group]
    size = len(ARRAYS)

    @tg.compile
    def run(*tensors):
        return [one(*tensors[i * size : (i + 1) * size]) for i, one in enumerate(programs)]

    for _ in range(4):
        results = run(*[x for _ in group for x in leaves(tg, ARRAYS)])
        for expression, found in zip(group, results, strict=True):
            assert_stored(found, expression)


# ------------------------------------------------------------------------------------- accuracy, where PyTorch's is low


EXACT = dict(np.load(STORE / "exact_special.npz"))


@pytest.mark.parametrize("name", sorted({key.split("|")[0] for key in EXACT}))
def test_float64_is_exact(tg, name):
    """Numbers computed with 40 digits: within 2e-13 of size one, and relatively where they are not near a zero."""
    operands = [tg.tensor(EXACT[key]) for key in sorted(EXACT) if key.startswith(f"{name}|operand")]
    function = getattr(tg.special, name, None) or getattr(tg, name)
    values = (function(1, *operands) if name == "polygamma" else function(*operands)).numpy()
    expected = EXACT[f"{name}|value"]
    np.testing.assert_allclose(values, expected, rtol=2e-13, atol=1e-15)


def test_the_header_is_made_of_the_formulas():
    assert PATH.read_text(encoding="utf-8") == header(FORMULAS.values())


def test_programs_include_what_they_call_only(tg):
    """The long header costs the C compiler time: programs without special functions do not have it."""

    def includes(function):
        step = tg.compile(function)
        step(tg.rand(3))
        step(tg.rand(3))
        return {line.split('"')[1] for line in step.source.splitlines() if line.startswith('#include "')}

    plain = includes(lambda x: x.exp() + 1)
    assert not {"tg_special.h", "tg_rejection.h"} & plain
    assert "tg_special.h" in includes(lambda x: tg.lgamma(x))
    assert "tg_rejection.h" in includes(lambda x: tg.poisson(x))
