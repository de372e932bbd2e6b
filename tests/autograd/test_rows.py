"""``x[i]`` in one go is the view that the ops make of ``x[(i,)]``."""

import pytest

MADE = {
    "matrix": lambda tg: tg.arange(12.0).reshape(4, 3),
    "vector": lambda tg: tg.arange(4),
    "turned": lambda tg: tg.arange(12.0).reshape(3, 4).t(),
    "a part": lambda tg: tg.arange(30.0).reshape(6, 5)[1:5, ::2],
    "expanded": lambda tg: tg.ones(3).expand(4, 3),
    "a row of rows": lambda tg: tg.arange(24).reshape(2, 4, 3)[1],
    "no columns": lambda tg: tg.ones(4, 0, 2),
    "one row": lambda tg: tg.ones(4, 1, 1, 2),
    "detached": lambda tg: tg.ones(4, 2, requires_grad=True).detach(),
    "bytes": lambda tg: tg.ones(4, 2, dtype=tg.uint8),
    "without gradients": lambda tg: _made_without_gradients(tg),
}


def _made_without_gradients(tg):
    with tg.inference_mode():
        return tg.ones(4, 2)


@pytest.mark.parametrize("index", [0, 3, -1, -4])
@pytest.mark.parametrize("name", MADE)
def test_rows_are_the_views_of_the_ops(tg, name, index):
    x = MADE[name](tg)
    quick, general = x[index], x[(index,)]
    assert quick.tolist() == general.tolist() and quick.shape == general.shape and quick.dtype == general.dtype
    assert quick.storage_offset() == general.storage_offset() and quick._base is general._base
    sizes = zip(quick.shape, quick.stride(), general.stride(), strict=True)
    assert all(a == b for size, a, b in sizes if size > 1 and x.numel())
    assert quick.requires_grad is general.requires_grad is False
    assert quick.is_inference() == general.is_inference() and type(quick) is type(general)
    if tg.__name__ == "tracegrad":
        assert quick.steps == general.steps and quick.buffer is general.buffer


def test_writes_to_rows_are_seen_and_counted(tg):
    x = tg.zeros(3, 2)
    y = x[1]
    before = x._version
    y.add_(1)
    assert x.tolist() == [[0, 0], [1, 1], [0, 0]] and x._version == before + 1 == y._version


def test_rows_of_what_requires_gradients_later(tg):
    x = tg.zeros(3, 2)
    rows = [x[1], x[(1,)]]
    x.mul_(tg.ones(2, requires_grad=True))
    assert [row.requires_grad for row in rows] == [True, True]
    rows[0].sum().backward()
    with tg.no_grad():
        y = tg.ones(2, 2, requires_grad=True)
        assert y[0].requires_grad and y[0].grad_fn is None and y[0].tolist() == [1, 1]


def test_what_no_row_is(tg):
    with pytest.raises(IndexError, match="index 3 is out of bounds for dimension 0 with size 3"):
        tg.zeros(3)[3]
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        tg.tensor(1.0)[0]
    assert tg.arange(3)[True].shape == (1, 3)
