"""Index tensors without dimensions: one position each, selected as a number selects it, in every form of an index."""

import numpy as np
import pytest
from side_by_side import Program, ramp

FORMS = {
    "k": lambda k, i: k[3],
    "k k": lambda k, i: (k[3], k[2]),
    "k i": lambda k, i: (k[3], i),
    "i k": lambda k, i: (i, k[3]),
    "k : i": lambda k, i: (k[3], slice(None), i),
    "i : k": lambda k, i: (i, slice(None), k[3]),
    ": k i": lambda k, i: (slice(None), k[3], i),
    "k : k": lambda k, i: (k[3], slice(None), k[2]),
    "k None i": lambda k, i: (k[3], None, i),
    "None k i": lambda k, i: (None, k[3], i),
    "k k i": lambda k, i: (k[3], k[2], i),
    "k i k": lambda k, i: (k[3], i, k[2]),
    "i k i": lambda k, i: (i, k[3], i),
    "... k": lambda k, i: (..., k[3]),
    "... k : i": lambda k, i: (..., k[3], slice(None), i),
}
VALUES = {
    "a number": lambda tg: 2.5,
    "an integer": lambda tg: 3,
    "float32": lambda tg: tg.tensor(1.5),
    "float64": lambda tg: tg.full((1,), 0.1, dtype=tg.float64),
    "integers": lambda tg: tg.full((1, 1), 7),
    "truth": lambda tg: tg.tensor(True),
}


def noted(tg, act):
    """The step, and what is different at each call: the positions."""
    index = tg.tensor([0, 1, 1])

    def positions(i):
        return (tg.tensor([(i + j) % 4 for j in range(4)]),)

    return Program(lambda k: act(k, index), positions, raises=(RuntimeError,))


@pytest.mark.parametrize("form", FORMS)
def test_reads(agree, form):
    def make(tg):
        x = ramp(tg, 4, 4, 4).requires_grad_()

        def act(k, i):
            part = x[FORMS[form](k, i)]
            (found,) = tg.autograd.grad((part * part.detach()).sum(), x)
            return part.detach(), found

        return noted(tg, act)

    agree(make)


@pytest.mark.long(fast=89, every=11)
@pytest.mark.parametrize("of", ["float32", "float64", "int64", "bool"])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("form", FORMS)
def test_writes(agree, form, value, of):
    """Where nothing but positions is named the value is copied and so converted; elsewhere its type has to be right."""

    def make(tg):
        x, written = ramp(tg, 4, 4, 4).to(getattr(tg, of)), VALUES[value](tg)

        def act(k, i):
            y = x.clone()
            y[FORMS[form](k, i)] = written
            return y

        return noted(tg, act)

    agree(make)


def test_index_put_takes_them(tg):
    x = tg.zeros(3, 2)
    x.index_put_((tg.tensor(1),), tg.tensor([1.0, 2.0]))
    x.index_put_((tg.tensor(2, dtype=tg.int32),), tg.tensor(5.0), accumulate=True)
    np.testing.assert_array_equal(x.numpy(), [[0, 0], [1, 2], [5, 5]])
    with pytest.raises(RuntimeError, match="dtypes match"):
        x.index_put_((tg.tensor(1),), tg.tensor(1.0, dtype=tg.float64))
