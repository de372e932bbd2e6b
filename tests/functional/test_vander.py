"""``vander``: powers of a vector's elements, as numpy has them."""

import numpy as np
import pytest


@pytest.mark.parametrize("N", [None, 0, 1, 2, 5])
@pytest.mark.parametrize("increasing", [False, True])
def test_it_is_numpys(tg, N, increasing):
    for values in ([1, 2, 3], [0.5, -2.0]):
        found = tg.vander(tg.tensor(values), N, increasing)
        assert np.array_equal(found.numpy(), np.vander(np.array(values), N, increasing))
        assert found.dtype is (tg.int64 if isinstance(values[0], int) else tg.float32)


def test_what_is_refused(tg):
    with pytest.raises(RuntimeError, match="x must be a one-dimensional tensor"):
        tg.vander(tg.ones(2, 2))
    with pytest.raises(RuntimeError, match="N must be non-negative"):
        tg.vander(tg.ones(2), -1)


def test_it_has_a_derivative_and_is_compiled(tg):
    x = tg.tensor([2.0, 3.0], requires_grad=True)
    tg.vander(x, 3).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]
    step = tg.compile(lambda x: tg.vander(x, 3))
    for i in range(4):
        y = tg.tensor([1.0 + i, 2.0])
        assert tg.equal(step(y), tg.vander(y, 3))
