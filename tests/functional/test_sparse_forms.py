"""Methods of sparse tensors: functions of each value, in-place forms, orders of axes, what is asked of any tensor."""

import pytest

UNARY = (
    "neg negative abs absolute sign expm1 sin tan asin arcsin atan arctan sinh tanh asinh arcsinh floor ceil trunc fix "
    "relu deg2rad rad2deg erf frac round sgn nan_to_num sqrt log1p"
).split()
ONLY_NEW = "isnan isinf isneginf isposinf signbit positive conj conj_physical resolve_conj resolve_neg".split()
LINEAR = ("neg", "negative")


def matrix(tg, scale=1.0):
    """[[0, 0, 0.75], [0.5, 0, 0.25]]"""
    places, values = tg.tensor([[0, 1, 1], [2, 0, 2]]), tg.tensor([0.75, 0.5, 0.25]) * scale
    return tg.sparse_coo_tensor(places, values, (2, 3)).coalesce()


def twice(tg):
    """The places of an element twice."""
    return tg.sparse_coo_tensor(tg.tensor([[0, 0], [2, 2]]), tg.tensor([0.5, 0.25]), (2, 3))


def equal(sparse, dense):
    assert sparse.is_sparse
    return sparse.to_dense().tolist() == dense.tolist()


@pytest.mark.parametrize("name", [*UNARY, *ONLY_NEW])
def test_functions_of_each_value(tg, name):
    for x in (matrix(tg), twice(tg)):
        assert equal(getattr(x, name)(), getattr(x.to_dense(), name)())


@pytest.mark.parametrize("name", UNARY)
def test_in_place_forms(tg, name):
    x, expected = matrix(tg), getattr(matrix(tg).to_dense(), name)()
    values = x.values()
    assert getattr(x, f"{name}_")() is x
    assert equal(x, expected) and values.tolist() == x.values().tolist()
    if name not in LINEAR:
        with pytest.raises(RuntimeError, match="_ requires coalesced input"):
            getattr(twice(tg), f"{name}_")()


REPLACED = {
    "mul_": lambda x, tg: x.mul_(2), "mul_ of places": lambda x, tg: x.mul_(matrix(tg, 3.0)),
    "mul_ of a dense one": lambda x, tg: x.mul_(tg.full((2, 3), 3.0)), "div_": lambda x, tg: x.div_(2),
    "add_": lambda x, tg: x.add_(matrix(tg, 3.0)), "add_ of a share": lambda x, tg: x.add_(matrix(tg), alpha=2),
    "sub_": lambda x, tg: x.sub_(matrix(tg, 3.0)), "zero_": lambda x, tg: x.zero_(),
    "copy_": lambda x, tg: x.copy_(matrix(tg, 5.0)), "copy_ of what is twice": lambda x, tg: x.copy_(twice(tg)),
}  # fmt: skip


@pytest.mark.parametrize("name", REPLACED)
def test_in_place_forms_with_others(tg, name):
    x, dense = matrix(tg), matrix(tg).to_dense()
    assert REPLACED[name](x, tg) is x
    other = {"add_": matrix(tg, 3.0), "sub_": matrix(tg, 3.0), "add_ of a share": matrix(tg, 2.0)}.get(name)
    if other is not None:
        expected = dense - other.to_dense() if name == "sub_" else dense + other.to_dense()
    elif name.startswith("copy_"):
        expected = (twice(tg) if "twice" in name else matrix(tg, 5.0)).to_dense()
    elif name == "mul_ of places":
        expected = dense * matrix(tg, 3.0).to_dense()
    else:
        expected = dense * {"mul_": 2, "mul_ of a dense one": 3, "div_": 0.5, "zero_": 0}[name]
    assert equal(x, expected)


def test_operators_in_place(tg):
    x = y = matrix(tg)
    x *= 2
    x += matrix(tg)
    x -= matrix(tg, 2.0)
    x /= 2
    assert x is y and equal(y, matrix(tg, 0.5).to_dense())


@pytest.mark.parametrize("name", ["t_", "transpose_", "swapaxes_", "swapdims_"])
def test_axes_exchanged_in_place(tg, name):
    x = matrix(tg)
    assert getattr(x, name)(*(() if name == "t_" else (0, 1))) is x
    assert tuple(x.shape) == (3, 2) and equal(x, matrix(tg).to_dense().t())


@pytest.mark.parametrize("name", ["mul_", "add_", "abs_", "zero_"])
def test_a_leaf_that_requires_a_gradient_is_not_written_to(tg, name):
    x = matrix(tg).requires_grad_()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        getattr(x, name)(*{"mul_": (2,), "add_": (matrix(tg),)}.get(name, ()))


def test_gradients_go_through_in_place_forms(tg):
    values = tg.tensor([0.75, 0.5, 0.25], requires_grad=True)
    x = tg.sparse_coo_tensor(tg.tensor([[0, 1, 1], [2, 0, 2]]), values * 1, (2, 3)).coalesce()
    x = x.clone()
    x.mul_(3).neg_()
    tg.sparse.sum(x).backward()
    assert values.grad.tolist() == [-3.0] * 3


