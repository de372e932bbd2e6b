"""Ties, NaN, infinities, zero-dimensional tensors and empty ones."""

import numpy as np
import pytest
from expected.compare import assert_close

NAN, INF = float("nan"), float("inf")


def gradient_of(tg, expression):
    """A program that returns value and gradient of an expression in x, for `call`."""

    def program(x):
        value = eval(expression, {"tg": tg, "F": tg.nn.functional, "x": x, "nan": NAN, "inf": INF})
        value.sum().backward()
        return value.detach(), x.grad

    return program


# expression in x, value of x, gradient of the sum.
TIES = [
    ("x.max()", [3, 1, 3], [0.5, 0, 0.5]),
    ("x.min()", [1, 1, 3], [0.5, 0.5, 0]),
    ("x.amax(0)", [3, 1, 3], [0.5, 0, 0.5]),
    ("x.amin(0)", [2, 2, 2], [1 / 3] * 3),
    ("x.max(0)[0]", [3, 1, 3], [1, 0, 0]),
    ("x.min(0)[0]", [3, 1, 1], [0, 1, 0]),
    ("tg.maximum(x, tg.ones(3))", [1, 2, 0], [0.5, 1, 0]),
    ("tg.minimum(x, tg.ones(3))", [1, 2, 0], [0.5, 0, 1]),
    ("tg.max(x, x * 1)", [1, 2, 0], [1, 1, 1]),
    ("x.clamp(0, 1)", [0, 1, 2], [1, 1, 0]),
    ("x.clamp(min=1)", [0, 1, 2], [0, 1, 1]),
    ("F.hardtanh(x, 0, 1)", [0, 0.5, 1], [0, 1, 0]),
    ("x.relu()", [0, -1, 1], [0, 0, 1]),
    ("x.abs()", [0, -1, 1], [0, -1, 1]),
    ("F.leaky_relu(x, 0.5)", [0, -1, 1], [0.5, 0.5, 1]),
    ("x.sign()", [0, -1, 1], [0, 0, 0]),
    ("F.elu(x)", [0, 1, 2], [1, 1, 1]),
    ("x.median()", [3, 1, 3], [0.5, 0, 0.5]),
    ("x.sort()[0][0]", [2, 1, 1], [0, 1, 0]),
    ("x.prod()", [0, 2, 3], [6, 0, 0]),
    ("x.prod()", [0, 0, 3], [0, 0, 0]),
    ("x.cumprod(0)", [0, 2, 3], [9, 0, 0]),
    ("F.smooth_l1_loss(x, tg.zeros(3), reduction='sum')", [1, 0, -1], [1, 0, -1]),
    ("F.l1_loss(x, tg.zeros(3), reduction='sum')", [1, 0, -1], [1, 0, -1]),
    ("x.norm()", [0, 0, 0], [0, 0, 0]),
    ("x.round() + x.floor() + x.ceil()", [0.5, 1.5, 2], [0, 0, 0]),
]
NANS = [
    ("x.max()", [1, NAN, 2], [0, 1, 0]),
    ("x.clamp(0, 1)", [NAN, 2, 0.5], [0, 0, 1]),
    ("x.relu()", [NAN, 1, -1], [1, 1, 0]),
    ("x.sign()", [NAN, 1, -1], [0, 0, 0]),
    ("tg.where(x > 0, x.log(), 0 * x)", [2, -1, 4], [0.5, 0, 0.25]),
    ("tg.where(x > 0, x, x * nan)", [2, 1, 4], [NAN, NAN, NAN]),
    ("tg.where(x > 0, x, tg.zeros(3)).sqrt()", [4, 1, 16], [0.25, 0.5, 0.125]),
    ("x.sqrt()", [0, 1, 4], [INF, 0.5, 0.25]),
    ("x.log()", [0, 1, -1], [INF, 1, -1]),
    ("x * 0", [INF, NAN, 1], [0, 0, 0]),
    ("x / x", [0, 1, 2], [NAN, 0, 0]),
    ("x ** 2", [0, NAN, INF], [0, NAN, INF]),
    ("x ** 0.5", [0, 1, 4], [INF, 0.5, 0.25]),
    ("x ** 0", [0, NAN, 2], [0, 0, 0]),
    ("x.std()", [1, 1, 1], [0, 0, 0]),
    ("x.logsumexp(0)", [-INF, 0, 0], [0, 0.5, 0.5]),
    ("x.softmax(0)[1]", [-INF, 0, 0], [0, 0.25, -0.25]),
    ("tg.maximum(x, tg.zeros(3))", [NAN, 1, -1], [1, 1, 0]),
    ("x.exp()", [1000, -1000, 0], [INF, 0, 1]),
    ("x.sigmoid()", [1000, -1000, 0], [0, 0, 0.25]),
    ("x.tanh()", [1000, -1000, 0], [0, 0, 1]),
    ("F.softplus(x)", [1000, -1000, 0], [1, 0, 0.5]),
    ("F.logsigmoid(x)", [1000, -1000, 0], [0, 1, 0.5]),
]


@pytest.mark.parametrize("expression, x, gradient", TIES + NANS)
def test_gradient(tg, call, expression, x, gradient):
    _, found = call(gradient_of(tg, expression), lambda: [tg.tensor(x, dtype=tg.float32, requires_grad=True)])
    assert_close(found, gradient)


