"""Written slices and windows behind sums: each part of a kernel's loops adds to arrays of accumulators on the stack.

Programs in whose kernels two loops were merged that walk through memory as one, but not through the accumulators, and
programs for all sizes whose accumulators gcc 12 laid out where its aligned stores did not expect them, wrote elsewhere.
"""

import pytest

import tracegrad as tg

F = tg.nn.functional

#: Which elements are written: along each axis a whole one, a first and a last part, one in the middle.
PARTS = {"whole": slice(None), "first": slice(0, 1), "last": slice(-1, None), "middle": slice(1, 2)}


def written(z, y, place):
    z = z.clone()
    z[place] = y[place].flip(-1) * 2
    return z


@pytest.mark.long(fast=61, every=11)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("last", PARTS)
@pytest.mark.parametrize("middle", PARTS)
@pytest.mark.parametrize("summed", [(0,), (0, 2), (1,), (0, 1, 3)])
def test_gradients_of_what_is_broadcast(n, middle, last, summed):
    """The gradient of a parameter that is broadcast along `summed` sums over these axes."""
    extents = [3, n, 3, 5]
    shape = [1 if axis in summed else extent for axis, extent in enumerate(extents)]
    p = (tg.arange(tg.Size(shape).numel()).reshape(shape) % 5 + 1.0).requires_grad_()
    x = tg.arange(tg.Size(extents).numel()).reshape(extents) % 7 - 3.0
    place = (slice(None), slice(None), PARTS[middle], PARTS[last])

    def step(x):
        p.grad = None
        y = x * p
        z = written(y, y, place)
        (z * z * z + z).sum().backward()
        return p.grad

    expected = step(x).clone()
    compiled = tg.compile(step)
    for _ in range(3):
        assert tg.equal(compiled(x), expected)  # whole numbers that float32 holds, in any order


@pytest.mark.parametrize("behind", ["fold", "pad", "average"])
def test_programs_for_all_sizes(behind):
    ways = {
        "fold": lambda z: F.fold(z, (3, 4), 2),
        "pad": lambda z: F.pad(z.reshape(-1, 4, 2, 3), (1, 1)).sum(1),
        "average": lambda z: F.avg_pool1d(F.pad(z, (1, 0)), 3, 2),
    }

    def function(x):
        z = x * 2
        z[:, :, 4:5] = x[:, :, 4:5] * 5
        return ways[behind](z)

    compiled = tg.compile(function)
    for batch in (3, 5, 3, 8, 5, 40, 1):
        x = tg.arange(batch * 24).reshape(batch, 4, 6) % 11 - 5.0
        assert tg.allclose(compiled(x), function(x), rtol=1e-6, atol=0)  # a quotient by three is rounded
