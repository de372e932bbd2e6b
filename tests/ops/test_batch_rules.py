"""Every primitive for all slices at once is the primitive of each slice: `func/batch_rules.py` over the samples."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from random_samples import RANDOM
from samples import SAMPLES

from tracegrad.func.batch_rules import Batched, Held
from tracegrad.ops.core import REGISTRY, Pointwise, bind
from tracegrad.ops.types import DType
from tracegrad.tensors.tensor import make

SLICES = 3
#: Those with operands, whose samples have numbers that can differ from slice to slice.
BATCHED = sorted(name for name in SAMPLES if REGISTRY[name].inputs and name not in RANDOM)
#: What is computed slice by slice: it may become less.
ONE_BY_ONE = {"permutation", "scan", "search", "search_right", "strided"}


def slices(case, dtype: DType):
    """The operands of three slices, and of which of them there is one for all."""
    each = [case.arrays(dtype, seed) for seed in range(SLICES)]
    places = range(len(case.operands))
    free = [i for i in places if not np.array_equal(each[0][i], each[1][i], equal_nan=True) or not each[0][i].size]
    free = free or list(places)
    some = [tuple(chosen) for count in (1, len(free)) for chosen in itertools.combinations(free, count)]
    return each, list(dict.fromkeys(some))


@pytest.mark.parametrize("name", BATCHED)
def test_all_slices_at_once(name):
    primitive, slowly = REGISTRY[name], 0
    # Products and sums are taken in another order where slices are put together.
    loose = {} if isinstance(primitive.lower, Pointwise) else {"rtol": 1e-5, "atol": 1e-6}
    for case in SAMPLES[name]:
        dtype = case.dtypes[0]
        each, choices = slices(case, dtype)
        for batched in choices:
            values = [
                Held(make(np.stack([arrays[i] for arrays in each])), True) if i in batched else Held(make(x), False)
                for i, x in enumerate(each[0])
            ]
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                out = Batched(SLICES).apply(primitive, values, case.params)
            slowly += len(said)
            assert out.batched
            for place, arrays in enumerate(each):
                own = [make(arrays[i] if i in batched else each[0][i]) for i in range(len(values))]
                expected = bind(primitive, *own, **case.params).ndarray
                found = out.tensor.ndarray[place]
                assert found.dtype == expected.dtype and found.shape == expected.shape, (str(case), batched)
                np.testing.assert_allclose(found, expected, **loose or {"rtol": 1e-6, "atol": 0}, err_msg=str(case))
    assert bool(slowly) == (name in ONE_BY_ONE)
