"""The default type is that of Python's numbers beside nothing else: derivatives keep the types of their tensors."""

import itertools

import pytest

STEPS = {
    "mean": "(x * w).mean()",
    "mean of squares": "(x * w).pow(2).mean()",
    "a number": "(x * w).sum() * 0.3",
    "a number in front": "0.3 - (x * w).sum()",
    "a quotient": "1 / (x * w + 3).sum()",
    "variance": "(x * w).var()",
    "norm": "(x * w).norm()",
    "softmax": "(x * w).log_softmax(1)[:, 0].mean()",
    "huge": "F.smooth_l1_loss(x * w, tg.zeros_like(x), beta=0.7)",
    "cross entropy": "F.cross_entropy(x * w, tg.tensor([0, 1]), label_smoothing=0.1)",
    "layer norm": "F.layer_norm(x * w, (3,)).pow(3).sum()",
    "gelu": "F.gelu(x * w).mean()",
    "elu": "F.elu(x * w, 0.7).mean()",
    "leaky": "F.leaky_relu(x * w, 0.3).mean()",
    "clamp": "(x * w).clamp(-0.5, 0.5).mean()",
    "where": "tg.where(x > 0, x * w, 0.5).mean()",
    "power": "(x * w).abs().add(1).pow(0.3).mean()",
    "exponent": "(2.0 ** (x * w)).mean()",
    "scalar": "((x * w).sum() * tg.tensor(0.3)).to(x.dtype)",
    "second": "tg.autograd.grad((x * w).pow(3).mean(), w, create_graph=True)[0].pow(2).mean()",
    "in the other type": "(x * w).to(OTHER).mean()",
    "with the other type": "(x * w + tg.ones(3, dtype=OTHER)).mean().to(x.dtype)",
}


@pytest.fixture
def default_type(tg):
    before = tg.get_default_dtype()
    yield tg.set_default_dtype
    tg.set_default_dtype(before)


@pytest.mark.long(fast=29, by_size=True)
@pytest.mark.parametrize(
    ("step", "default", "own"), list(itertools.product(STEPS, ("float64", "float32"), ("float32", "float64")))
)
def test_gradients_have_the_types_of_eager_mode(tg, default_type, step, default, own):
    default_type(getattr(tg, default))
    own_type, other = (tg.float32, tg.float64) if own == "float32" else (tg.float64, tg.float32)
    space = {"tg": tg, "F": tg.nn.functional, "OTHER": other, "w": tg.ones(3, dtype=own_type, requires_grad=True)}
    exec(f"def step(x):\n    loss = {STEPS[step]}\n    loss.backward()\n    return loss.detach()", space)
    w, compiled = space["w"], tg.compile(space["step"])
    for call in range(3):
        x = tg.tensor([[-1.0, 0.5, 2.0], [0.25, 3.0, -0.75]], dtype=own_type) + call
        outcomes = []
        for function in (space["step"], compiled):
            w.grad = None
            loss = function(x)
            outcomes.append((loss.dtype, w.grad.dtype, loss, w.grad))
        assert outcomes[0][:2] == outcomes[1][:2]
        for eager, got in zip(outcomes[0][2:], outcomes[1][2:], strict=True):
            # Sums of six numbers in another order: a few roundings of float32.
            assert tg.allclose(eager, got, rtol=1e-5, atol=1e-6)
