"""The middle of nothing."""

import pytest


def test_the_median_of_nothing(tg):
    for shape, dim in (((0,), 0), ((2, 0), 1)):
        with pytest.raises(IndexError, match=f"Expected reduction dim {dim} to have non-zero size"):
            tg.zeros(shape).median(dim)
    assert tg.isnan(tg.zeros(0).median()).item() and tg.zeros(0, 2).median(1)[0].shape == (0,)
