"""Two hundred steps through each recurrent, attention, convolution and norm layer: PyTorch's, to 1e-9."""

import numpy as np
import pytest
from expected.compare import load
from expected.layer_trajectories import ATTENTION, CASES, CELLS, CONVOLUTION, LAYERS, NORMS, RECURRENT, SEEN, trajectory

from tracegrad.compiler import pipeline

STORED = load("layer_trajectories")
#: How many rows are in which cluster is data.
RERECORDED = {"AdaptiveLogSoftmaxWithLoss"}
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


@pytest.mark.long(fast=41, every=13)
@pytest.mark.parametrize("name, mode", CASES)
def test_eager(tg, name, mode):
    differences(tg, name, mode)


@pytest.mark.long(fast="first", every=29)
@pytest.mark.parametrize("name, mode", CASES)
def test_compiled(tg, name, mode):
    steps = []

    def wrap(step):
        steps.append(tg.compile(step))
        return steps[0]

    differences(tg, name, mode, wrap)
    if name in RERECORDED:
        assert steps[0].way == "re-record"
    else:
        assert steps[0].way == "replay" and len(steps[0].specialisations) == 1


#: Arguments that some class takes: the first that fit make one.
ARGUMENTS = [(), (3,), (3, 3), (4, 2), (3, 3, 2), (4, 6, [2, 4])]


def made(kind):
    """A layer of a class; None if it wants other arguments (other layers, axes), or is a base class."""
    for arguments in ARGUMENTS:
        try:
            return kind(*arguments)
        except (TypeError, ValueError, AssertionError, IndexError, AttributeError):
            continue
    return None


def test_each_layer_with_parameters_or_state_is_there(tg):
    """All that ``nn`` has; lazy ones become these."""
    elsewhere = {"LinearCrossEntropyLoss"}  # a prototype of PyTorch's
    public = {n: v for n, v in vars(tg.nn).items() if isinstance(v, type) and issubclass(v, tg.nn.Module)}
    layers = {n: made(kind) for n, kind in public.items() if not n.startswith("Lazy")}
    wanted = {n for n, layer in layers.items() if layer is not None and layer.state_dict()} - elsewhere
    assert len(wanted) >= 29
    assert wanted <= {text.partition("(")[0] for text in LAYERS.values()}


def test_each_kind_of_layer_is_there(tg):
    """All layers of these kinds that ``nn`` has; lazy ones become these."""
    ends = ("RNN", "LSTM", "GRU", "Cell", "Norm", "Norm1d", "Norm2d", "Norm3d", "LRN2d", "Attention")
    starts = ("Conv", "Transformer")
    public = [n for n in dir(tg.nn) if n.endswith(ends) or n.startswith(starts)]
    named = {text.partition("(")[0] for of in (RECURRENT, CELLS, ATTENTION, CONVOLUTION, NORMS) for text in of.values()}
    wanted = {n for n in public if not n.startswith("Lazy")}
    assert wanted == named
