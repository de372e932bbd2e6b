"""Totals and statistics over some axes in one loss: what is computed of a total may be as wide as the rows."""

import pytest

STATISTICS = {
    "std": lambda x, axes: x.std(axes),
    "mean": lambda x, axes: x.mean(axes),
    "sum": lambda x, axes: x.sum(axes),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_gradients(tg, name):
    for axes in ((0, 2), (1,), (0, 1)):

        def step(x, axes=axes):
            x = x.detach().requires_grad_()
            statistic = STATISTICS[name](x, axes)
            loss = (statistic * statistic).mean() + x.sum() ** 2
            loss.backward()
            return loss.detach(), x.grad

        compiled = tg.compile(step)
        for _ in range(3):
            x = tg.randn(31, 517, 29, dtype=tg.float64)
            for found, expected in zip(compiled(x), step(x), strict=True):
                assert tg.allclose(found, expected, rtol=1e-10, atol=1e-10)
