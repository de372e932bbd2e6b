"""Whole steps with convolutions, compiled: what is fused, and derivatives of derivatives."""

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn

F = nn.functional


def small_cnn():
    tg.manual_seed(0)
    layers = [nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 12, 5, padding=2), nn.ReLU()]
    return nn.Sequential(*layers, nn.MaxPool2d(2), nn.Flatten(), nn.Linear(12 * 9, 4))


def training_step(model):
    optimizer = tg.optim.Adam(model.parameters(), lr=1e-3)

    @tg.compile
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def test_a_step_has_a_kernel_for_each_contraction_and_writes_no_windows():
    step = training_step(small_cnn())
    for seed in range(3):
        tg.manual_seed(seed)
        step(tg.randn(3, 1, 12, 12), tg.randint(0, 4, (3,)))
    assert step.way == "replay"
    lines = str(step.schedule).splitlines()
    names = [line.split()[1] for line in lines if line.startswith("  kernel conv")]
    kinds = [name.rstrip("0123456789_") for name in names]
    # Bias and activation are in the forward kernels, Adam in those of the weights.
    assert [kind for kind in kinds if "input" in kind] == ["conv_input"]
    assert [kind for kind in kinds if "weight" not in kind and "input" not in kind] == ["conv_add_le_where"] * 2
    assert [kind for kind in kinds if "weight" in kind] == ["conv_weight_add_sub"] * 2
    largest = 3 * 6 * 12 * 12  # what the first convolution gives
    sizes = [line.split("[")[1].split("]")[0] for line in lines if line.startswith("  buffer ") and "[]" not in line]
    assert max(int(np.prod([int(n) for n in size.split(",")])) for size in sizes) <= largest


def test_a_step_agrees_with_eager_mode():
    step = training_step(small_cnn())
    for batch in (3, 3, 4, 5, 1):
        tg.manual_seed(batch)
        step.verify(tg.randn(batch, 1, 12, 12), tg.randint(0, 4, (batch,)))


@pytest.mark.long(fast="first")
@pytest.mark.parametrize(
    "layer", [nn.Conv1d(2, 3, 3, stride=2, padding=1), nn.ConvTranspose1d(2, 4, 3, stride=2, groups=2)]
)
def test_a_penalty_on_gradients_agrees_with_eager_mode(layer):
    def penalty(x):
        x = x.detach().requires_grad_(True)
        out = F.max_pool1d(layer(x).tanh(), 2)
        slope = tg.autograd.grad(out.pow(2).sum(), x, create_graph=True)[0]
        return tg.autograd.grad(slope.pow(2).sum(), list(layer.parameters()))

    x = tg.randn(2, 2, 9)
    expected, compiled = penalty(x), tg.compile(penalty)
    for _ in range(3):
        actual = compiled(x)
    assert compiled.way == "replay"
    for a, b in zip(actual, expected, strict=True):
        # Sums of some hundred float32 products, in another order.
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("length", "dilation"), [(2, 3), (3, 4)])
def test_a_window_that_sees_padding_only_gives_the_least_number(length, dilation):
    """PyTorch's values; its places are outside of the input there."""
    x = tg.randn(1, 2, length)
    compiled = tg.compile(lambda x: F.max_pool1d(x, 2, 1, 1, dilation, return_indices=True))
    for _ in range(3):
        out, places = compiled(x)
    assert compiled.way == "replay"
    assert (out == -np.inf).any()
    assert ((places >= 0) & (places < length)).all()


def test_lengths_of_sequences_have_programs_of_their_own():
    layer = nn.Sequential(nn.Conv1d(2, 3, 3), nn.MaxPool1d(2))
    compiled = tg.compile(lambda x: layer(x).sum())
    for length in (8, 9, 10, 11, 8, 13):
        x = tg.randn(2, 2, length)
        np.testing.assert_allclose(compiled(x).item(), layer(x).sum().item(), rtol=1e-5)
