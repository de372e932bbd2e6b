"""What an index must not be, and what the messages say."""

import pytest

READS = {
    "x[5]": (IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
    "x[:, -5]": (IndexError, "index -5 is out of bounds for dimension 1 with size 4"),
    "x[:, [0, 4]]": (IndexError, "index 4 is out of bounds for dimension 1 with size 4"),
    "x[[0, 0], [0, 7]]": (IndexError, "index 7 is out of bounds for dimension 1 with size 4"),
    "x[0, 0, 0]": (IndexError, "too many indices for tensor of dimension 2"),
    "x[[0], [0], [0]]": (IndexError, "too many indices for tensor of dimension 2"),
    "x[::-1]": (ValueError, "step must be greater than zero"),
    "x['a']": (TypeError, "invalid data type 'str'"),
    "x[1.5]": (IndexError, "only integers, slices"),
    "x[tg.tensor([1.5])]": (IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
    "x[[0, 1], [0, 1, 2]]": (IndexError, "could not be broadcast together"),
    "x[tg.tensor([True, False])]": (IndexError, r"The shape of the mask \[2\] at index 0 does not match"),
    "x[0, tg.tensor([True])]": (IndexError, r"The shape of the mask \[1\] at index 1 does not match"),
    "x[0, 0][0]": (IndexError, "invalid index of a 0-dim tensor"),
    "tg.gather(x, 0, tg.tensor([0, 1]))": (RuntimeError, "Index tensor must have the same number of dimensions"),
    "tg.gather(x, 0, tg.tensor(0))": (RuntimeError, "Index tensor must have the same number of dimensions"),
    "tg.gather(x, 0, tg.zeros(2, 5).long())": (RuntimeError, "apart from dimension 0"),
    "x.scatter(0, tg.tensor([0]), 0.5)": (RuntimeError, "Index tensor must have the same number of dimensions"),
    "x.scatter_add(0, tg.zeros(2, 1).long(), tg.ones(1, 1))": (RuntimeError, "to be no larger size than src"),
    "x.scatter(0, tg.zeros(1, 1).long(), tg.ones(0, 1))": (RuntimeError, "to be no larger size than src"),
    "x.scatter(0, tg.zeros(1, 1).long(), tg.ones(1, 1, 1))": (RuntimeError, "the same number of dimensions as src"),
    "x.index_add(0, tg.tensor([0]), tg.ones(1, 1))": (RuntimeError, "shape"),
    "x.index_copy(0, tg.tensor([0]), tg.ones(1, 1))": (RuntimeError, "shape"),
}
WRITES = {
    "x[0] = tg.ones(3)": (RuntimeError, "size"),
    "x[[0, 1]] = tg.ones(3)": (RuntimeError, "cannot be broadcast to indexing result of shape"),
    "x[5] = 1": (IndexError, "index 5 is out of bounds for dimension 0 with size 3"),
    "x.expand(2, 3, 4)[:, 0] = 1": (RuntimeError, "more than one element of the written-to tensor"),
}


@pytest.mark.parametrize("expression", READS)
def test_read(tg, expression):
    error, phrase = READS[expression]
    with pytest.raises(error, match=phrase):
        eval(expression, {"tg": tg, "x": tg.zeros(3, 4)})


@pytest.mark.parametrize("statement", WRITES)
def test_write(tg, statement):
    error, phrase = WRITES[statement]
    x = tg.zeros(3, 4)
    with pytest.raises(error, match=phrase):
        exec(statement, {"tg": tg, "x": x})
    assert not x.any()


def test_a_0_d_index_and_a_0_d_tensor(tg):
    """Each counts as a row of one element; the result has the index's shape."""
    row = tg.tensor([1.0, 2.0])
    assert tg.gather(row, 0, tg.tensor(1)).shape == () and tg.gather(row, 0, tg.tensor(1)) == 2
    assert tg.gather(row[1], 0, tg.tensor([0, 0])).tolist() == [2.0, 2.0]
