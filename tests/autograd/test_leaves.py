"""Which tensors are leaves, and where gradients are kept."""

import warnings

import pytest
from expected.compare import assert_close


def test_leaf_rules(tg):
    plain, tracked = tg.ones(2), tg.ones(2, requires_grad=True)
    assert plain.is_leaf and tracked.is_leaf
    assert (plain * 2).is_leaf and not (tracked * 2).is_leaf
    assert (tracked * 2).detach().is_leaf
    assert tracked.data.is_leaf and not tracked.data.requires_grad
    assert not tracked.clone().is_leaf and not tracked.view(1, 2).is_leaf


def test_requires_grad_spreads_to_results(tg):
    plain, tracked = tg.ones(2), tg.ones(2, requires_grad=True)
    assert (plain + tracked).requires_grad and not (plain + plain).requires_grad
    assert not (tracked > 0).requires_grad and not tracked.argmax().requires_grad


def test_reading_grad_of_a_non_leaf_warns(tg):
    y = tg.ones(2, requires_grad=True) * 2
    with pytest.warns(
        UserWarning, match=r"The \.grad attribute of a Tensor that is not a leaf Tensor is being accessed"
    ):
        assert y.grad is None


def test_reading_grad_after_retain_grad_does_not_warn(tg):
    x = tg.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    assert y.retains_grad and not x.retains_grad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert y.grad is None
        y.sum().backward()
        assert_close(y.grad, [1.0, 1.0])


def test_retain_grad_of_a_leaf_does_nothing(tg):
    x = tg.ones(2, requires_grad=True)
    x.retain_grad()
    assert not x.retains_grad


def test_retain_grad_needs_requires_grad(tg):
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        tg.ones(2).retain_grad()


