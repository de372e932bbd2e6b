"""Which dtypes indices have: int32 and int64, or int64 alone, as PyTorch's kernels take them."""

import pytest

from tracegrad.ops.types import ALL_DTYPES

BOTH, LONG = ("int32", "int64"), ("int64",)
CALLS = {
    "x.index_select(0, i)": BOTH,
    "x.gather(0, i)": BOTH,
    "x.scatter(0, i, x)": BOTH,
    "x.scatter(0, i, 2.0)": BOTH,
    "x.scatter_add(0, i, x)": BOTH,
    "x.scatter_reduce(0, i, x, 'sum')": BOTH,
    "x.clone().scatter_(0, i, x)": BOTH,
    "x.clone().scatter_add_(0, i, x)": BOTH,
    "x.index_add(0, i, x)": BOTH,
    "x.clone().index_add_(0, i, x)": BOTH,
    "x.index_reduce(0, i, x, 'prod')": BOTH,
    "x.index_copy(0, i, x)": LONG,
    "x.clone().index_copy_(0, i, x)": LONG,
    "x.index_fill(0, i, 2.0)": LONG,
    "x.take(i)": LONG,
    "x.put(i, x)": LONG,
    "T.take_along_dim(x, i, 0)": LONG,
    "T.nn.functional.embedding(i, m)": BOTH,
    "T.nn.functional.nll_loss(m, i)": None,  # bytes, too
    "T.nn.functional.one_hot(i)": LONG,
    "T.repeat_interleave(x, i)": BOTH,
}


def outcome(library, expression, dtype):
    of = {"T": library, "x": library.tensor([1.0, 2.0, 3.0]), "m": library.ones(3, 3)}
    try:
        eval(expression, of | {"i": library.tensor([0, 1, 2]).to(getattr(library, dtype))})
    except Exception as error:
        return type(error)
    return None


@pytest.mark.parametrize("expression", [call for call, dtypes in CALLS.items() if dtypes])
def test_other_dtypes_are_refused(tg, expression):
    taken = [dtype.name for dtype in ALL_DTYPES if outcome(tg, expression, dtype.name) is None]
    assert tuple(taken) == CALLS[expression]


@pytest.mark.parametrize("expression", CALLS)
def test_as_pytorch(tg, expression):
    torch = pytest.importorskip("torch")
    for dtype in ALL_DTYPES:
        expected, got = (outcome(library, expression, dtype.name) for library in (torch, tg))
        assert (got is expected) if expected is None else issubclass(got, expected), dtype


def test_an_empty_index_scatters_nothing_whatever_it_is(tg):
    x = tg.ones(3)
    for dtype in ALL_DTYPES:
        assert x.scatter(0, tg.zeros(0, dtype=dtype), x).tolist() == [1, 1, 1]


def test_compiled_functions_refuse_the_same(tg):
    step = tg.compile(lambda x, i: x.gather(0, i))
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"gather\(\): Expected dtype int32/int64 for index"):
            step(tg.ones(3), tg.zeros(3, dtype=tg.int16))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("way", ["eager", "compiled"])
def test_one_integer_of_any_dtype_is_a_number(tg, dtype, way):
    def ends(x, i):
        y = x * 1
        y[i] = 0.0
        return x[i], x[:, i], x[i, i], x[i, None], y

    run = ends if way == "eager" else tg.compile(ends)
    x = tg.arange(12.0).reshape(3, 4)
    for n in (1, -1, 2):
        for found, expected in zip(run(x, tg.tensor(n, dtype=getattr(tg, dtype))), ends(x, n), strict=True):
            assert tg.equal(found, expected)
    if dtype in ("int8", "int16"):
        with pytest.raises(IndexError, match="must be long, int, byte or bool"):
            x[tg.tensor([1], dtype=getattr(tg, dtype))]
