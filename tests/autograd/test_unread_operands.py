"""Operands that a derivative does not read may be written to before it is recorded, as PyTorch saves others only."""

import pytest

import tracegrad as tg
import tracegrad.nn.functional as F

X, W, B = tg.arange(6.0).reshape(2, 3) / 6, tg.arange(12.0).reshape(4, 3) / 12 - 0.4, tg.arange(4.0) / 4


@pytest.mark.parametrize("creates", [False, True])
@pytest.mark.parametrize("asked", ["x", "w", "b", "wb", "xwb"])
@pytest.mark.parametrize("written", ["x", "w", "b"])
def test_linear(asked, written, creates):
    of = {"x": X, "w": W, "b": B}
    of = {name: tensor.clone().requires_grad_(name in asked) for name, tensor in of.items()}
    g = tg.ones(2, 4) / 3
    out = F.linear(of["x"], of["w"], of["b"])
    with tg.no_grad():
        of[written].mul_(2)
    # The gradient of x is g @ w, that of w is g.T @ x, that of b the sum of g.
    if (written == "w" and "x" in asked) or (written == "x" and "w" in asked):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            tg.autograd.grad(out, [of[name] for name in asked], g, create_graph=creates)
        return
    found = tg.autograd.grad(out, [of[name] for name in asked], g, create_graph=creates)
    expected = {"x": g @ W, "w": g.T @ X, "b": g.sum(0)}
    for name, gradient in zip(asked, found, strict=True):
        tg.testing.assert_close(gradient.detach(), expected[name])
