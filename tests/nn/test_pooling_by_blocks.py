"""Windows that stand side by side: nothing is laid out once for each place of a window, in neither direction."""

import re
import tracemalloc

import pytest

import tracegrad as tg

F = tg.nn.functional

POOLS = {
    "global average": lambda x: F.adaptive_avg_pool2d(x, 1),
    "adaptive average": lambda x: F.adaptive_avg_pool2d(x, (3, 4)),
    "average": lambda x: F.avg_pool2d(x, (4, 3)),
    "average in three dimensions": lambda x: F.avg_pool3d(x, 4),
    "average along rows": lambda x: F.avg_pool1d(x[0], 12),
    "norm": lambda x: F.lp_pool2d(x, 2, 6),
    "global maximum": lambda x: F.adaptive_max_pool2d(x, 1),
    "maximum": lambda x: F.max_pool2d(x, 6),
}
#: The input, its gradient, the result and two more of the input's size; a maximum keeps places, of eight bytes.
TIMES = 8


def step(pool, x):
    x.grad = None
    loss = pool(x).square().sum()
    loss.backward()
    return loss


@pytest.mark.parametrize("name", POOLS)
def test_eager_memory(name):
    x = tg.rand(8, 16, 24, 24).requires_grad_()
    step(POOLS[name], x)
    tracemalloc.start()
    try:
        step(POOLS[name], x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < TIMES * x.nbytes


@pytest.mark.parametrize("name", [name for name in POOLS if "maximum" not in name])
def test_nodes_of_programs_are_no_larger_than_the_input(name):
    x = tg.rand(2, 4, 24, 24).requires_grad_()
    compiled = tg.compile(lambda: step(POOLS[name], x))
    compiled()
    shapes = re.findall(r": f32\[([\d,]+)\]", str(compiled.graph))
    assert shapes
    assert max(tg.Size(map(int, shape.split(","))).numel() for shape in shapes) == x.numel()
