"""Random numbers inside of a function whose Jacobian is taken in forward mode: PyTorch maps over it, which refuses."""

import pytest

import tracegrad as tg
from tracegrad import func
from tracegrad.nn import functional as F

DRAWS = {
    "rand": lambda t: t * tg.rand(3),
    "rand_like": lambda t: t + tg.rand_like(t),
    "randperm": lambda t: t * tg.randperm(3),
    "normal_": lambda t: t * tg.zeros(3).normal_(),
    "dropout": lambda t: F.dropout(t, 0.5),
    "multinomial": lambda t: t * tg.multinomial(tg.ones(3), 3),
}
TRANSFORMS = {
    "jacfwd": lambda f: func.jacfwd(f),
    "jacfwd with aux": lambda f: func.jacfwd(lambda t: (t, f(t)), has_aux=True),
    "hessian": lambda f: func.hessian(lambda t: f(t).pow(2).sum()),
    "inner": lambda f: func.jacrev(func.jacfwd(f)),
}


@pytest.mark.parametrize("way", [lambda f: f, tg.compile], ids=["eager", "compiled"])
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("draw", DRAWS)
def test_draws_are_refused(draw, transform, way):
    tg.manual_seed(0)
    before = tg.get_rng_state()
    derivative = way(TRANSFORMS[transform](DRAWS[draw]))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="called random operation while in randomness error mode"):
            derivative(tg.ones(3))
        assert tg.equal(tg.get_rng_state(), before)


@pytest.mark.parametrize("randomness", ["same", "different"])
@pytest.mark.parametrize("draw", DRAWS)
def test_draws_that_are_allowed(draw, randomness):
    tg.manual_seed(0)
    found = func.jacfwd(DRAWS[draw], randomness=randomness)(tg.ones(3))
    tg.manual_seed(0)
    assert tg.equal(found, func.jacrev(DRAWS[draw])(tg.ones(3)))


def test_no_draws():
    assert tg.equal(func.jacfwd(lambda t: F.dropout(t, 0.5, training=False))(tg.ones(2)), tg.eye(2))
    with pytest.raises(
        RuntimeError, match="Only allowed values for randomness are 'error', 'different', or 'same'. Got x"
    ):
        func.jacfwd(lambda t: t, randomness="x")(tg.ones(2))
