"""Reading and writing through indices: values and gradients (stored; see expected/indexing.py)."""

import numpy as np
import pytest
from expected.compare import assert_close, load
from expected.indexing import ARRAYS, READS, WRITES, targets, write
from expected.programs import leaves, program, stored_case, value_and_gradients

READ, WRITTEN = load("indexing"), load("index_writes")
# One program of each kind of index is enough to see that compiling keeps the meaning.
COMPILED_READS = [
    "x[1:]",
    "x[:, 1:4:2]",
    "x[tg.tensor([0, 0, 1])]",
    "x[:, [0, -1]]",
    "x[[0, 1], [1, 2], [3, 4]]",
    "x[None, [0, 1]]",
    "x.gather(2, tg.tensor([[[0, 0, 4]], [[1, 2, 3]], [[4, 4, 4]]]))",
    "x.index_select(1, tg.tensor([3, 0, 0]))",
]
COMPILED_WRITES = [
    "y[0] = v.view(4, 5)",
    "y[:, 1:3] *= 2",
    "y[[0, 1]] = v.view(4, 5)",
    "y[1] = y[0]",
    "y.masked_fill_(y > 3, -1.0)",
]


@pytest.mark.parametrize("expression", READS)
def test_read(tg, expression):
    found, expected = value_and_gradients(tg, expression, ARRAYS), stored_case(READ, expression)
    assert found.keys() == expected.keys()
    for name in expected:
        assert_close(found[name], expected[name])


def assert_written(results, statement):
    for i, result in enumerate(results):
        if result is None:
            assert f"{statement}|{i}" not in WRITTEN
        else:
            assert_close(result, WRITTEN[f"{statement}|{i}"])


@pytest.mark.parametrize("statement", WRITES)
def test_write(tg, statement):
    assert_written(write(tg, statement)(*targets(tg)), statement)


@pytest.mark.parametrize("expression", COMPILED_READS)
def test_compiled_read(tg, call, expression):
    found, expected = call(program(tg, expression, ARRAYS), lambda: leaves(tg, ARRAYS)), stored_case(READ, expression)
    for name in expected:
        assert_close(found[name], expected[name])


@pytest.mark.parametrize("statement", COMPILED_WRITES)
def test_compiled_write(tg, call, statement):
    assert_written(call(write(tg, statement), lambda: targets(tg)), statement)


def test_basic_indices_make_views_advanced_ones_copies(tg):
    x = tg.zeros(3, 4)
    for view in (x[0], x[1:], x[:, 1], x[None], x[..., 2], x[::2], x[:]):
        assert view.data_ptr() >= x.data_ptr() and np.shares_memory(view.numpy(), x.numpy())
    for copy in (x[[0]], x[tg.tensor([0])], x[x == 0], x[tg.tensor(0)][None][[0]]):
        assert not np.shares_memory(copy.numpy(), x.numpy())


def test_repeated_indices_add_their_gradients(tg):
    x = tg.zeros(3, requires_grad=True)
    x[tg.tensor([1, 1, 2])].backward(tg.tensor([1.0, 10.0, 100.0]))
    assert x.grad.tolist() == [0.0, 11.0, 100.0]


def test_lists_ranges_and_numpy_arrays_index(tg):
    x = tg.arange(10)
    assert x[np.array([1, 2])].tolist() == x[[1, 2]].tolist() == x[range(1, 3)].tolist() == [1, 2]
    assert x[np.int64(3)].item() == 3 and x[x > 7].tolist() == [8, 9] and x[np.arange(10) > 7].tolist() == [8, 9]


@pytest.mark.parametrize(
    "expression, error, phrase",
    [
        ("x[3]", IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
        ("x[0, -5]", IndexError, "index -5 is out of bounds for dimension 1 with size 4"),
        ("x[0, 0, 0, 0]", IndexError, "too many indices for tensor of dimension 3"),
        ("x[tg.tensor([7])]", IndexError, "index 7 is out of bounds for dimension 0 with size 3"),
        ("x[::-1]", ValueError, "step must be greater than zero"),
        ("x[[0, 1], [0, 1, 2]]", IndexError, "shape mismatch: indexing tensors could not be broadcast together"),
        ("x[tg.tensor([True, False])]", IndexError, "The shape of the mask"),
        ("x[0.5]", IndexError, "only integers, slices"),
        ("tg.tensor(1.0)[0]", IndexError, "invalid index of a 0-dim tensor"),
        ("x[tg.tensor([0.5])]", IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
        ("x.gather(0, tg.tensor([[[9]]]))", RuntimeError, "index 9 is out of bounds for dimension 0 with size 3"),
        ("x.index_select(0, tg.tensor([9]))", (IndexError, RuntimeError), "out of (range|bounds)"),
    ],
)
def test_bad_index(tg, expression, error, phrase):
    with pytest.raises(error, match=phrase):
        eval(expression, {"tg": tg, "x": tg.zeros(3, 4, 5)})


def test_bad_write(tg):
    x = tg.zeros(3, 4)
    with pytest.raises(RuntimeError, match="shape mismatch|expanded size of the tensor|must match"):
        x[0] = tg.ones(3)
    with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
        x[[0, 1]] = tg.ones(3)
    assert x.sum().item() == 0
