"""Two hundred steps through each recurrent, attention, convolution and norm layer: PyTorch's, to 1e-9."""

import numpy as np
import pytest
from expected.compare import load
from expected.layer_trajectories import ATTENTION, CASES, CELLS, CONVOLUTION, NORMS, RECURRENT, SEEN, trajectory

from tracegrad.compiler import pipeline

STORED = load("layer_trajectories")
#: Two hundred steps let roundings of 1e-16 grow by some orders of magnitude.
TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(autouse=True)
def quickly_built(monkeypatch):
    """What the C compiler's optimiser makes of a program is not asked here, and takes most of the time."""
    monkeypatch.setattr(pipeline, "FLAGS", tuple("-O0" if flag == "-O2" else flag for flag in pipeline.FLAGS))


def differences(tg, name, mode, wrap=lambda step: step):
    """The largest difference of the losses, and that of the last output and the parameters."""
    losses, numbers = trajectory(tg, name, mode, wrap)
    pairs = [(losses[SEEN], "losses"), (numbers, "last")]
    found = []
    for got, what in pairs:
        expected = STORED[f"{name}|{mode}|{what}"]
        np.testing.assert_allclose(got, expected, **TOLERANCE)
        found.append(float(np.abs(got - expected).max()))
    assert losses[-1] < losses[0]
    return found


@pytest.mark.long(fast=13, every=2)
@pytest.mark.parametrize("name, mode", CASES)
def test_eager(tg, name, mode):
    differences(tg, name, mode)


@pytest.mark.long(fast=19)
@pytest.mark.parametrize("name, mode", CASES)
def test_compiled(tg, name, mode):
    steps = []

    def wrap(step):
        steps.append(tg.compile(step))
        return steps[0]

    differences(tg, name, mode, wrap)
    assert steps[0].way == "replay" and len(steps[0].specialisations) == 1


def test_each_kind_of_layer_is_there(tg):
    """All layers of these kinds that ``nn`` has; lazy ones become these, `layer_steps` has the others."""
    elsewhere = {"SyncBatchNorm", "CrossMapLRN2d", "TransformerEncoder", "TransformerDecoder"}
    ends = ("RNN", "LSTM", "GRU", "Cell", "Norm", "Norm1d", "Norm2d", "Norm3d", "LRN2d", "Attention")
    starts = ("Conv", "Transformer")
    public = [n for n in dir(tg.nn) if n.endswith(ends) or n.startswith(starts)]
    named = {text.partition("(")[0] for of in (RECURRENT, CELLS, ATTENTION, CONVOLUTION, NORMS) for text in of.values()}
    wanted = {n for n in public if not n.startswith("Lazy") and n not in elsewhere}
    assert wanted == named
