"""`vmap` calls its function once for all slices, and gives what a call for each of them gives."""

import warnings

import numpy as np
import pytest

from tracegrad.func import derivatives, mapping


def looped(monkeypatch, function, *args):
    with monkeypatch.context() as patched:
        for module in (mapping, derivatives):
            patched.setattr(module, "can_batch", lambda: False)
        return function(*args)


def leaves(tg, tree):
    if isinstance(tree, tg.Tensor):
        return [tree]
    return [x for part in (tree.values() if isinstance(tree, dict) else tree) for x in leaves(tg, part)]


def assert_equal(tg, found, wanted):
    for got, expected in zip(leaves(tg, found), leaves(tg, wanted), strict=True):
        assert got.shape == expected.shape and got.dtype is expected.dtype
        np.testing.assert_allclose(got.detach().numpy(), expected.detach().numpy(), rtol=1e-9, atol=1e-11)


def picked(tg, x):
    return x[tg.tensor([0, 2, 0])], x.gather(1, x.argsort(1)), x[x.argmax(0)], x.index_select(1, tg.tensor([1, 1]))


def viewed(tg, x):
    return x.t(), x.reshape(-1)[2:5], x.unsqueeze(1).expand(3, 2, 4), x.flip(0), x[1], x[..., ::2]


def counted(function):
    def called(*args, **kwargs):
        called.calls += 1
        return function(*args, **kwargs)

    called.calls = 0
    return called


def written(tg, x):
    out = tg.zeros(4, dtype=x.dtype)
    out[1:3] += x[:2]
    out[0] = x.sum()
    return out.mul_(2)


PROGRAMS = {
    "elementwise": (lambda tg, x: (x.sin() * 2 + x.exp()).clamp(max=3), 0),
    "reductions": (lambda tg, x: (x.sum(), x.amax(0), x.mean(-1), x.prod(), x.std(), x.argmax(), x.logsumexp(0)), 0),
    "views": (viewed, 0),
    "second axis": (lambda tg, x: x.cumsum(0) @ x.t(), 1),
    "last axis": (lambda tg, x: x.softmax(-1), -1),
    "indexing": (picked, 0),
    "sorting": (lambda tg, x: (*x.sort(0), *x.topk(2), x.cummax(0)[0], x.median()), 0),
    "norms": (lambda tg, x: (tg.nn.functional.layer_norm(x, (4,)), tg.nn.functional.normalize(x), x.norm()), 0),
    "matrices": (lambda tg, x: (x @ x.t(), x @ x[0], tg.eye(3).double() @ x, tg.einsum("ij,kj->ik", x, x)), 0),
    "joining": (lambda tg, x: (tg.cat([x, tg.ones(1, 4)]), tg.stack([x, x + 1]), tg.nn.functional.pad(x, (1, 2))), 0),
    "writes": (lambda tg, x: written(tg, x[0]), 0),
    "masks": (lambda tg, x: (tg.where(x > 0, x, 0.5), x.masked_fill(x < 0, -1.0), x.triu()), 0),
    "losses": (lambda tg, x: tg.nn.functional.cross_entropy(x, tg.tensor([0, 3, 1])), 0),
    "the same for all": (lambda tg, x: (tg.arange(3.0), x.new_ones(2) * 2), 0),
    "attention": (lambda tg, x: tg.nn.functional.scaled_dot_product_attention(x[None], x[None], x[None]), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(tg, monkeypatch, name):
    program, axis = PROGRAMS[name]
    function = counted(lambda x: program(tg, x))
    tg.manual_seed(1)
    x = tg.randn(3, 4, 5, dtype=tg.float64).movedim(2, axis)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = tg.vmap(function, in_dims=axis)(x)
    assert function.calls == 1
    assert_equal(tg, found, looped(monkeypatch, tg.vmap(function, in_dims=axis), x))


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives_of_programs(tg, monkeypatch, name):
    """Within and around a map, by its argument and by what the function closes over."""
    program, axis = PROGRAMS[name]
    w = tg.ones(3, 4, dtype=tg.float64, requires_grad=True)

    def total(x):
        found = program(tg, x * w)
        parts = [y for y in (found if isinstance(found, tuple) else (found,)) if y.dtype.is_floating_point]
        return sum((y * y).sum() for y in parts)

    def around(x):
        x = x.detach().requires_grad_()
        out = tg.vmap(total, in_dims=axis)(x)
        w.grad = None
        if out.requires_grad:
            (out * tg.arange(5.0).double()).sum().backward()
            return out, x.grad, w.grad.clone()
        return out

    def within(x):
        return tg.vmap(tg.func.grad(lambda x: total(x) + 0 * x.sum()), in_dims=axis)(x)

    tg.manual_seed(2)
    x = tg.randn(3, 4, 5, dtype=tg.float64).movedim(2, axis)
    for function in (around, within):
        assert_equal(tg, function(x), looped(monkeypatch, function, x))


def models(nn):
    """Layers for each, and the shape of a sample."""
    return {
        "linear": ([nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)], (6,)),
        "convolution": (
            [nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 3)],
            (1, 6, 6),
        ),
        "groups": ([nn.Conv1d(2, 4, 3, groups=2), nn.GELU(), nn.Flatten(), nn.Linear(16, 3)], (2, 6)),
        "transposed": (
            [nn.ConvTranspose1d(2, 3, 3, stride=2), nn.SiLU(), nn.AvgPool1d(2), nn.Flatten(), nn.Linear(9, 3)],
            (2, 3),
        ),
        "normalised": ([nn.LayerNorm(6), nn.Linear(6, 4), nn.GroupNorm(1, 4), nn.Linear(4, 3)], (6,)),
    }


