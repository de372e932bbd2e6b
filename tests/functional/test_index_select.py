"""`index_select` copies: its result lies row by row, however its operand lies."""

from itertools import permutations

import numpy as np
import pytest

import tracegrad as tg


@pytest.mark.parametrize("dim", range(3))
@pytest.mark.parametrize("order", permutations(range(3)))
@pytest.mark.parametrize("compiled", [False, True])
def test_the_result_is_contiguous(dim, order, compiled):
    x = tg.arange(24.0).reshape(2, 3, 4).permute(order)
    places = tg.tensor([1, 0, 1])
    select = lambda x: x.index_select(dim, places)  # noqa: E731
    if compiled:
        select = tg.compile(select)
        select(x)
    found = select(x)
    assert found.is_contiguous()
    np.testing.assert_array_equal(found.numpy(), np.take(x.numpy(), [1, 0, 1], dim))
