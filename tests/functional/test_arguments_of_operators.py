"""Arguments that operators once refused or took otherwise than PyTorch; the values are PyTorch 2.13's."""

import math

import pytest

NAN = math.nan
VALUES = {
    "tg.rsub(x, 2, alpha=3)": [-1.0, -4.0],
    "tg.rsub(x, x, alpha=2)": [-1.0, -2.0],
    "tg.clamp(x, min=tg.tensor([NAN, 0.]))": [NAN, 2.0],
    "tg.clamp_max(tg.tensor([NAN, 3.]), x)": [NAN, 2.0],
    "tg.clamp_min(x, tg.tensor(NAN))": [NAN, NAN],
    "tg.clamp(x, max=NAN)": [NAN, NAN],
    "tg.linspace(4.3, -3, 10, dtype=tg.int64)": [4, 3, 2, 1, 0, 0, 0, -1, -2, -3],
    "tg.linspace(0, -5, 7, dtype=tg.int32)": [0, 0, -1, -2, -3, -4, -5],
    "tg.logspace(0, 3, 4, dtype=tg.int64)": [1, 10, 100, 1000],
    "tg.logspace(0, 2.5, 6, dtype=tg.int64)": [1, 2, 6, 15, 39, 100],
    "tg.arange(0.0, -8.000001, -4.0, dtype=tg.int32)": [0, -4, -8],
    "tg.arange(0.5, 3.7, dtype=tg.int64)": [0, 1, 2],
    "tg.arange(1.5, 5, 1.2, dtype=tg.int64)": [1, 2, 3, 4],
    "tg.logsumexp(tg.tensor([True, False]), 0)": 1.3132616,
    "tg.logsumexp(tg.tensor([1, 2]), 0)": 2.3132617,
    "tg.stack(tg.var_mean(x, True))": [0.5, 1.5],
    "tg.stack(tg.var_mean(x, 0, correction=0))": [0.25, 1.5],
    "tg.stack(tg.var_mean(x, correction=1.5))": [1.0, 1.5],
    "tg.stack(tg.std_mean(x, False))": [0.5, 1.5],
    "tg.remainder(2, x)": [0.0, 0.0],
    "tg.pow(2, x)": [2.0, 4.0],
    "tg.bitwise_and(2, tg.tensor([1, 2]))": [0, 2],
    "tg.norm(tg.tensor([0., math.inf, NAN]), 0)": 2.0,
    "tg.randint_like(x, 5, device='cpu', requires_grad=True).requires_grad": True,
    "x.double().float_power_(2)": [1.0, 4.0],
}
ERRORS = {
    "tg.remainder(2, 3)": TypeError,
    "tg.pow(2, 3)": TypeError,
    "tg.xlogy(2, 3)": TypeError,
    "tg.bitwise_or(2, 3)": TypeError,
    "tg.linspace(0, 3, 2.0)": TypeError,
    "tg.logspace(0, 3, 1.0)": TypeError,
    "tg.randn(2, foo=1)": TypeError,
    "tg.randn_like(x, foo=1)": TypeError,
    "tg.arange(0, math.inf, 2)": RuntimeError,
    "tg.arange(0, NAN)": RuntimeError,
    "tg.amax(tg.empty(5, 0, 5))": RuntimeError,
    "tg.amin(tg.empty(5, 0, 5), ())": RuntimeError,
    "tg.amax(tg.empty(5, 0, 5), 1)": IndexError,
    "x.float_power_(2)": RuntimeError,
}


@pytest.mark.parametrize("text", VALUES)
def test_value(tg, text):
    value = eval(text, {"tg": tg, "x": tg.tensor([1.0, 2.0]), "math": math, "NAN": NAN})
    assert (value if isinstance(value, bool) else value.tolist()) == pytest.approx(VALUES[text], nan_ok=True)


@pytest.mark.parametrize("text", ERRORS)
def test_error(tg, text):
    with pytest.raises(ERRORS[text]):
        eval(text, {"tg": tg, "x": tg.tensor([1.0, 2.0]), "math": math, "NAN": NAN})


def test_draws_are_on_the_tape_of_their_parameters(tg):
    p, mean, std = (tg.tensor([0.5, 0.5], requires_grad=True) for _ in range(3))
    draws = [tg.bernoulli(p), tg.normal(mean, std), tg.normal(mean, 1.0), tg.normal(0.0, std)]
    names = [draw.grad_fn.name() for draw in draws]
    assert names == ["BernoulliBackward0", "NormalBackward3", "NormalBackward1", "NormalBackward2"]
    sum(draw.sum() for draw in draws).backward()
    assert p.grad.tolist() == mean.grad.tolist() == std.grad.tolist() == [0.0, 0.0]


def test_a_norm_that_counts_has_no_gradient(tg):
    x = tg.tensor([1.0, 0.0], requires_grad=True)
    counted = tg.norm(x, 0)
    assert counted.requires_grad and counted.grad_fn.name() == "LinalgVectorNormBackward0"
    assert tg.autograd.grad(counted, x, allow_unused=True) == (None,)


@pytest.mark.parametrize("interpolation, moves", [("linear", True), ("lower", False), ("midpoint", False)])
def test_quantiles_move_with_the_shares(tg, interpolation, moves):
    x = tg.tensor([1.0, 2.0, 4.0], dtype=tg.float64)
    q = tg.tensor([0.0, 0.5, 0.6, 1.0], dtype=tg.float64, requires_grad=True)
    found = tg.quantile(x, q, interpolation=interpolation)
    assert found.requires_grad == moves
    if moves:
        found.sum().backward()
        assert q.grad.tolist() == pytest.approx([0.0, 0.0, 4.0, 0.0])
