"""Batch and layer normalisation against their formulas in float64."""

import numpy as np
import pytest
from expected.compare import assert_close

EPS = 1e-5


def batch(tg, *shape, seed=0):
    values = np.sin(np.arange(np.prod(shape)) * 1.7 + seed).reshape(shape)
    return tg.tensor(values, dtype=tg.float64)


def normalized(x, axes):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + EPS)


@pytest.mark.parametrize("kind, shape", [("1d", (6, 3)), ("1d", (4, 3, 5)), ("2d", (2, 3, 4, 5))])
def test_batch_norm_in_training(tg, kind, shape):
    layer = getattr(tg.nn, f"BatchNorm{kind}")(3).double()
    x = batch(tg, *shape)
    axes = tuple(axis for axis in range(len(shape)) if axis != 1)
    array = x.numpy()
    assert_close(layer(x), normalized(array, axes), rtol=1e-10)
    assert_close(layer.running_mean, 0.1 * array.mean(axes))
    # The running variance is the unbiased one.
    assert_close(layer.running_var, 0.9 + 0.1 * array.var(axes, ddof=0) * array[:, 0].size / (array[:, 0].size - 1))
    assert layer.num_batches_tracked.item() == 1


def test_batch_norm_in_evaluation(tg):
    layer = tg.nn.BatchNorm1d(2).double()
    layer.load_state_dict(
        {
            "weight": tg.tensor([2.0, 3.0]),
            "bias": tg.tensor([0.5, -1.0]),
            "running_mean": tg.tensor([1.0, 2.0]),
            "running_var": tg.tensor([4.0, 9.0]),
            "num_batches_tracked": tg.tensor(7),
        }
    )
    x = batch(tg, 5, 2)
    expected = (x.numpy() - [1.0, 2.0]) / np.sqrt([4.0 + EPS, 9.0 + EPS]) * [2.0, 3.0] + [0.5, -1.0]
    assert_close(layer.eval()(x), expected)
    assert layer.running_mean.tolist() == [1.0, 2.0] and layer.num_batches_tracked.item() == 7


def test_batch_norm_without_momentum_averages_all_batches(tg, maybe_compile):
    layer = tg.nn.BatchNorm1d(2, momentum=None).double()
    step = maybe_compile(lambda x: layer(x).detach())
    batches = [batch(tg, 4, 2, seed=seed) for seed in range(5)]
    for x in batches:
        step(x)
    assert_close(layer.running_mean, np.mean([x.numpy().mean(0) for x in batches], axis=0))
    assert layer.num_batches_tracked.item() == 5


def test_batch_norm_that_tracks_nothing(tg):
    layer = tg.nn.BatchNorm1d(2, affine=False, track_running_stats=False).double().eval()
    x = batch(tg, 5, 2)
    assert layer.running_mean is None and list(layer.state_dict()) == []
    assert_close(layer(x), normalized(x.numpy(), (0,)), rtol=1e-10)


def test_compiled_batch_norm_follows_train_and_eval(tg, maybe_compile):
    layer, reference = tg.nn.BatchNorm1d(3).double(), tg.nn.BatchNorm1d(3).double()
    forward = maybe_compile(lambda x: layer(x).detach())
    for turn in range(8):
        training = turn % 4 < 2
        x = batch(tg, 5, 3, seed=turn)
        assert_close(forward_in(layer, forward, training, x), forward_in(reference, reference, training, x))
    for name, tensor in reference.state_dict().items():
        assert_close(layer.state_dict()[name], tensor)


def forward_in(layer, forward, training, x):
    layer.train(training)
    return forward(x)


@pytest.mark.parametrize(
    "shape, error, phrase",
    [
        ((1, 2), ValueError, "Expected more than 1 value per channel when training"),
        ((4,), ValueError, "expected 2D or 3D input"),
        ((4, 3), RuntimeError, "running_mean should contain 3 elements not 2"),
    ],
)
def test_batch_norm_refuses(tg, shape, error, phrase):
    with pytest.raises(error, match=phrase):
        tg.nn.BatchNorm1d(2)(tg.ones(*shape))


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"elementwise_affine": False}])
def test_layer_norm(tg, call, options):
    layer = tg.nn.LayerNorm((3, 4), **options).double()
    found = call(lambda x: layer(x).detach(), lambda: [batch(tg, 2, 3, 4)])
    assert_close(found, normalized(batch(tg, 2, 3, 4).numpy(), (1, 2)), rtol=1e-10)
    assert [name for name, _ in layer.named_parameters()] == [
        name for name in ("weight", "bias") if options.get("elementwise_affine", True) and options.get(name, True)
    ]


def test_gradients_by_finite_differences(tg):
    weights = batch(tg, 4, 3, seed=5)
    for layer in (tg.nn.BatchNorm1d(3).double(), tg.nn.LayerNorm(3).double()):

        def value(x, layer=layer):
            return (layer(x) * weights).sum()

        x, direction, step = batch(tg, 4, 3), batch(tg, 4, 3, seed=9), 1e-5
        x.requires_grad_()
        (gradient,) = tg.autograd.grad(value(x), x)
        ahead, behind = (value((x + sign * step * direction).detach()).detach() for sign in (1, -1))
        # Central differences err by step² times the third derivative and by 1e-16 / step: below 1e-8 here.
        assert_close((gradient * direction).sum(), (ahead - behind) / (2 * step), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("dtype, least", [("float64", 2.0**-52), ("float32", 2.0**-23), ("bfloat16", 2.0**-23)])
def test_rms_norm_adds_the_machine_epsilon_of_its_type(tg, maybe_compile, dtype, least):
    x = tg.tensor([[1e-4, 2e-4, 0.0, 1e-4]], dtype=getattr(tg, dtype))
    numbers = x.double().numpy()
    expected = numbers / np.sqrt((numbers**2).mean() + least)
    layer = tg.nn.RMSNorm(4, dtype=x.dtype)
    rtol = {"float64": 1e-13, "float32": 1e-6, "bfloat16": 2.0**-7}[dtype]  # a rounding of the type or two
    for _ in range(3):
        assert_close(maybe_compile(layer)(x).double(), expected, rtol=rtol)


def test_running_statistics_that_are_not_tracked_are_not_reset(tg):
    """As in PyTorch: once ``track_running_stats`` is False, `reset_running_stats` leaves the buffers alone."""
    layer = tg.nn.BatchNorm1d(2)
    layer(tg.arange(6.0).reshape(3, 2))
    layer.track_running_stats = False
    layer.reset_running_stats()
    assert layer.num_batches_tracked.item() == 1 and layer.running_mean.tolist() == pytest.approx([0.2, 0.3])
    layer.track_running_stats = True
    layer.reset_running_stats()
    assert layer.num_batches_tracked.item() == 0 and layer.running_mean.tolist() == [0, 0]
