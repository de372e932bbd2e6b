"""A whole program from one seed has PyTorch's numbers, eagerly and compiled (stored; see expected/training.py)."""

import numpy as np
import pytest
from expected.compare import FLOAT32_RTOL, load
from expected.training import losses

STORED = load("training")


@pytest.mark.long(fast="first")
def test_losses_of_a_training_run(tg, maybe_compile):
    found, logits = losses(tg, maybe_compile)
    # Twenty-one steps in float32. Moving every initial weight by two roundings (1.2e-7) moves these losses by 2e-7, so
    # that 1e-5 leaves room for another order of sums and other last digits of exp, tanh and erf.
    np.testing.assert_allclose(found, STORED["losses"], rtol=FLOAT32_RTOL)
    # Logits are sums of terms of order one and may cancel, hence the absolute part.
    np.testing.assert_allclose(logits, STORED["logits"], rtol=FLOAT32_RTOL, atol=1e-5)
