"""Two hundred steps of Muon, SparseAdam and L-BFGS (expected/optimizer_trajectories.py): PyTorch's, to 1e-9."""

import numpy as np
import pytest
from expected.compare import load
from expected.optimizer_trajectories import CASES, SEEN, trajectory

from tracegrad.compiler import pipeline

STORED = load("optimizer_trajectories")
TOLERANCE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.fixture(autouse=True)
def quickly_built(monkeypatch):
    """What the C compiler's optimiser makes of a program is not asked here, and takes most of the time."""
    monkeypatch.setattr(pipeline, "FLAGS", tuple("-O0" if flag == "-O2" else flag for flag in pipeline.FLAGS))


def assert_stored(tg, case, mode, wrap=lambda step: step):
    losses, last = trajectory(tg, case, mode, wrap)
    np.testing.assert_allclose(losses[SEEN], STORED[f"{case}|{mode}|losses"], **TOLERANCE)
    np.testing.assert_allclose(last, STORED[f"{case}|{mode}|last"], **TOLERANCE)


@pytest.mark.long(fast="first", by_size=True)
@pytest.mark.parametrize("case, mode", CASES)
def test_eager(tg, case, mode):
    assert_stored(tg, case, mode)


@pytest.mark.long(fast="first", every=3)
@pytest.mark.parametrize("case, mode", CASES)
def test_compiled(tg, case, mode):
    steps = []

    def wrap(step):
        steps.append(tg.compile(step))
        return steps[-1]

    assert_stored(tg, case, mode, wrap)
    if case.startswith("Muon"):
        assert steps[0].way == "replay" and len(steps[0].specialisations) == 1
