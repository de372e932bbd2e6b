"""Gradients that depend on their operands with a derivative of zero: they require gradients, of all types."""

import pytest

import tracegrad as tg
from tracegrad.nn import functional as F

LINEAR = {
    "reflected": lambda x: F.pad(x, (2, 2), mode="reflect"),
    "replicated": lambda x: F.pad(x, (2, 2), mode="replicate"),
    "around": lambda x: F.pad(x, (2, 2), mode="circular"),
    "stft": lambda x: tg.stft(x, 4, window=tg.ones(4, dtype=tg.float64), return_complex=True),
}


@pytest.mark.long(fast=3)
@pytest.mark.parametrize("dtype", [tg.float64, tg.complex128], ids=str)
@pytest.mark.parametrize("name", LINEAR)
def test_they_can_be_differentiated_again(name, dtype):
    x = tg.randn(1, 12, dtype=dtype, requires_grad=True)

    def energy(x):
        return LINEAR[name](x).abs().square().sum()

    assert tg.autograd.gradgradcheck(energy, (x,))
    (slope,) = tg.autograd.grad(energy(x), x, create_graph=True)
    compiled = tg.compile(lambda x: tg.autograd.grad(energy(x), x, create_graph=True)[0].abs().square().sum())
    for _ in range(3):
        tg.testing.assert_close(compiled(x), slope.abs().square().sum())
