"""Trajectories of training through norms, resizing, lazy layers, embedding bags and CTC: PyTorch's, to 1e-9."""

import pytest
from expected import layer_steps
from expected.compare import assert_close, load

STORED = load("layer_steps")
#: Two hundred steps let roundings of 1e-16 grow by some orders of magnitude.
TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}


def check(tg, name, wrap):
    losses, output = layer_steps.losses(tg, name, wrap)
    assert losses[-1] < 0.9 * losses[0]
    assert_close(losses, STORED[f"{name}|losses"], **TOLERANCE)
    assert_close(output, STORED[f"{name}|output"], **TOLERANCE)


@pytest.mark.long(fast=7)
@pytest.mark.parametrize("name", layer_steps.NETS)
def test_eager(tg, name):
    check(tg, name, lambda step: step)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("name", ["GroupNorm", "upsampling", "lazy", "embedding_bag", "ctc"])
def test_compiled(tg, name):
    check(tg, name, tg.compile)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("name", layer_steps.NETS)
def test_each_compiled(tg, name):
    check(tg, name, tg.compile)
