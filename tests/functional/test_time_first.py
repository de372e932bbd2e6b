"""`conv_tbc` is `conv1d` with other axes, its gradients included."""

from __future__ import annotations

import itertools

import pytest

import tracegrad as tg


@pytest.mark.parametrize(("kernel", "pad", "compiled"), itertools.product([1, 2, 3], [0, 1, 2], [False, True]))
def test_as_conv1d(kernel, pad, compiled):
    tg.manual_seed(kernel)
    x, weight, bias = (tg.randn(*s, dtype=tg.float64) for s in ((5, 2, 3), (kernel, 3, 4), (4,)))

    def both(function):
        leaves = [value.clone().requires_grad_() for value in (x, weight, bias)]
        out = function(*leaves)
        return out.detach(), *tg.autograd.grad(out.square().sum(), leaves)

    def by_axes(x, weight, bias):
        return tg.conv1d(x.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)

    function = tg.compile(tg.conv_tbc) if compiled else tg.conv_tbc
    for _ in range(2):
        found = both(lambda *given: function(*given, pad))
        assert found[0].is_contiguous()
        for a, b in zip(found, both(by_axes), strict=True):
            tg.testing.assert_close(a, b)


WRONG = {
    "Input must have 3 dims": ((5, 3), (1, 3, 4), (4,)),
    "Weight tensor must have 3 dims": ((5, 2, 3), (3, 4), (4,)),
    "Bias must be 1-D": ((5, 2, 3), (1, 3, 4), (1, 4)),
    "Input dim 2": ((5, 2, 3), (1, 2, 4), (4,)),
    "Bias size must equal dim 2": ((5, 2, 3), (1, 3, 4), (2,)),
}


@pytest.mark.parametrize("message", WRONG)
def test_shapes_that_do_not_fit(message):
    with pytest.raises(RuntimeError, match=message):
        tg.conv_tbc(*(tg.ones(*shape) for shape in WRONG[message]))
