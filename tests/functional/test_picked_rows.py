"""``x[index]`` and ``gather`` against numpy: where the rows lie, positions from the end and outside, masks."""

import itertools

import numpy as np
import pytest

ROWS = {
    "rows": lambda tg: tg.arange(24.0).reshape(6, 4),
    "turned": lambda tg: tg.arange(24.0).reshape(4, 6).t(),
    "every other": lambda tg: tg.arange(48.0).reshape(12, 4)[::2],
    "of one number": lambda tg: tg.arange(6),
    "blocks": lambda tg: tg.arange(48).reshape(6, 4, 2),
    "short": lambda tg: tg.arange(24.0).reshape(6, 4).to(tg.bfloat16),
    "complex": lambda tg: (tg.arange(24.0).reshape(6, 4) * (1 + 2j)).conj(),
    "none": lambda tg: tg.zeros(0, 4),
}
INDICES = {
    "some": [3, 0, 3],
    "from the end": [-1, -6, 5],
    "a table": [[0, 1], [5, -2]],
    "nothing": [],
    "too large": [0, 6],
    "too small": [0, -7],
    "mask": [True, False, True, False, False, True],
}


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("rows", ROWS)
def test_rows_are_numpy_s(tg, rows, index):
    """In new memory, row by row; an IndexError names the first position that is not there."""
    x, key = ROWS[rows](tg), np.array(INDICES[index], bool if index == "mask" else np.int64)
    here, position = (
        x.resolve_conj().float().numpy() if x.dtype is tg.bfloat16 else x.resolve_conj().numpy(),
        tg.tensor(key),
    )
    try:
        expected = here[key]
    except IndexError:
        with pytest.raises(IndexError, match=r"index -?\d+ is out of bounds|The shape of the mask"):
            x[position]
        return
    found = x[position]
    values = (found.float() if x.dtype is tg.bfloat16 else found.resolve_conj()).numpy()
    np.testing.assert_array_equal(values, expected)
    assert found.dtype is x.dtype
    assert found.is_contiguous()
    before = x.clone()
    found.zero_()
    assert tg.equal(x, before)


@pytest.mark.parametrize(("axis", "wrong"), itertools.product((0, 1, -1), (None, -1, 6, 2**40)))
def test_gather_is_numpy_s(tg, axis, wrong):
    """RuntimeError for an index outside, negative ones among them."""
    x = tg.arange(36.0).reshape(6, 6).t()
    index = np.random.default_rng(0).integers(0, 6, (4, 5))
    if wrong is not None:
        index[2, 3] = wrong
        with pytest.raises(RuntimeError, match=f"index {wrong} is out of bounds"):
            x.gather(axis, tg.tensor(index))
        return
    whole = np.pad(index, ((0, 2), (0, 1)))
    expected = np.take_along_axis(x.numpy(), whole, axis)[:4, :5]
    np.testing.assert_array_equal(x.gather(axis, tg.tensor(index)).numpy(), expected)
