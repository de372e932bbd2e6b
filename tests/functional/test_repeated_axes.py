"""What fills, or writes through indices, may write to axes that `expand` has made: values, compiled, gradients."""

import pytest

import tracegrad as tg

MASK = [[True, False, True], [False, False, True]]
pytestmark = pytest.mark.filterwarnings("ignore:Use of")
WRITES = {
    "masked_fill_": lambda x, v: x.masked_fill_(tg.tensor(MASK), 5.0),
    "masked_fill_ of a tensor": lambda x, v: x.masked_fill_(tg.tensor(MASK), v[0, 0]),
    "index_fill_": lambda x, v: x.index_fill_(1, tg.tensor([0, 2]), 4.0),
    "tril_": lambda x, v: x.tril_(),
    "triu_": lambda x, v: x.triu_(1),
    "fill_diagonal_": lambda x, v: x.fill_diagonal_(3.0),
    "fill_": lambda x, v: x.fill_(v[0, 1]),
    "zero_": lambda x, v: x.zero_(),
    "index_put_": lambda x, v: x.index_put_((tg.tensor([1, 0]),), v),
    "index_put_ of elements": lambda x, v: x.index_put_((tg.tensor([1, 0]), tg.tensor([2, 2])), v[0, :2]),
    "index_put_ that adds": lambda x, v: x.index_put_((tg.tensor([1, 0, 1]),), v[:1], accumulate=True),
    "rows": lambda x, v: x.__setitem__(tg.tensor([0, 1]), v),
    "columns": lambda x, v: x.__setitem__((slice(None), tg.tensor([2, 0])), v[:, :2]),
    "mask": lambda x, v: x.__setitem__(tg.tensor(MASK), v[0, 0]),
}
VIEWS = {"rows": (3,), "columns": (2, 1), "one": ()}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("write", WRITES)
def test_compiled_calls_write_what_eager_ones_do(write, view):
    def run(start, v):
        x = (start * 2).expand(2, 3)
        WRITES[write](x, v)
        return x + 0, x.stride()

    step = tg.compile(run)
    for seed in range(3):
        tg.manual_seed(seed)
        start, v = tg.rand(VIEWS[view]), tg.rand(2, 3)
        (found, strides), (expected, others) = step(start, v), run(start, v)
        assert tg.equal(found, expected) and strides == others
        # However often an element is shown, it is one: all that show it are equal.
        if view != "columns":
            assert tg.equal(expected[0], expected[1])
        if view != "rows":
            assert tg.equal(expected[:, 0], expected[:, 2])


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("write", WRITES)
def test_gradients_go_to_what_stayed_and_to_what_was_written(write, view):
    def run(start, v):
        x = (start * 2).expand(2, 3)
        WRITES[write](x, v)
        return x * x

    start = tg.rand(VIEWS[view], dtype=tg.float64, requires_grad=True)
    v = tg.rand(2, 3, dtype=tg.float64, requires_grad=True)
    assert tg.autograd.gradcheck(run, (start, v)) and tg.autograd.gradgradcheck(run, (start, v))
