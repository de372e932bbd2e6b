"""`nextafter` of 16-bit numbers, for all of them: their bits, as integers, are in the order of the numbers."""

from __future__ import annotations

import numpy as np
import pytest

import tracegrad as tg

TARGETS = (0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"))
SIGN = 1 << 15


def neighbour(bits, infinity, target, of_target):
    """The bits of the number beside each of `bits` in the direction of `target`, whose bits are `of_target`."""
    size, negative = bits & ~SIGN, bits >= SIGN
    order = np.where(negative, -size, size)
    target_order = -(of_target & ~SIGN) if of_target >= SIGN else of_target
    up = target_order > order
    beside = np.where(size == 0, np.where(up, 1, SIGN | 1), np.where(up == negative, bits - 1, bits + 1))
    beside = np.where(order == target_order, of_target, beside)
    return np.where((size > infinity) | np.isnan(target), -1, beside)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("dtype", "infinity"), [(tg.float16, 0x7C00), (tg.bfloat16, 0x7F80)])
def test_each_16_bit_number_has_its_neighbour(dtype, infinity, target, compiled):
    bits = np.arange(1 << 16)
    x = tg.from_numpy(bits.astype(np.uint16).view(np.int16)).view(dtype)
    y = tg.tensor([target], dtype=dtype)
    of_target = int(y.view(tg.int16).numpy().view(np.uint16)[0])
    function = tg.compile(tg.nextafter) if compiled else tg.nextafter
    out = [function(x, y) for _ in range(2)][-1]
    assert out.dtype is dtype
    found = out.view(tg.int16).numpy().view(np.uint16).astype(int)
    found = np.where(out.isnan().numpy(), -1, found)
    assert (found == neighbour(bits, infinity, target, of_target)).all()
