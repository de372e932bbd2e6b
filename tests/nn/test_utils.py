"""nn.utils and the arithmetic of nn.init."""

import math

import numpy as np
import pytest
from expected.compare import assert_close


def with_gradients(tg):
    parameters = [tg.nn.Parameter(tg.zeros(2)), tg.nn.Parameter(tg.zeros(1)), tg.nn.Parameter(tg.zeros(1))]
    parameters[0].grad, parameters[1].grad = tg.tensor([3.0, 0.0]), tg.tensor([-4.0])
    return parameters


@pytest.mark.parametrize("norm_type, total", [(2.0, 5.0), (1.0, 7.0), (math.inf, 4.0)])
def test_clip_grad_norm(tg, norm_type, total):
    parameters = with_gradients(tg)
    memory = parameters[0].grad
    assert_close(tg.nn.utils.clip_grad_norm_(parameters, 1.0, norm_type), total)
    assert_close(parameters[0].grad, [3.0 / total, 0.0])
    assert_close(parameters[1].grad, [-4.0 / total])
    assert parameters[0].grad is memory and parameters[2].grad is None


def test_small_gradients_are_not_clipped(tg):
    parameters = with_gradients(tg)
    tg.nn.utils.clip_grad_norm_(parameters, 100.0)
    assert parameters[0].grad.tolist() == [3.0, 0.0]


def test_norm_that_is_not_finite(tg):
    parameters = with_gradients(tg)
    parameters[0].grad[0] = math.inf
    with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
        tg.nn.utils.clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)


def test_clipping_inside_a_training_step(tg, maybe_compile):
    w = tg.nn.Parameter(tg.zeros(2))
    optimizer = tg.optim.SGD([w], lr=1.0)

    def train_step(x):
        optimizer.zero_grad()
        (w * x).sum().backward()
        norm = tg.nn.utils.clip_grad_norm_([w], 1.0)
        optimizer.step()
        return norm

    step = maybe_compile(train_step)
    for count in range(1, 5):
        assert_close(step(tg.tensor([3.0, 4.0])), 5.0)
        assert_close(w, [-0.6 * count, -0.8 * count])


def test_clip_grad_value(tg):
    parameters = with_gradients(tg)
    tg.nn.utils.clip_grad_value_(parameters, 2.0)
    assert parameters[0].grad.tolist() == [2.0, 0.0] and parameters[1].grad.tolist() == [-2.0]


def test_parameters_as_one_vector(tg):
    model = tg.nn.Linear(2, 3)
    vector = tg.nn.utils.parameters_to_vector(model.parameters())
    assert vector.shape == (9,) and vector.requires_grad
    tg.nn.utils.vector_to_parameters(tg.arange(9.0), model.parameters())
    assert model.weight.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]] and model.bias.tolist() == [6.0, 7.0, 8.0]


def test_gains_and_fans(tg):
    init = tg.nn.init
    assert init.calculate_gain("tanh") == pytest.approx(5 / 3) and init.calculate_gain("linear") == 1
    assert init.calculate_gain("leaky_relu", 1) == pytest.approx(1) and init.calculate_gain("relu") == math.sqrt(2)
    assert init._calculate_fan_in_and_fan_out(tg.zeros(4, 3, 5, 5)) == (75, 100)
    with pytest.raises(ValueError, match="Unsupported nonlinearity"):
        init.calculate_gain("abs")
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        init.xavier_uniform_(tg.zeros(3))


@pytest.mark.parametrize(
    "name, args, bound",
    [
        ("xavier_uniform_", (), math.sqrt(6 / 500)),
        ("kaiming_uniform_", (math.sqrt(5),), 1 / math.sqrt(300)),
        ("kaiming_uniform_", (0, "fan_out", "relu"), math.sqrt(6 / 200)),
    ],
)
def test_uniform_bounds(tg, name, args, bound):
    weight = getattr(tg.nn.init, name)(tg.empty(200, 300), *args).numpy()
    assert abs(weight).max() <= np.float32(bound)
    # Sixty thousand numbers: the largest is within a thousandth of the bound but for a chance of e^-60.
    assert abs(weight).max() > 0.999 * bound


@pytest.mark.parametrize("shape", [(4, 7), (7, 4), (3, 2, 4)])
def test_orthogonal(tg, shape):
    weight = tg.nn.init.orthogonal_(tg.empty(*shape), gain=2.0).numpy().reshape(shape[0], -1)
    product = weight @ weight.T if weight.shape[0] < weight.shape[1] else weight.T @ weight
    assert_close(product, 4 * np.eye(min(weight.shape), dtype=np.float32))


def test_truncated_normal(tg):
    weight = tg.nn.init.trunc_normal_(tg.empty(1000), mean=1.0, std=2.0, a=0.0, b=2.0).numpy()
    assert weight.min() >= 0 and weight.max() <= 2 and 0.9 < weight.mean() < 1.1
