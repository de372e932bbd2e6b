"""``resize_`` and ``set_``: the memory behind stays whole, so that what a smaller size hides comes back."""

import pytest

#: An expression of ``x``, the numbers 0 to 5, and what PyTorch 2.13 gives: numbers, place of the first one in memory.
OUTCOMES = {
    "x.resize_(2).resize_(3)": ([0, 1, 2], 0),
    "x.resize_(2).add_(10).resize_(6)": ([10, 11, 2, 3, 4, 5], 0),
    "x.resize_(0).resize_(6)": ([0, 1, 2, 3, 4, 5], 0),
    "x.resize_(0, 3).resize_(2, 3)": ([[0, 1, 2], [3, 4, 5]], 0),
    "x[2:].resize_(2)": ([2, 3], 2),
    "x[2:].resize_(2).resize_(4)": ([2, 3, 4, 5], 2),
    "x[2:].resize_(8)[:4]": ([2, 3, 4, 5], 2),
    "x.resize_(2, 2).t().contiguous()": ([[0, 2], [1, 3]], 0),
    "x.new_ones(1).set_(x, 1, (2,), (2,))": ([1, 3], 1),
    "x.new_ones(1).set_(x, 1, (2,), (2,)).resize_(4)": ([1, 2, 3, 4], 1),
    "x.new_ones(1).set_(x, 4, (1,)).as_strided((3,), (2,), 0)": ([0, 2, 4], 0),
}


@pytest.mark.parametrize("expression", OUTCOMES)
def test_numbers_and_place(tg, expression):
    found = eval(expression, {"x": tg.arange(6)})
    assert (found.tolist(), found.storage_offset()) == OUTCOMES[expression]


def test_views_see_what_a_smaller_tensor_writes(tg):
    x = tg.arange(6.0)
    view = x[:3]
    x.resize_(2).fill_(7.0)
    assert view.tolist() == [7.0, 7.0, 2.0] and x.untyped_storage().nbytes() == 24


def test_a_resized_tensor_trains(tg, maybe_compile):
    x = tg.arange(6.0).resize_(2).requires_grad_()

    def step(scale):
        loss = (x * x * scale).sum()
        loss.backward()
        with tg.no_grad():
            x.sub_(x.grad * 0.1)
        x.grad = None
        return loss.detach()

    step = maybe_compile(step)
    assert [round(step(tg.tensor(1.0)).item(), 4) for _ in range(3)] == [1.0, 0.64, 0.4096]
    assert x.is_leaf and not x._is_view()


def test_a_leaf_shows_other_memory_where_nothing_is_recorded(tg, maybe_compile):
    """PyTorch's outcomes: it is a leaf as before, with the numbers of the other tensor, one version later."""

    def step():
        p = tg.nn.Parameter(tg.arange(3.0))
        version = p._version
        with tg.no_grad():
            same = p.set_(tg.full((3,), 5.0)) is p
        (p * p).sum().backward()
        with tg.no_grad():
            p.set_(tg.ones(2, 2))
        return same, p._version - version, p.is_leaf, p.requires_grad, p.shape, p.grad

    step = maybe_compile(step)
    for _ in range(3):
        same, versions, *flags, shape, gradient = step()
        assert same and versions == 2 and flags == [True, True]
        assert tuple(shape) == (2, 2) and gradient.tolist() == [10.0, 10.0, 10.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        tg.nn.Parameter(tg.ones(2)).set_(tg.ones(2))


def test_the_source_may_require_gradients_where_nothing_is_recorded(tg):
    x, source = tg.ones(3), tg.full((3,), 2.0, requires_grad=True)
    with tg.no_grad():
        x.set_(source)
    assert x.tolist() == [2.0, 2.0, 2.0] and not x.requires_grad and x.is_leaf
