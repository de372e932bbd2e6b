"""Sparse tensors in coordinate form: values, printing, errors and gradients are PyTorch's (expected/sparse.py)."""

import copy
import itertools
import json
import pickle

import numpy as np
import pytest
from expected import sparse
from expected.compare import STORE, load

import tracegrad as tg

#: Sums of some tens of terms in float64, in another order; 200 steps of Adam carry roundings on.
TOLERANCE = 1e-9


def test_one_line_programs(tg):
    stored = json.loads((STORE / "sparse.json").read_text(encoding="utf-8"))
    assert len(stored) > 150
    differ = {
        "s.reshape(6)": "NotImplementedError",  # PyTorch: RuntimeError, which is its base
        "s.tolist()": "NotImplementedError",
    }
    found = sparse.make_texts(tg)
    wrong = {text: (found[text], stored[text]) for text in stored if found[text] != stored[text]}
    assert {text: pair[0] for text, pair in wrong.items()} == differ


def test_gradients(tg):
    stored, found = load("sparse"), sparse.gradients(tg)
    assert len(found) == 16
    for name, gradient in found.items():
        np.testing.assert_allclose(gradient, stored[name], rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("learned", [False, True])
def test_a_graph_network(tg, learned):
    expected = load("sparse")["learned" if learned else "losses"]
    np.testing.assert_allclose(sparse.trained(tg, learned=learned), expected, rtol=0, atol=TOLERANCE)
    compiled = []

    def compile(step):
        compiled.append(tg.compile(step))
        return compiled[0]

    np.testing.assert_allclose(sparse.trained(tg, compile, learned=learned), expected, rtol=0, atol=TOLERANCE)
    assert "the latest call: replay" in str(compiled[0].explain())


def matrix(tg, scale=1.0):
    return tg.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0 * scale, 4.0, 5.0], (2, 3))


def test_a_replay_sees_what_has_changed(tg):
    step = tg.compile(lambda a, x: (a @ x).sum())
    one, other = matrix(tg), matrix(tg, 2.0)
    bigger = tg.sparse_coo_tensor([[0, 1], [1, 1]], [1.0, 1.0], (2, 3))
    x = tg.ones(3, 2)
    for a in (one, one, one, other, one, bigger, other, one):
        assert step(a, x).item() == (a @ x).sum().item()
    one._values().mul_(2)  # in the same memory
    for _ in range(3):
        assert step(one, x).item() == (one @ x).sum().item() == 48
    with tg.no_grad():
        x.mul_(3)
    assert step(one, x).item() == 144


@pytest.mark.parametrize(
    "program",
    [
        lambda tg, a, x: a.coalesce().values() * x.sum(),
        lambda tg, a, x: tg.sparse_coo_tensor(a._indices(), x[:, 0], (2, 3)).to_dense(),
        lambda tg, a, x: (a * x.t()).to_dense(),
        lambda tg, a, x: tg.sparse.sum(a * x.sum(), 0).to_dense(),
        lambda tg, a, x: x.to_sparse().t().mm(x),
        lambda tg, a, x: x.t() + a,
    ],
)
def test_in_compiled_functions(tg, program):
    a = matrix(tg)
    step = tg.compile(lambda x: program(tg, a, x))
    for k in range(4):
        x = tg.arange(6.0).reshape(3, 2) * (k % 3)
        assert step(x).tolist() == program(tg, a, x).tolist()


def test_deferred(tg):
    a, x = matrix(tg), tg.ones(3, 2, requires_grad=True)
    for _ in range(4):
        with tg.deferred():
            (a.mm(x * 2)).sum().backward()
    assert x.grad.tolist() == (4 * 2 * a.to_dense().sum(0)[:, None]).expand(3, 2).tolist()


def test_a_sparse_leaf_has_a_sparse_gradient(tg):
    a = matrix(tg).requires_grad_()
    assert a.is_leaf and a.grad is None
    (a.mm(tg.ones(3, 2)) * tg.tensor([[1.0], [2.0]])).sum().backward()
    assert a.grad.is_sparse and a.grad.to_dense().tolist() == [[0, 0, 2], [4, 0, 4]]
    a.grad = None
    assert a.grad is None


def test_places_outside_are_refused(tg):
    for places, sizes in (([[0, 2], [0, 0]], (2, 3)), ([[0, -1], [0, 0]], (2, 3))):
        with pytest.raises(RuntimeError, match="negative index|size is inconsistent with indices"):
            tg.sparse_coo_tensor(places, [1.0, 2.0], sizes)


