"""Which sizes fractional pooling takes: none at all, and of three axes one place less than of two."""

import itertools

import pytest


def refused(axes, kernel, extent, windows):
    """PyTorch's rule: of three axes it wants a place to spare."""
    return windows + kernel - 1 + (axes == 3) > extent


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_sizes(tg, axes, batch):
    pool = getattr(tg.nn.functional, f"fractional_max_pool{axes}d")
    for kernel, extent, windows in itertools.product((1, 2, 3), (1, 2, 3, 5), range(5)):
        x = tg.randn(*batch, 3, *[extent] * axes, requires_grad=True)
        if refused(axes, kernel, extent, windows):
            words = rf"pool3d_out\(\): pool time {kernel}" if axes == 3 else rf"pool2d\(\): pool height {kernel}"
            with pytest.raises(RuntimeError, match=f"{words} too large relative to input .* {extent}"):
                pool(x, kernel, output_size=windows)
            continue
        out, places = pool(x, kernel, output_size=windows, return_indices=True)
        assert out.shape == places.shape == (*batch, 3, *[windows] * axes)
        out.sum().backward()
        assert x.grad.sum() == out.numel()


def test_no_windows_compiled(tg):
    @tg.compile
    def step(x):
        x = x.detach().requires_grad_()
        out = tg.nn.functional.fractional_max_pool2d(x, 1, output_ratio=(0.4, 0.4))
        (out.sum() + x.sum()).backward()
        return out.detach(), x.grad

    for _ in range(3):
        out, gradient = step(tg.randn(1, 2, 2, 2))
        assert out.shape == (1, 2, 0, 0) and (gradient == 1).all()
