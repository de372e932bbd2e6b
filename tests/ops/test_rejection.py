"""Poisson, binomial, gamma and Dirichlet numbers: PyTorch's (stored), eager and compiled, and their gradients."""

import numpy as np
import pytest
from expected.compare import load
from expected.rejection import DRAWS, RTOL, SEEDS, all_draws, parameters

STORED = load("rejection")
EXACT = {"poisson", "binomial", "geometric", "uniform", "binomial, broadcast"}


def assert_stored(drawn, seed, dtype):
    for name, numbers in drawn.items():
        expected = STORED[f"{seed} {dtype} {name}"]
        assert numbers.numpy().dtype == expected.dtype and tuple(numbers.shape) == expected.shape
        rtol = 0 if name in EXACT else RTOL[dtype]
        np.testing.assert_allclose(numbers.numpy(), expected, rtol=rtol, err_msg=name)


@pytest.mark.parametrize("dtype", RTOL)
@pytest.mark.parametrize("seed", SEEDS)
def test_draws_are_those_of_pytorch(tg, seed, dtype):
    tg.manual_seed(seed)
    assert_stored(all_draws(tg, dtype), seed, dtype)


@pytest.mark.long
@pytest.mark.parametrize("dtype", RTOL)
def test_compiled_draws_are_those_of_pytorch(tg, dtype):
    """One program for each draw; they go on from each other as eager ones do."""
    given = parameters(tg, dtype)
    steps = {name: tg.compile(lambda p, draw=draw: draw(tg, p) + 0) for name, draw in DRAWS.items()}
    for seed in (*SEEDS, *SEEDS):
        tg.manual_seed(seed)
        assert_stored({name: step(given) for name, step in steps.items()}, seed, dtype)
    assert {step.way for step in steps.values()} == {"replay"}


def test_normal_numbers_after_gamma_numbers_are_recorded_again(tg):
    """Whether one is ready depends on how many the gamma numbers took."""

    def draw(x):
        return tg._standard_gamma(x), tg.randn(3)

    step, x = tg.compile(draw), tg.full((5,), 0.7)
    tg.manual_seed(1)
    expected = [draw(x) for _ in range(12)]
    tg.manual_seed(1)
    for gamma, normal in expected:
        found = step(x)
        assert found[0].tolist() == gamma.tolist() and found[1].tolist() == normal.tolist()
    assert step.way == "re-record"


def test_gradients(tg):
    """Gamma numbers move with their parameter, Poisson numbers do not, the others have no derivative."""
    x = tg.tensor([0.5, 3.0, 20.0], dtype=tg.float64, requires_grad=True)
    drawn = tg._standard_gamma(x)
    drawn.sum().backward()
    assert x.grad.tolist() == tg._standard_gamma_grad(x.detach(), drawn.detach()).tolist()
    x.grad = None
    tg.poisson(x).sum().backward()
    assert x.grad.tolist() == [0, 0, 0]
    for draw in (lambda: tg.binomial(x, x.detach() / 30), lambda: tg._sample_dirichlet(x)):
        with pytest.raises(NotImplementedError, match="the derivative for .* is not implemented"):
            draw().sum().backward()


def test_a_compiled_gamma_step(tg):
    """Draw, backward pass and update in one program."""

    def run(compiled):
        tg.manual_seed(4)
        x = tg.tensor([0.5, 3.0, 20.0], dtype=tg.float64, requires_grad=True)

        def step():
            x.grad = None
            (tg._standard_gamma(x) - 5).square().sum().backward()
            with tg.no_grad():
                x.sub_(x.grad * 1e-3)

        stepping = tg.compile(step) if compiled else step
        for _ in range(6):
            stepping()
        return x.tolist()

    np.testing.assert_allclose(run(True), run(False), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda tg: tg.poisson(tg.tensor([-1.0])), RuntimeError, "expected rate to be non-negative"),
        (lambda tg: tg.poisson(tg.tensor([1])), NotImplementedError, "poisson_cpu"),
        (lambda tg: tg.binomial(3, tg.tensor([0.5])), TypeError, "argument 'count'"),
        (lambda tg: tg.binomial(tg.tensor([3]), tg.tensor([0.5])), ValueError, "only supports floating-point dtypes"),
        (
            lambda tg: tg.binomial(tg.ones(1), tg.ones(1).double()),
            RuntimeError,
            "Found dtype Double but expected Float",
        ),
        (lambda tg: tg.ones(2).cauchy_(0, 0), RuntimeError, "sigma > 0.0"),
        (lambda tg: tg.ones(2).long().cauchy_(), RuntimeError, "continuous probability distribution"),
        (lambda tg: tg.ones(2).log_normal_(0, -1), RuntimeError, "std > 0.0"),
        (lambda tg: tg.ones(2).geometric_(1.0), RuntimeError, r"p to be in \(0, 1\)"),
    ],
)
def test_errors(tg, call, error, text):
    before = tg.get_rng_state().tolist()
    with pytest.raises(error, match=text):
        call(tg)
    assert tg.get_rng_state().tolist() == before