def test_what_has_no_sparse_form_is_refused_by_name(tg):
    a = matrix(tg)
    for call in (
        lambda: a.view(-1),
        lambda: tg.exp(a),
        lambda: a == a,
        lambda: a.exp_(),
        lambda: a > 0,
        lambda: a.max(),
    ):
        with pytest.raises((NotImplementedError, TypeError)):
            call()
    with pytest.raises(
        NotImplementedError, match="Could not run 'aten::exp' with arguments from the 'SparseCPU' backend"
    ):
        tg.exp(a)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        a.nonsense  # noqa: B018
    with pytest.raises(TypeError, match="can't convert Sparse layout tensor to numpy"):
        np.asarray(a)
    assert tg.is_tensor(a) and not tg.ones(2).is_sparse


def test_copies_and_files(tg, tmp_path):
    a = matrix(tg)
    for other in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert repr(other) == repr(a)
    assert copy.deepcopy(a)._values().data_ptr() != a._values().data_ptr()


def test_attention_written_with_a_function_of_its_own(tg):
    """The sparse product of graph attention programs: `autograd.Function` around a sparse tensor."""

    class SpecialProduct(tg.autograd.Function):
        @staticmethod
        def forward(ctx, indices, values, shape, b):
            a = tg.sparse_coo_tensor(indices, values, shape)
            ctx.save_for_backward(indices, values, b)
            ctx.shape = shape
            return tg.matmul(a, b)

        @staticmethod
        def backward(ctx, grad_output):
            indices, values, b = ctx.saved_tensors
            a = tg.sparse_coo_tensor(indices, values, ctx.shape)
            flat = indices[0] * ctx.shape[1] + indices[1]
            return None, grad_output.matmul(b.t()).view(-1)[flat], None, a.t().matmul(grad_output)

    places = tg.tensor([[0, 1, 1], [2, 0, 2]])
    for call in (SpecialProduct.apply, lambda i, v, shape, b: tg.sparse_coo_tensor(i, v, shape) @ b):
        values = tg.tensor([1.0, 2.0, 3.0], requires_grad=True)
        b = tg.arange(6.0).reshape(3, 2).requires_grad_()
        (call(places, values, (2, 3), b) ** 2).sum().backward()
        gradients = values.grad.tolist(), b.grad.tolist()
        assert gradients == ([82.0, 34.0, 266.0], [[48.0, 68.0], [0.0, 0.0], [80.0, 112.0]])


def _matrices():
    tg.manual_seed(3)
    return [(tg.rand(3, 2, 4) * (tg.rand(3, 2, 4) > 0.5)).double() for _ in range(2)]


@pytest.mark.parametrize("order", itertools.permutations(range(3)))
def test_axes_in_each_order(order):
    x = _matrices()[0]
    for given in (x.to_sparse().permute(*order), x.to_sparse().permute(order)):
        assert given.shape == x.permute(order).shape
        assert tg.equal(given.to_dense(), x.permute(order))


@pytest.mark.parametrize("dim", range(-4, 4))
def test_stacked_at_each_axis(dim):
    x, y = _matrices()
    assert tg.equal(tg.stack([x.to_sparse(), y.to_sparse()], dim).to_dense(), tg.stack([x, y], dim))


@pytest.mark.parametrize("index", itertools.product([slice(None), 0, 1], repeat=3), ids=str)
def test_parts_by_numbers_and_whole_axes(index):
    x = _matrices()[0]
    part, expected = x.to_sparse()[index], x[index]
    assert tg.equal(part if isinstance(part, tg.Tensor) else part.to_dense(), expected)


def test_orders_and_shapes_that_are_refused():
    x = tg.eye(2).to_sparse()
    with pytest.raises(RuntimeError, match="does not match the length of the desired"):
        x.permute(0)
    with pytest.raises(RuntimeError, match="duplicate dims are not allowed"):
        x.permute(0, 0)
    with pytest.raises(NotImplementedError, match="permute of dense axes"):
        tg.eye(2).to_sparse(1).permute(1, 0)
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        tg.stack([x, tg.eye(3).to_sparse()])
    assert tg.sparse_coo_tensor(size=(2, 3)).shape == (2, 3)
    with pytest.raises(TypeError, match="takes indices and values, or a size"):
        tg.sparse_coo_tensor()
