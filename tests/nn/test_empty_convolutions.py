"""Convolutions of nothing: what PyTorch computes is computed, and what it refuses is refused, eager and compiled."""

import itertools

import pytest

import tracegrad as tg

BATCH, SPACE, KERNEL = (0, 1), (0, 1, 3), (0, 1, 2)
#: How many places there are by places, kernel (stride 2, padding 1); None: refused.
PLACES = {
    "conv": {(0, 1): None, (0, 2): None, (1, 1): 2, (1, 2): 1, (3, 1): 3, (3, 2): 2},
    "conv_transpose": {(0, 1): None, (0, 2): None, (1, 1): None, (1, 2): None, (3, 1): 3, (3, 2): 4},
}
REASONS = "kernel size should be greater than zero|Only zero batch or zero channel inputs|Output size is too small"


@pytest.mark.long(fast=4)
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("name", PLACES)
def test_they_are_as_in_pytorch(name, axes):
    function = getattr(tg.nn.functional, f"{name}{axes}d")
    for n, k in itertools.product(SPACE, KERNEL):
        x, weight = tg.ones(1, 1, *[n] * axes), tg.ones(1, 1, *[k] * axes)
        for call in (function, tg.compile(function)):
            wanted = PLACES[name].get((n, k))
            if wanted is None:
                for _ in range(2):
                    with pytest.raises(RuntimeError, match=REASONS):
                        call(x, weight, stride=2, padding=1)
            else:
                for _ in range(3):
                    assert call(x, weight, stride=2, padding=1).shape == (1, 1, *[wanted] * axes)


@pytest.mark.parametrize("name", PLACES)
def test_without_a_batch_there_may_be_no_places(name):
    function = getattr(tg.nn.functional, f"{name}1d")
    assert function(tg.ones(0, 1, 3), tg.ones(1, 1, 2)).shape == (0, 1, 4 if "transpose" in name else 2)
    assert function(tg.ones(0, 1, 0), tg.ones(1, 1, 2), padding=0 if "transpose" in name else 2).shape == (
        (0, 1, 1) if "transpose" in name else (0, 1, 3)
    )
    with pytest.raises(RuntimeError, match="greater than zero"):
        function(tg.ones(0, 1, 3), tg.ones(1, 1, 0))
