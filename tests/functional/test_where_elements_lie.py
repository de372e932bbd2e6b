"""Results and gradients lie in memory as PyTorch's do, so that ``view`` works where it works there.

What is picked by indices lies row by row along whichever axis it was picked; the gradient of a matrix lies as the
matrix does, also where a product has read it transposed.
"""

from __future__ import annotations

import itertools

import pytest

import tracegrad as tg

SHAPE = (4, 3, 5)
NN = tg.nn


def _row_by_row(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


def _index(extent):
    return tg.tensor([extent - 1, 0, 1])


def _at(axis, index):
    return (slice(None),) * axis + (index,)


PICKS = {
    "index_select": lambda x, axis: x.index_select(axis, _index(x.shape[axis])),
    "index": lambda x, axis: x[_at(axis, _index(x.shape[axis]))],
    "table of indices": lambda x, axis: x[_at(axis, _index(x.shape[axis]).reshape(3, 1))],
    "mask": lambda x, axis: x[_at(axis, tg.arange(x.shape[axis]) != 1)],
    "new axis": lambda x, axis: x[None][_at(axis + 1, _index(x.shape[axis]))],
    "index_add": lambda x, axis: x.index_add(axis, _index(x.shape[axis]), x.narrow(axis, 0, 3)),
    "index_copy": lambda x, axis: x.index_copy(axis, _index(x.shape[axis]), x.narrow(axis, 0, 3) * 2),
}


@pytest.mark.parametrize(("name", "axis"), itertools.product(PICKS, range(3)))
def test_what_is_picked_lies_row_by_row(name, axis):
    def picked(x):
        return PICKS[name](x, axis)

    step = tg.compile(picked)
    for run in (picked, step, step, step):
        out = run(tg.arange(60.0).reshape(SHAPE))
        assert out.stride() == _row_by_row(out.shape)
        assert out.view(-1).tolist() == PICKS[name](tg.arange(60.0).reshape(SHAPE), axis).flatten().tolist()


LAYERS = {
    "linear": (lambda: NN.Linear(3, 4), (2, 3)),
    "linear without bias": (lambda: NN.Linear(3, 4, bias=False), (2, 3)),
    "linear of three axes": (lambda: NN.Linear(3, 4), (2, 5, 3)),
    "deep": (lambda: NN.Sequential(NN.Linear(3, 4), NN.Tanh(), NN.Linear(4, 2)), (2, 3)),
    "rnn": (lambda: NN.RNN(3, 4, 2, bidirectional=True), (5, 2, 3)),
    "lstm": (lambda: NN.LSTM(3, 4), (5, 2, 3)),
    "lstm with a projection": (lambda: NN.LSTM(3, 4, proj_size=2), (5, 2, 3)),
    "gru": (lambda: NN.GRU(3, 4, batch_first=True), (5, 2, 3)),
    "gru cell": (lambda: NN.GRUCell(3, 4), (2, 3)),
    "attention": (lambda: NN.TransformerEncoderLayer(4, 2, 8, 0.0), (5, 2, 4)),
}


def _gradients(layer, x, create_graph):
    out = layer(x)
    out = out[0] if isinstance(out, tuple) else out
    found = tg.autograd.grad(out.pow(2).sum(), list(layer.parameters()), create_graph=create_graph)
    if create_graph:
        found = tg.autograd.grad(sum(g.pow(2).sum() for g in found), list(layer.parameters()), allow_unused=True)
    return [g for g in found if g is not None]


# Second gradients of recurrent layers are sums of terms that lie one way and the other: theirs are not promised.
RECURRENT = ("rnn", "lstm", "gru")
ORDERS = [(name, second) for name in LAYERS for second in (False, True) if not (second and name.startswith(RECURRENT))]


@pytest.mark.parametrize(("name", "create_graph"), ORDERS)
def test_gradients_of_weights_are_contiguous(name, create_graph):
    make, shape = LAYERS[name]
    tg.manual_seed(0)
    layer, x = make(), tg.randn(shape)
    step = tg.compile(lambda x: _gradients(layer, x, create_graph))
    for run in (lambda x: _gradients(layer, x, create_graph), step, step, step):
        found = run(x)
        assert [g.stride() for g in found] == [_row_by_row(g.shape) for g in found]
        assert tg.cat([g.view(-1) for g in found]).isfinite().all()


@pytest.mark.parametrize(("left", "right"), itertools.product([False, True], repeat=2))
def test_gradients_of_a_products_operands_lie_as_they_do(left, right):
    a = tg.randn(3, 2).t().detach() if left else tg.randn(2, 3)
    b = tg.randn(4, 3).t().detach() if right else tg.randn(3, 4)
    a, b = a.requires_grad_(), b.requires_grad_()
    for value in (a @ b, tg.mm(a, b), tg.addmm(tg.ones(4), a, b)):
        weight = tg.randn(2, 4)
        to_a, to_b = tg.autograd.grad((value * weight).sum(), (a, b))
        assert to_a.stride() == a.stride()
        assert to_b.stride() == b.stride()
        assert tg.allclose(to_a, weight @ b.detach().t())
        assert tg.allclose(to_b, a.detach().t() @ weight)


ORDERS_OF_AXES = list(itertools.permutations(range(3)))


def _laid(shape, order, **options):
    """Numbers whose axes lie in memory in this order, from the slowest to the fastest."""
    back = [order.index(axis) for axis in range(len(order))]
    x = tg.arange(float(tg.Size(shape).numel())).reshape([shape[axis] for axis in order]).permute(back)
    return x.detach().requires_grad_()


USES = {
    "sum": lambda x: x.sum(),
    "mean": lambda x: x.mean(),
    "square": lambda x: (x * x).sum(),
    "pick": lambda x: x[:, [0, 1]].sum(),
    "turned": lambda x: (x.permute(2, 0, 1).contiguous() * tg.arange(60.0).reshape(5, 4, 3)).sum(),
    "two ways": lambda x: (x * x).sum() + x.permute(2, 0, 1).reshape(5, 12).exp().sum(),
}


@pytest.mark.parametrize(("name", "order"), itertools.product(USES, ORDERS_OF_AXES))
def test_the_stored_gradient_of_a_leaf_lies_as_the_leaf_does(name, order):
    """PyTorch's contract of layouts: in eager mode, replayed, re-recorded, added up, with a history."""
    x = _laid((4, 3, 5), order)

    def backward(create_graph=False):
        x.grad = None
        USES[name](x).backward(create_graph=create_graph)

    def printing():
        print(end="")
        backward()

    expected = None
    step, again = tg.compile(lambda: backward()), tg.compile(printing)
    for run in (backward, lambda: backward(True), *[step] * 3, *[again] * 3):
        run()
        assert x.grad.stride() == x.stride()
        expected = x.grad.detach() if expected is None else expected
        assert tg.allclose(x.grad.detach(), expected)
    x.grad = None
    for _ in range(2):
        USES[name](x).backward()
    assert x.grad.stride() == x.stride()
    assert tg.allclose(x.grad, 2 * expected)


def test_the_gradient_of_a_leaf_with_gaps_is_contiguous():
    for x in (tg.ones(4, 6)[:, ::2], tg.ones(4, 1).expand(4, 3)):
        x = x.detach().requires_grad_()
        (x * x).sum().backward()
        assert x.grad.stride() == (3, 1)


@pytest.mark.parametrize("dim", [None, 0, 1, (0, 1)])
def test_the_gradient_of_a_mean_has_memory_of_its_own(dim):
    x = tg.ones(3, 4, requires_grad=True)
    (g,) = tg.autograd.grad(x.mean(dim).sum(), x)
    assert g.stride() == (4, 1)
    g[0] = 5  # PyTorch's may be written
    assert g[0].tolist() == [5] * 4


@pytest.mark.parametrize("pads", [(1, 1), (0, 2, 1, 0), (-1, 2), (1, 0, 0, 0, 2, 2)])
def test_the_gradient_of_padding_is_contiguous(pads):
    x = tg.randn(2, 3, 4, requires_grad=True)
    for create_graph in (False, True):
        out = NN.functional.pad(x, pads)
        (g,) = tg.autograd.grad((out * out).sum(), x, create_graph=create_graph)
        assert g.stride() == (12, 4, 1)
        assert g.view(2, -1).shape == (2, 12)


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_packed_sequences_in_any_order_give_states_that_are_contiguous(kind, batch_first):
    layer = getattr(NN, kind)(3, 4, 2, batch_first=batch_first)
    rnn = NN.utils.rnn
    x = tg.randn((3, 5, 3) if batch_first else (5, 3, 3))
    packed = rnn.pack_padded_sequence(x, [2, 5, 3], batch_first=batch_first, enforce_sorted=False)
    out, last = layer(packed)
    for state in last if kind == "LSTM" else (last,):
        assert state.stride() == (12, 4, 1)
    padded, _ = rnn.pad_packed_sequence(out)
    assert padded.view(-1, 4).shape == (15, 4)
