"""Backward passes that are worth noting: those that take a known way, whether a plan repeats them or not."""

import tracegrad as tg

STEPS = 60


class Clipped(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g = g.clone()
        g[x < 0] = 0
        return g


def test_passes_through_a_function_of_the_user_are_noted_as_long_as_they_take_a_known_way():
    x, w = tg.randn(8, 5), tg.randn(5, 3, requires_grad=True)
    block = tg.deferred()
    with block:
        for _ in range(STEPS):
            Clipped.apply(x @ w).sum().backward()
            with tg.no_grad():
                w -= 0.01 * w.grad
                w.grad.zero_()
            w.sum().item()
    passes = block.segments.passes
    assert passes.are_worth_noting
    assert passes.known > STEPS // 2
