"""First and second derivatives of composites against differences, at points where they are smooth."""

import numpy as np
import pytest

ARRAYS = {
    "x": np.array([[0.4, -1.3, 2.1, 0.7], [-0.6, 1.1, -2.2, 0.3], [1.7, -0.2, 0.9, -1.5]]),
    "y": np.array([[1.2, 0.3, -0.5, -1.1], [2.1, -1.0, 0.8, 0.6], [-0.4, 1.4, -0.7, 0.2]]),
    "p": np.array([[0.5, 1.2, 2.0, 0.3], [0.7, 0.15, 0.9, 1.6], [0.35, 0.8, 1.1, 0.45]]),
    "w": np.array([[0.1, -0.2, 0.3, 0.4], [0.5, 0.6, -0.7, 0.8]]),
}
# Second differences divide by eps twice: gradgradcheck takes the first derivatives from the tape, so one division.
SMOOTH = [
    "F.softmax(x, 1)",
    "F.log_softmax(x, 0)",
    "x.logsumexp((0, 1))",
    "x.std(1)",
    "x.var(0)",
    "x.norm(dim=1)",
    "x.norm(3)",
    "x.prod(1)",
    "x.cumprod(0)",
    "x.cumsum(1)",
    "F.gelu(x)",
    "F.gelu(x, approximate='tanh')",
    "F.silu(x)",
    "F.mish(x)",
    "F.softplus(x)",
    "F.logsigmoid(x)",
    "F.elu(x, 0.7)",
    "F.celu(x, 0.7)",
    "F.selu(x)",
    "F.linear(x, w)",
    "x @ y.t() @ x",
    "F.layer_norm(x, (4,), y[0], p[0])",
    "F.normalize(x)",
    "F.cosine_similarity(x, y)",
    "F.cross_entropy(x, tg.tensor([0, 3, 1]), label_smoothing=0.1)",
    "F.binary_cross_entropy_with_logits(x, p / 3)",
    "F.binary_cross_entropy(p / 3, p / 4)",
    "F.kl_div(F.log_softmax(x, 1), p, reduction='batchmean')",
    "F.mse_loss(x, y)",
    "tg.logaddexp(x, y)",
    "tg.hypot(x, y)",
    "x.lerp(y, p)",
    "x.addcdiv(y, p, value=0.5)",
    "x[[0, 2], :, None]",
    "x[:, [3, 3, 0]]",
    "x.gather(1, tg.tensor([[0, 0], [3, 1], [2, 2]]))",
    "x.scatter_add(1, tg.tensor([[0, 0], [3, 1], [2, 2]]), y[:, :2])",
    "x.index_add(0, tg.tensor([1, 1]), y[:2])",
    "x.sort(1)[0]",
    "x.max(1)[0]",
    "tg.cat([x, y * x], 1)",
    "tg.stack(x.unbind(1)) * y.t()",
    "x.chunk(2, 1)[0] * x.chunk(2, 1)[1]",
    "x.diagonal() * 2",
    "x.roll(1, 0) * x",
]


def function(tg, expression):
    used = [name for name in ARRAYS if f"{name}" in expression.replace("exp", "").replace("max", "")]
    tensors = [tg.tensor(ARRAYS[name], requires_grad=True) for name in used]

    def run(*values):
        return eval(expression, {"tg": tg, "F": tg.nn.functional, **dict(zip(used, values, strict=True))})

    return run, tensors


@pytest.mark.parametrize("expression", SMOOTH)
def test_first_and_second_derivative(tg, expression):
    run, tensors = function(tg, expression)
    assert tg.autograd.gradcheck(run, tensors)
    assert tg.autograd.gradgradcheck(run, tensors)


def test_gradcheck_finds_a_wrong_derivative(tg):
    class Wrong(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = tg.tensor([1.0, 2.0], dtype=tg.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        tg.autograd.gradcheck(Wrong.apply, [x])
    assert not tg.autograd.gradcheck(Wrong.apply, [x], raise_exception=False)
