"""Strides of tensors without elements, as PyTorch gives them."""

import pytest


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((0,), (1,)),
        ((0, 3), (3, 1)),
        ((3, 0), (1, 1)),
        ((2, 0, 3), (3, 3, 1)),
        ((3, 0, 2), (2, 2, 1)),
        ((2, 3, 0), (3, 1, 1)),
    ],
)
def test_a_new_tensor(tg, shape, strides):
    for make in (tg.empty, tg.zeros, tg.ones, tg.randn):
        assert make(*shape).stride() == strides and make(*shape).stride(-1) == 1
    assert (tg.ones(*shape) + 1).stride() == tg.cat([tg.ones(*shape)]).stride() == strides
    assert tg.zeros(*shape).is_contiguous()


def test_a_part_of_a_larger_one(tg):
    assert tg.zeros(5, 3)[5:].stride() == (3, 1) and tg.zeros(3, 5)[:, 5:].stride() == (5, 1)
