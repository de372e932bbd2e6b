"""Linear algebra, complex numbers and Fourier transforms against PyTorch's stored answers (expected/matrices.py)."""

import json

import numpy as np
import pytest
from expected import matrices
from expected.compare import STORE, load

NUMBERS = load("matrices")
TEXTS = json.loads((STORE / "matrices.json").read_text(encoding="utf-8"))
# Second derivatives of decompositions divide by differences of squared values, which are 0.05 and more here: some
# hundreds of roundings of numbers of their size. Of float32 the first digits are the same.
DOUBLE, SINGLE = 1e-9, 1e-4


@pytest.mark.filterwarnings("ignore:var|std")
@pytest.mark.parametrize("expression", matrices.EXPRESSIONS)
def test_values_and_derivatives(tg, expression):
    found = matrices.results(tg, expression)
    assert matrices.described(found) == TEXTS["results"][expression]
    expected, actual = NUMBERS[expression], matrices.joined(found)
    tolerance = SINGLE if any(kind in TEXTS["results"][expression] for kind in ("float32", "complex64")) else DOUBLE
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max(initial=1))


@pytest.mark.parametrize("expression", matrices.ERRORS)
def test_errors(tg, expression):
    """The class, and the beginning of the message."""
    kind, message = TEXTS["errors"][expression] or (None, "")
    found = matrices.refused(tg, expression)
    assert (found and found[0]) == kind
    if kind not in (None, "TypeError"):  # those of calls name C++ functions
        assert message.strip().replace("torch.", "")[:45] in found[1].replace("tracegrad.", "").replace("torch.", "")
