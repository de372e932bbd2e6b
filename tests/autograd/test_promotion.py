"""Result dtypes of mixed operands (stored for all pairs; see expected/promotion.py), and broadcasting."""

import json

import numpy as np
import pytest
from expected.compare import STORE, assert_close
from expected.promotion import DTYPES, OPERATORS, operands, result_dtype

TABLE = json.loads((STORE / "promotion.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("symbol", OPERATORS)
def test_result_dtype(tg, symbol):
    known = operands(tg)
    found = {pair: result_dtype(tg, symbol, *(known[name] for name in pair.split())) for pair in TABLE[symbol]}
    assert {pair: dtype for pair, dtype in found.items() if dtype != TABLE[symbol][pair]} == {}


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", DTYPES)
def test_promote_types_is_the_rule_of_vectors(tg, left, right):
    promoted = tg.promote_types(getattr(tg, left), getattr(tg, right))
    assert str(promoted).split(".")[-1] == TABLE["+"][f"{left}[1] {right}[1]"]
    assert tg.result_type(tg.ones(1, dtype=getattr(tg, left)), tg.ones(1, dtype=getattr(tg, right))) is promoted


def test_subtracting_booleans(tg):
    with pytest.raises(RuntimeError, match=r"Subtraction, the `-` operator, with two bool tensors is not supported"):
        tg.tensor(True) - tg.tensor(True)
    with pytest.raises(RuntimeError, match=r"Negation, the `-` operator, on a bool tensor is not supported"):
        -tg.tensor(True)


def test_negative_integer_powers(tg):
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        tg.tensor([2]) ** -1


def test_in_place_result_must_fit_the_category(tg):
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type"):
        tg.tensor([1, 2]).add_(0.5)
    x = tg.tensor([1.5, 2.5])
    x += tg.ones(2, dtype=tg.float64)
    assert x.dtype is tg.float32 and x.tolist() == [2.5, 3.5]


def test_reductions_of_integers(tg):
    assert tg.tensor([1, 2], dtype=tg.int32).sum().dtype is tg.int64 and tg.tensor([True, True]).sum().item() == 2
    assert tg.tensor([1, 2]).max().dtype is tg.int64 and tg.tensor([1, 2]).cumsum(0).dtype is tg.int64
    with pytest.raises(
        RuntimeError, match=r"mean\(\): could not infer output dtype. Input dtype must be either a floating point"
    ):
        tg.tensor([1, 2]).mean()
    assert tg.tensor([1, 2]).float().mean().item() == 1.5


def test_functions_of_integers_are_floats(tg):
    for name in ("exp", "sin", "sqrt", "tanh", "sigmoid", "log"):
        assert getattr(tg.tensor([1, 2]), name)().dtype is tg.float32
    assert (tg.tensor([3]) / tg.tensor([2])).tolist() == [1.5]


def test_numpy_scalars_count_as_python_numbers(tg):
    assert (tg.ones(2) * np.float64(2)).dtype is tg.float32 and (
        tg.ones(2, dtype=tg.int64) * np.int32(2)
    ).dtype is tg.int64


def test_concatenation_promotes(tg):
    assert tg.cat([tg.ones(1), tg.ones(1, dtype=tg.int64)]).dtype is tg.float32
    assert tg.where(tg.tensor([True]), tg.ones(1), tg.ones(1, dtype=tg.float64)).dtype is tg.float64


def test_matrix_products_want_one_dtype(tg):
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        tg.ones(2, 2) @ tg.ones(2, 2, dtype=tg.float64)


BROADCASTS = [
    ((3,), (2, 3)),
    ((2, 1), (1, 3)),
    ((), (2, 3)),
    ((1,), (2, 3)),
    ((2, 3), (4, 1, 3)),
    ((0, 3), (1, 3)),
    ((1, 1, 2), (3, 2)),
    ((2, 1), (2, 0)),
]


@pytest.mark.parametrize("left, right", BROADCASTS)
def test_broadcast_gradients_have_the_shapes_of_the_operands(tg, call, left, right):
    a, b = (
        np.sin(np.arange(np.prod(shape)) + shift).reshape(shape).astype(np.float32)
        for shape, shift in ((left, 1), (right, 2))
    )

    def run(x, y):
        z = x * y
        z.backward(tg.ones_like(z))
        return z.detach(), x.grad, y.grad

    z, x_grad, y_grad = call(run, lambda: [tg.tensor(a, requires_grad=True), tg.tensor(b, requires_grad=True)])
    assert_close(z, a * b)
    for gradient, own, other in ((x_grad, a, b), (y_grad, b, a)):
        full = np.broadcast_to(other, np.broadcast_shapes(left, right))
        summed = full.sum(axis=tuple(range(full.ndim - own.ndim)))
        ones = tuple(axis for axis in range(own.ndim) if own.shape[axis] == 1)
        assert_close(gradient, summed.sum(axis=ones, keepdims=True))


def test_sizes_that_do_not_broadcast(tg):
    with pytest.raises(
        RuntimeError,
        match=r"The size of tensor a \(3\) must match the size of tensor b \(2\) at non-singleton dimension 0",
    ):
        tg.ones(3) + tg.ones(2)


def test_broadcast_in_place_must_keep_the_shape(tg):
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"):
        tg.ones(3).add_(tg.ones(2, 3))