@pytest.mark.parametrize("name", ["linear", "convolution", "groups", "transposed", "normalised"])
def test_gradients_of_each_sample(tg, monkeypatch, name):
    tg.manual_seed(3)
    layers, shape = models(tg.nn)[name]
    model = tg.nn.Sequential(*layers).double()
    params = {key: p.detach() for key, p in model.named_parameters()}

    def loss(params, x, y):
        scores = tg.func.functional_call(model, params, (x.unsqueeze(0),))
        return tg.nn.functional.cross_entropy(scores, y.unsqueeze(0))

    function = counted(loss)
    x, y = tg.randn(7, *shape, dtype=tg.float64), tg.randint(0, 3, (7,))
    each = tg.vmap(tg.func.grad(function), in_dims=(None, 0, 0))
    found = each(params, x, y)
    assert function.calls == 1
    assert_equal(tg, found, looped(monkeypatch, each, params, x, y))
    function.calls = 0
    chunks = tg.vmap(tg.func.grad(function), in_dims=(None, 0, 0), chunk_size=3)
    assert_equal(tg, chunks(params, x, y), found)
    assert function.calls == 3


def test_jacobians(tg, monkeypatch):
    """Rows of a Jacobian come of one backward pass for all of them, or of one for each `chunk_size`."""
    tg.manual_seed(5)
    model = tg.nn.Sequential(tg.nn.Linear(4, 5), tg.nn.Tanh(), tg.nn.LayerNorm(5), tg.nn.Linear(5, 3)).double()
    x, passes = tg.randn(2, 4, dtype=tg.float64), []

    def function(x):
        x.register_hook(lambda g: passes.append(g.shape))
        return tg.nn.functional.softmax(model(x), -1)

    found = tg.func.jacrev(function)(x)
    assert passes == [(2, 4)]
    assert_equal(tg, found, looped(monkeypatch, tg.func.jacrev(function), x))
    assert len(passes) == 1 + 6
    assert_equal(tg, tg.func.jacrev(function, chunk_size=4)(x), found)
    assert len(passes) == 1 + 6 + 2
    assert_equal(tg, tg.func.jacfwd(function)(x), found)
    curved = tg.func.hessian(lambda x: (function(x)[0] ** 2).sum())
    assert_equal(tg, curved(x), looped(monkeypatch, curved, x))
    each = tg.vmap(tg.func.jacrev(lambda x: model(x).sin()))
    assert_equal(tg, each(x), looped(monkeypatch, each, x))
    around = x.clone().requires_grad_()
    tg.func.jacrev(function)(around).pow(2).sum().backward()
    single = x.clone().requires_grad_()
    looped(monkeypatch, tg.func.jacrev(function), single).pow(2).sum().backward()
    assert_equal(tg, around.grad, single.grad)


def test_nested(tg, monkeypatch):
    x, y = tg.randn(3, 2, dtype=tg.float64), tg.randn(4, 2, dtype=tg.float64)
    function = counted(lambda a, b: (a * b).sum() + a.norm())
    pairs = tg.vmap(tg.vmap(function, in_dims=(None, 0)), in_dims=(0, None), out_dims=1)
    found = pairs(x, y)
    assert function.calls == 1 and found.shape == (4, 3)
    assert_equal(tg, found, looped(monkeypatch, pairs, x, y))
    curvature = tg.func.hessian(lambda a: a.prod() * a.sum())
    assert_equal(tg, tg.vmap(curvature)(x), tg.stack([curvature(row) for row in x]))


def test_detached_values_have_no_gradient_around(tg):
    x, w = tg.randn(3, 2).requires_grad_(), tg.ones(2, requires_grad=True)
    tg.vmap(lambda r: (r.detach() * r * w.detach()).sum() + (r.t().detach() * w).sum())(x).sum().backward()
    assert tg.allclose(x.grad, x.detach()) and tg.allclose(w.grad, x.detach().sum(0))
    with tg.no_grad():
        assert not tg.vmap(lambda r: r * w)(x).requires_grad

    def filled(r):
        r = r * 1
        with tg.no_grad():
            r[0] = 5.0  # PyTorch and a call for each slice: other numbers, the same history
        return r * r

    x.grad = None
    tg.vmap(filled)(x).sum().backward()
    assert tg.allclose(x.grad[:, 0], tg.full((3,), 10.0)) and tg.allclose(x.grad[:, 1], 2 * x.detach()[:, 1])


def test_what_is_called_for_each_slice(tg):
    """Numbers that Python sees, with a warning; draws, without."""
    x = tg.arange(4.0)
    with pytest.warns(UserWarning, match="needs the numbers of each slice: it is called for each slice"):
        assert tg.vmap(lambda r: r * 2 if r > 1 else r)(x).tolist() == [0, 1, 4, 6]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tg.manual_seed(4)
        drawn = tg.vmap(lambda r: tg.rand(()) + 0 * r, randomness="different")(x).tolist()
        tg.manual_seed(4)
        assert drawn == [tg.rand(()).item() for _ in range(4)]
    with pytest.raises(IndexError):
        tg.vmap(lambda r, i: r.index_select(0, i))(tg.ones(2, 3), tg.tensor([[1], [3]]))
    with pytest.raises(ValueError, match="can not return a BatchedTensor when out_dim is None"):
        tg.vmap(lambda r: r * 2, out_dims=None)(x)
    assert tg.vmap(lambda r: (r, tg.ones(2)), out_dims=(0, None))(x)[1].shape == (2,)
    with pytest.warns(UserWarning, match="linalg.inv"):
        assert tg.vmap(tg.linalg.inv)(tg.eye(2).expand(3, 2, 2) * 2).shape == (3, 2, 2)