@pytest.mark.parametrize("name, arguments", [
    ("movedim", (0, 1)), ("moveaxis", (-1, 0)), ("adjoint", ()), ("transpose", (-1, 0)), ("permute", (1, 0)),
])  # fmt: skip
def test_orders_of_axes(tg, name, arguments):
    assert equal(getattr(matrix(tg), name)(*arguments), getattr(matrix(tg).to_dense(), name)(*arguments))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_parts(tg, dim):
    parts = matrix(tg).unbind(dim)
    assert [part.to_dense().tolist() for part in parts] == [p.tolist() for p in matrix(tg).to_dense().unbind(dim)]


def test_what_is_asked_of_any_tensor(tg):
    x = matrix(tg)
    asked = (x.ndimension(), x.nelement(), x.element_size(), x.get_device(), x.is_signed(), x.is_conj(), x.is_neg())
    assert asked == (2, 6, 4, -1, True, False, False)
    assert (x.is_contiguous(), x.storage_offset(), x.stride(), x.stride(1)) == (False, 0, (0, 0), 0)
    assert not x.is_inference() and x.any().item() and not (x * 0).any().item()
    assert x.type_as(x.double()).dtype is tg.float64
    with pytest.raises(RuntimeError, match="converting to a different layout"):
        x.type_as(tg.ones(1, dtype=tg.float64))


@pytest.mark.parametrize("write", ["mul_", "neg_", "add_", "zero_"])
def test_compiled_functions_write_as_eager_ones(write):
    tg = pytest.importorskip("tracegrad")
    kept = matrix(tg)

    def eager(x, values):
        made = tg.sparse_coo_tensor(x.indices(), values, (2, 3), is_coalesced=True)
        arguments = {"mul_": (2,), "add_": (made,)}.get(write, ())
        getattr(x, write)(*arguments)
        return x.to_dense() + made.to_dense()

    own = matrix(tg)
    step = tg.compile(eager)
    for number in (1.0, 2.0, 3.0, 4.0):
        if write == "zero_":
            own, kept = matrix(tg), matrix(tg)
        values = tg.full((3,), number)
        assert step(kept, values).tolist() == eager(own, values).tolist()
        assert kept.to_dense().tolist() == own.to_dense().tolist()


@pytest.mark.parametrize("size", [(2, 3), (3, 3), (2, 5), (7, 4)])
@pytest.mark.parametrize("make", [matrix, twice])
def test_sizes_grow_around_the_values(tg, make, size):
    for resize in (
        lambda x: x.sparse_resize_(size, 2, 0),
        lambda x: x.resize_as_(tg.sparse_coo_tensor(size=size)),
        lambda x: x.resize_as_sparse_(tg.eye(max(size))[: size[0], : size[1]].to_sparse()),
    ):
        x, dense = make(tg), tg.zeros(size)
        dense[:2, :3] = x.to_dense()
        was = x.is_coalesced()
        assert resize(x) is x and tuple(x.shape) == size and x.is_coalesced() is was
        assert equal(x, dense)
        assert tg.stack([x, x]).to_dense().tolist() == tg.stack([dense, dense]).tolist()


@pytest.mark.parametrize(
    "size, parts, message",
    [
        ((1, 3), (2, 0), r"shrinking the size of sparse dimensions \(from \[2, 3\] to \[1, 3\]\)"),
        ((5, 2), (2, 0), r"shrinking the size of sparse dimensions \(from \[2, 3\] to \[5, 2\]\)"),
        ((4, 3, 2), (3, 0), r"changing the number of sparse dimensions \(from 2 to 3\)"),
        ((4, 3, 2), (2, 1), r"changing the number of dense dimensions \(from 0 to 1\)"),
        ((4, 3), (2, 1), r"number of dimensions must be sparse_dim \(2\) \+ dense_dim \(1\)"),
    ],
)
def test_values_keep_their_places(tg, size, parts, message):
    x = matrix(tg)
    before = x.to_dense().tolist()
    with pytest.raises(RuntimeError, match=message):
        x.sparse_resize_(size, *parts)
    assert x.to_dense().tolist() == before


@pytest.mark.parametrize("size, parts", [((1, 2), (2, 0)), ((4,), (1, 0)), ((2, 3, 4), (2, 1))])
def test_without_values_any_size_goes(tg, size, parts):
    for x in (tg.sparse_coo_tensor(size=(2, 3)), matrix(tg).sparse_resize_and_clear_((2, 3), 2, 0)):
        x.sparse_resize_(size, *parts)
        assert tuple(x.shape) == size and (x.sparse_dim(), x.dense_dim()) == parts
        assert equal(x, tg.zeros(size))


def test_variables_may_be_sparse(tg):
    """Programs from before PyTorch 0.4 wrap the adjacency matrix."""
    x = matrix(tg)
    found = tg.autograd.Variable(x, requires_grad=False)
    assert not found.requires_grad and equal(found, x.to_dense())