def test_retained_gradient_is_the_whole_one(tg):
    x = tg.tensor([3.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    (y * y + y).sum().backward()
    assert_close(y.grad, [13.0])
    assert_close(x.grad, [26.0])


def test_gradients_accumulate_into_the_same_memory(tg):
    x = tg.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    first, address = x.grad, x.grad.data_ptr()
    (x * 5).sum().backward()
    assert x.grad is first and x.grad.data_ptr() == address
    assert_close(first, [7.0] * 3)


def test_accumulation_under_create_graph_makes_a_new_tensor(tg):
    x = tg.ones(3, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        (x * x).sum().backward(create_graph=True)
        first = x.grad
        (x * x).sum().backward(create_graph=True)
    assert x.grad is not first
    assert_close(first, [2.0] * 3)
    assert_close(x.grad, [4.0] * 3)


def test_zeroing_keeps_the_memory(tg):
    x = tg.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    address = x.grad.data_ptr()
    assert x.grad.zero_() is x.grad
    assert x.grad.tolist() == [0.0] * 3 and x.grad.data_ptr() == address


def test_gradients_never_alias(tg):
    a, b = tg.ones(3, requires_grad=True), tg.ones(3, requires_grad=True)
    cotangent = tg.ones(3)
    (a + b).backward(cotangent)
    addresses = {a.grad.data_ptr(), b.grad.data_ptr(), cotangent.data_ptr()}
    assert len(addresses) == 3
    a.grad.zero_()
    assert b.grad.tolist() == [1.0] * 3 and cotangent.tolist() == [1.0] * 3


def test_gradient_can_be_assigned_and_removed(tg):
    x = tg.ones(2, requires_grad=True)
    x.grad = tg.tensor([5.0, 6.0])
    x.sum().backward()
    assert x.grad.tolist() == [6.0, 7.0]
    x.grad = None
    assert x.grad is None


def test_assigned_gradient_must_fit(tg):
    x = tg.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        x.grad = tg.ones(3)
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype"):
        x.grad = tg.ones(2, dtype=tg.float64)
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        x.grad = 1.0


def test_the_gradient_has_the_dtype_of_its_tensor(tg):
    x = tg.ones(2, requires_grad=True)
    y = tg.ones(2, dtype=tg.float64, requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.dtype == tg.float32 and y.grad.dtype == tg.float64


def test_only_floats_can_require_gradients(tg):
    with pytest.raises(RuntimeError, match="[Oo]nly Tensors of floating point"):
        tg.tensor([1, 2], requires_grad=True)
    with pytest.raises(RuntimeError, match="only Tensors of floating point"):
        tg.tensor([1, 2]).requires_grad_()
    tg.tensor([1, 2]).requires_grad_(False)


def test_requires_grad_of_a_result_cannot_be_cleared(tg):
    y = tg.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad = False
    y.requires_grad_()


def test_data_shares_memory_but_is_not_tracked(tg):
    x = tg.ones(3, requires_grad=True)
    x.data[0] = 5.0
    x.data.mul_(2)
    assert x.tolist() == [10.0, 2.0, 2.0] and x.is_leaf


def test_assigning_data_keeps_the_identity(tg):
    x = tg.ones(3, requires_grad=True)
    same = x
    x.data = tg.zeros(2)
    assert same.shape == (2,) and same.requires_grad


def test_detach_shares_memory(tg):
    x = tg.ones(3, requires_grad=True)
    x.detach()[1] = 7.0
    assert x.tolist() == [1.0, 7.0, 1.0]


def test_detach_in_place_makes_a_leaf(tg):
    y = tg.ones(3, requires_grad=True) * 2
    assert y.detach_() is y
    assert y.is_leaf and not y.requires_grad and y.grad_fn is None


def test_in_place_write_to_a_tracked_leaf_is_refused(tg):
    x = tg.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        x[0] = 1.0
    with tg.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0] * 3 and x.is_leaf


@pytest.mark.parametrize(
    "place, refused", [("view", True), ("view[::2]", True), ("base[1:]", False), ("base[:1]", False), ("base", False)]
)
def test_writes_around_a_tracked_view_of_a_leaf_without_gradients(tg, place, refused):
    base = tg.zeros(3)
    view = base[1:].requires_grad_()
    target = eval(place, {"base": base, "view": view})
    if refused:
        with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
            target.mul_(2)
    else:
        target.mul_(2)


def test_clone_is_tracked_and_independent(tg):
    x = tg.ones(3, requires_grad=True)
    y = x.clone()
    y[0] = 9.0
    (y * y).sum().backward()
    assert x.tolist() == [1.0] * 3
    assert_close(x.grad, [0.0, 2.0, 2.0])


def with_views(tg, x):
    """Two tensors through which one gradient passes unchanged, the latter's backward pass and the gradient that it is
    given."""
    first = x * 2
    second = first.view(-1)
    given = tg.ones(4)
    return (first, second), lambda: second.backward(given), given


def with_a_sum(tg, x):
    first = x.exp()
    total = first.sum()
    return (first, total), lambda: total.backward(), tg.ones(())


def with_a_transpose(tg, x):
    first = x * 3
    second = first.t()
    return (first, second), lambda: second.backward(tg.ones(2, 2)), tg.ones(2)


@pytest.mark.parametrize("make", [with_views, with_a_sum, with_a_transpose])
def test_a_kept_gradient_has_memory_of_its_own(tg, make):
    """Contiguous as PyTorch's, and nobody else's: a write to one gradient changes no other."""
    x = tg.arange(4.0).view(2, 2).requires_grad_()
    kept, backward, given = make(tg, x)
    for tensor in kept:
        tensor.retain_grad()
    backward()
    assert all(tensor.grad.is_contiguous() for tensor in kept)
    before = [x.grad.tolist(), given.tolist(), kept[1].grad.tolist()]
    kept[0].grad.mul_(5)
    assert [x.grad.tolist(), given.tolist(), kept[1].grad.tolist()] == before
    kept[1].grad.fill_(7)
    assert [x.grad.tolist(), given.tolist()] == before[:2]