def test_values_with_nan(tg):
    x = tg.tensor([1.0, NAN, 3.0])
    assert (
        np.isnan(x.max().item()) and x.argmax().item() == 1 and np.isnan(x.min(0)[0].item()) and x.max(0)[1].item() == 1
    )
    assert x.sign().tolist() == [1.0, 0.0, 1.0] and x.isnan().tolist() == [False, True, False]
    assert x.sort()[1].tolist() == [0, 2, 1] and (x == x).tolist() == [True, False, True] and not tg.equal(x, x)
    assert tg.allclose(x, x, equal_nan=True) and not tg.allclose(x, x)
    assert x.nan_to_num(7.0).tolist() == [1.0, 7.0, 3.0] and bool(x[1]) is True


def test_division_by_zero(tg):
    assert str((tg.tensor([1.0, -1.0, 0.0]) / 0).tolist()) == "[inf, -inf, nan]"
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        tg.tensor([1]) // 0
    assert (
        tg.tensor([-7, 7]).fmod(3).tolist() == [-1, 1]
        and (tg.tensor([-7, 7]) % 3).tolist() == [2, 1]
        and (tg.tensor([-7, 7]) // 2).tolist() == [-4, 3]
    )


def test_losses_of_extreme_logits(tg, call):
    def run(x):
        losses = tg.nn.functional.binary_cross_entropy_with_logits(x, tg.tensor([0.0, 1.0, 1.0]), reduction="none")
        losses.sum().backward()
        return losses.detach(), x.grad

    losses, gradient = call(run, lambda: [tg.tensor([-200.0, -200.0, 200.0], requires_grad=True)])
    assert losses.tolist() == [0.0, 200.0, 0.0] and gradient.tolist() == [0.0, -1.0, 0.0]


def test_cross_entropy_of_extreme_logits(tg, call):
    def run(x):
        loss = tg.nn.functional.cross_entropy(x, tg.tensor([0]))
        loss.backward()
        return loss.detach(), x.grad

    loss, gradient = call(run, lambda: [tg.tensor([[-1000.0, 1000.0]], requires_grad=True)])
    assert loss.item() == 2000.0 and gradient.tolist() == [[-1.0, 1.0]]


POINTS = [
    "x.sum(0)",
    "x.sum(-1)",
    "x.mean(0)",
    "x.max(0)[0]",
    "x.min(-1).values",
    "x.amax(0)",
    "x.prod(0)",
    "x.cumsum(0)",
    "x.logsumexp(0)",
    "x.norm(dim=0)",
    "x.sort(0)[0]",
    "x.flatten()[0]",
    "x.squeeze()",
    "x.unsqueeze(0)[0]",
    "x.sum(())",
    "x.mean(-1, keepdim=True)",
    "x.reshape(1, 1)[0, 0]",
    "x.t()",
    "x.expand(1)[0]",
]


@pytest.mark.parametrize("expression", POINTS)
def test_zero_dimensional_operand(tg, expression):
    value, gradient = gradient_of(tg, expression)(tg.tensor(2.0, requires_grad=True))
    assert value.shape == gradient.shape == () and value.item() == 2.0 and gradient.item() == 1.0


def test_softmax_and_argmax_of_a_point(tg):
    x = tg.tensor(2.0)
    assert (
        x.softmax(0).item() == 1.0
        and x.log_softmax(-1).item() == 0.0
        and x.argmax(0).item() == 0
        and x.argmax().item() == 0
        and x.max(0)[1].item() == 0
    )
    with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be in range of \[-1, 0\], but got 1\)"):
        x.sum(1)


def test_empty_reductions(tg):
    x = tg.zeros(0, 3)
    assert (
        x.sum().item() == 0.0
        and x.prod().item() == 1.0
        and np.isnan(x.mean().item())
        and x.sum(0).tolist() == [0.0] * 3
    )
    assert (
        x.sum(1).shape == (0,) and x.max(1)[0].shape == (0,) and not x.any() and x.all() and x.cumsum(0).shape == (0, 3)
    )
    assert x.logsumexp(0).tolist() == [-INF] * 3 and x.norm().item() == 0.0
    assert np.isnan(tg.nn.functional.mse_loss(x, x).item()) and (x @ tg.zeros(3, 2)).shape == (0, 2)
    assert (tg.zeros(2, 0) @ tg.zeros(0, 3)).tolist() == [[0.0] * 3] * 2 and tg.cat([x, tg.ones(1, 3)]).shape == (1, 3)


def test_gradients_of_empty_tensors(tg):
    x = tg.zeros(0, 3, requires_grad=True)
    w = tg.ones(3, 2, requires_grad=True)
    (x @ w).sum().backward()
    assert x.grad.shape == (0, 3) and w.grad.tolist() == [[0.0, 0.0]] * 3


def test_variance_of_one_element(tg):
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert np.isnan(tg.ones(1).std().item())


def test_integer_extremes(tg):
    assert (tg.tensor([2**62]) * 2).item() == -(2**63) and tg.tensor(2**31 - 1, dtype=tg.int32).add(1).item() == -(
        2**31
    )
    with pytest.raises((RuntimeError, ValueError, OverflowError), match="[Oo]verflow"):
        tg.tensor(2**70)
    assert tg.iinfo(tg.int32).max == 2**31 - 1 and tg.finfo(tg.float32).eps == 2**-23
