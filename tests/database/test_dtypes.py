"""Which dtypes operators take and give, as PyTorch's do: all operators of the database with all dtypes."""

import importlib
import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
NAMES = list(json.loads(Path(__file__).with_name("outcomes.json").read_text()))

OF_NOTHING = "PyTorch takes any dtype where there is no element to compute, or where an element is its own answer"
SHORT_COMPLEX = "complex32 is not there"
IN_PLACE = "the in-place form of sums that are int64: PyTorch has no kernel, here the result does not fit"
#: Operators that differ, and why.
DIFFERENT = {
    **dict.fromkeys(
        "__rmatmul__ bernoulli linalg_det linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve linalg_lu_solve "
        "linalg_solve linalg_solve_ex linalg_svd lu_solve matmul mm mode nn_functional_adaptive_avg_pool1d "
        "nn_functional_linear nn_functional_pdist svd tensordot".split(),
        OF_NOTHING,
    ),
    **dict.fromkeys("complex polar view_as_complex".split(), SHORT_COMPLEX),
    **dict.fromkeys(
        "cumprod cumsum index_reduce_amax index_reduce_amin index_reduce_mean index_reduce_prod "
        "scatter_reduce_mean".split(),
        IN_PLACE,
    ),
    "round_decimals_0": "decimals=0 is the default, which integers take",
    "stft": "truth values are refused by the function, not by its padding",
}


@pytest.fixture(scope="session")
def database():
    """The modules, whose import takes PyTorch and some seconds."""
    pytest.importorskip("torch", minversion="2.13")
    return importlib.import_module("database.judging"), importlib.import_module("database.dtypes")


@pytest.mark.long(every=10)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in DIFFERENT])
def test_dtypes_are_pytorchs(database, name):
    judging, dtypes = database
    entry = next(op for op in judging.entries() if op.formatted_name == name)
    assert not dtypes.differences(entry)


def test_differences_are_still_there(database):
    """An operator that agrees by now belongs among the others."""
    judging, dtypes = database
    assert not [
        op.formatted_name for op in judging.entries() if op.formatted_name in DIFFERENT and not dtypes.differences(op)
    ]
