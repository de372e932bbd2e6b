"""What plain eager mode does at once is what the ops make: numbers, words drawn, strides, steps of views, gradients."""

import itertools
import random

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.nn import functional as F
from tracegrad.ops.array import Evaluator, quietly
from tracegrad.ops.comparison import _MANY, _where
from tracegrad.ops.core import interpreted
from tracegrad.tape.tape import Tape
from tracegrad.tensors import rows
from tracegrad.tensors.tensor import make

SHAPES = [(), (1,), (3,), (0,), (15,), (16,), (17,), (33,), (4, 9), (8, 8), (3, 0), (1000,)]
DRAWS = {
    "randn": lambda shape, dtype: tg.randn(shape, dtype=dtype),
    "rand": lambda shape, dtype: tg.rand(shape, dtype=dtype),
    "normal_": lambda shape, dtype: tg.empty(shape, dtype=dtype).normal_(2, 3),
    "uniform_": lambda shape, dtype: tg.empty(shape, dtype=dtype).uniform_(-1, 2),
    "bernoulli_": lambda shape, dtype: tg.empty(shape, dtype=dtype).bernoulli_(0.3),
    "exponential_": lambda shape, dtype: tg.empty(shape, dtype=dtype).exponential_(),
    "dropout": lambda shape, dtype: F.dropout(tg.ones(shape, dtype=dtype), 0.4),
}


def by_ops(function, *args):
    """`function` where no interpreter is plain eager mode's: nothing is done at once."""
    return interpreted(Tape(Evaluator(), make), function, *args)


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("dtype", [tg.float32, tg.float64, tg.float16], ids=str)
def test_draws_are_those_of_the_ops(draw, dtype):
    def drawn():
        tg.manual_seed(5)
        numbers = [DRAWS[draw](shape, dtype).numpy().tobytes() for shape in SHAPES]
        return numbers, tg.get_rng_state().numpy().tobytes()

    assert drawn() == by_ops(drawn)


ITEMS = [0, -1, 2, slice(None), slice(1, None), slice(None, -1), slice(0, 9, 2), slice(2, 1), None, Ellipsis, True]


def _keys():
    choose = random.Random(0)
    pairs = [*itertools.product(ITEMS, repeat=1), *itertools.product(ITEMS, repeat=2)]
    found = [*pairs, *(tuple(choose.choice(ITEMS) for _ in range(3)) for _ in range(200))]
    return [key for key in found if sum(item is Ellipsis for item in key) < 2]


def _seen(x, key):
    try:
        view = x[key]
    except (IndexError, ValueError) as error:
        return type(error), str(error)
    return view.numpy().tobytes(), view.ndarray.shape, view.ndarray.strides, view.steps, view._is_view()


@pytest.mark.parametrize("shape", [(3, 4, 5), (4,), (), (3, 0, 2), (1, 1, 3)])
def test_regions_are_those_of_the_ops(shape):
    x = tg.arange(float(np.prod(shape))).reshape(shape).clone()
    for key in _keys():
        assert _seen(x, key) == by_ops(_seen, x, key), key


def test_a_region_is_one_tensor(monkeypatch):
    made = []
    monkeypatch.setattr(rows, "make", lambda *args: made.append(args) or make(*args))
    x = tg.zeros(3, 4)
    _ = x[1:, 2], x[:, None], x[..., 0]
    x[0, 1:] = 5
    assert len(made) == 3  # a write is none


def test_warnings_are_off_within_and_as_they_were_behind():
    with np.errstate(all="raise"):
        assert tg.zeros(2).log().tolist() == [-np.inf, -np.inf]
        inner = quietly(lambda: quietly(np.log, np.zeros(1)))  # as a finaliser within an evaluation does
        assert inner[0] == -np.inf
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(1))
    with pytest.raises(RuntimeError, match="cannot enter context of another kind"):
        quietly(_refuse)


def _refuse():
    raise RuntimeError("cannot enter context of another kind")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.int16])
def test_choices_by_bits(dtype):
    rng = np.random.default_rng(0)
    shapes = [(_MANY // 64, 64), (1, 64), (), (_MANY // 64, 1), (2, _MANY // 64, 64)]
    for of_condition, of_x, of_y in itertools.product(shapes, repeat=3):
        condition = np.asarray(rng.random(of_condition) > 0.5)
        x, y = (np.asarray(9 * rng.standard_normal(shape)).astype(dtype) for shape in (of_x, of_y))
        chosen, expected = _where(condition, x, y), np.where(condition, x, y)
        assert chosen.dtype == expected.dtype and np.array_equal(chosen, expected)


def test_index_add_in_place():
    tg.manual_seed(0)
    for shape, index in [((5,), [0, 4, 0]), ((5, 3), [1, 1, 2]), ((5, 2, 2), [])]:
        x, index = tg.randn(shape), tg.tensor(index, dtype=tg.int64)
        source = tg.randn(len(index), *shape[1:])
        expected, version = x.index_add(0, index, source), x._version
        assert x.index_add_(0, index, source) is x
        assert x.equal(expected) and x._version == version + 1
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.index_add_(0, tg.tensor([5]), tg.ones(1, 2, 2))


CELLS = {"RNNCell": 1, "GRUCell": 1, "LSTMCell": 2}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", CELLS)
def test_cells_at_once(kind, bias):
    """Against the traced steps, with first and second derivatives; sums of products may come in another order."""

    def results():
        tg.manual_seed(1)
        cell = getattr(tg.nn, kind)(3, 4, bias=bias, dtype=tg.float64)
        x = tg.randn(3, 2, 3, dtype=tg.float64, requires_grad=True)
        states = [tg.randn(2, 4, dtype=tg.float64, requires_grad=True) for _ in range(CELLS[kind])]
        leaves = [x, *states, *cell.parameters()]
        for t in range(3):
            out = cell(x[t], tuple(states) if len(states) > 1 else states[0])
            states = list(out) if len(states) > 1 else [out]
        loss = sum(state.sin().sum() for state in states)
        first = tg.autograd.grad(loss, leaves, create_graph=True)
        second = tg.autograd.grad(sum((g * g).sum() for g in first), leaves, retain_graph=True)
        return [*states, *first, *second, *tg.autograd.grad(sum(s.sum() for s in states), leaves)]

    for at_once, traced in zip(results(), by_ops(results), strict=True):
        np.testing.assert_allclose(at_once.detach().numpy(), traced.detach().numpy(), rtol=1e-10, atol=1e-12)


def test_a_turn_refuses_a_second_backward_and_changed_states():
    cell, h = tg.nn.GRUCell(2, 3), tg.zeros(1, 3)
    out = cell(tg.ones(1, 2), h)
    out.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        out.sum().backward()
    out = cell(tg.ones(1, 2), h)
    h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
