"""``out=`` in the memory of an operand: refused where PyTorch writes while it reads, else as if it were apart."""

import warnings

import pytest

import tracegrad as tg

#: Calls whose operands a, b (floats) and i (integers) have the result's shape, with those that PyTorch refuses as out.
REFUSED = {
    "tg.add(a, b, out=o)": "",
    "tg.where(a > b, a, b, out=o)": "",
    "tg.clamp(a, b, out=o)": "",
    "tg.cumsum(a, 0, out=o)": "",
    "tg.tril(a, out=o)": "",
    "tg.cat([a, b], 0, out=o)": "ab",
    "tg.concat([a, b], 0, out=o)": "ab",
    "tg.concatenate([a, b], 0, out=o)": "ab",
    "tg.stack([a, b], 0, out=o)": "ab",
    "tg.hstack([a, b], out=o)": "ab",
    "tg.vstack([a, b], out=o)": "ab",
    "tg.dstack([a, b], out=o)": "ab",
    "tg.row_stack([a, b], out=o)": "ab",
    "tg.column_stack([a, b], out=o)": "ab",
    "tg.index_select(a, 0, i[0], out=o)": "a",
    "tg.masked_select(a, a < 9, out=o)": "a",
    "tg.take(a, i, out=o)": "ai",
    "tg.cross(a, b, out=o)": "ab",
    "tg.linalg.cross(a, b, out=o)": "ab",
    "tg.gather(a, 0, i, out=o)": "a",
    "tg.take_along_dim(a, i, 0, out=o)": "a",
    "tg.index_add(a, 0, i[0], b, out=o)": "b",
    "tg.index_copy(a, 0, i[0], b, out=o)": "b",
    "tg.index_reduce(a, 0, i[0], b, 'prod', out=o)": "b",
    "tg.scatter(a, 0, i, b, out=o)": "b",
    "tg.scatter_add(a, 0, i, b, out=o)": "b",
    "tg.scatter_reduce(a, 0, i, b, 'sum', out=o)": "b",
}
#: Of these, those that refuse an operand without elements, too.
REFUSED_EMPTY = {
    "tg.cat([a, b], 0, out=o)": "b",
    "tg.index_select(a, 0, i, out=o)": "a",
    "tg.masked_select(a, a < 9, out=o)": "a",
    "tg.take(a, i, out=o)": "a",
    "tg.gather(a, 0, i, out=o)": "a",
    "tg.add(a, 1, out=o)": "",
    "tg.where(a > 0, a, a, out=o)": "",
}


def operands():
    a = tg.tensor([[1.0, 2.0, 3.0], [5.0, 4.0, 0.5], [7.0, 2.5, 1.5]])
    return {"tg": tg, "a": a, "b": a.t().contiguous() - 2, "i": tg.tensor([[2, 0, 1], [0, 1, 2], [1, 2, 0]])}


def stored(call, where, make=operands):
    """What `call` returns with `where` as its out, or "refused"."""
    given = make()
    given["o"] = given[where]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(call, given)
        except RuntimeError as error:
            if "expected" in str(error).lower() and "dtype" in str(error):
                return "another type"
            # PyTorch's stack has made the operand larger before it looks at the shapes, and complains of these.
            assert str(error).startswith("unsupported operation: some elements of the input") or "stack" in call, error
            return "refused"
    assert result is given["o"]
    return result.tolist()


@pytest.mark.parametrize("call", REFUSED)
def test_an_operand_as_out(call):
    apart = eval(call.replace(", out=o", ""), operands()).tolist()
    for name in [n for n in "abi" if n in call.partition("(")[2].replace("prod", "")]:
        if name == "i" and apart and isinstance(apart[0], list) and "take(" not in call:
            continue  # integers for floating-point results
        wanted = "refused" if name in REFUSED[call] else apart
        assert stored(call, name) in (wanted, "another type"), name


@pytest.mark.parametrize("call", REFUSED_EMPTY)
def test_an_operand_without_elements_as_out(call):
    def make():
        return {"tg": tg, "a": tg.zeros(0), "b": tg.zeros(0), "i": tg.zeros(0, dtype=tg.int64)}

    if call.startswith("tg.cat"):  # an out that has to grow over an operand
        given = {"tg": tg, "a": tg.ones(2), "b": tg.zeros(0)}
        assert stored(call, "b", lambda: given) == "refused"
        return
    assert (stored(call, "a", make) == "refused") is ("a" in REFUSED_EMPTY[call])


def test_nothing_is_shown_twice_where_there_is_nothing():
    out = tg.zeros(1, 3).expand(4, 3)[:, :0]
    assert tg.exp(tg.zeros(4, 0), out=out) is out
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        tg.exp(tg.zeros(4, 3), out=tg.zeros(1, 3).expand(4, 3))


def test_out_of_functions_whose_wrappers_take_more_names():
    out = tg.zeros(2, dtype=tg.float64)
    assert tg.normal(1.0, 0.0, (2,), dtype=tg.float64, layout=tg.strided, device="cpu", out=out) is out
    assert out.tolist() == [1.0, 1.0]


def test_normal_numbers_around_tensors_are_drawn_in_the_type_of_out():
    mean = tg.ones(3)
    for dtype in (tg.float32, tg.float64):
        tg.manual_seed(0)
        expected = tg.normal(mean.to(dtype), 2.0)
        tg.manual_seed(0)
        out = tg.zeros(3, dtype=dtype)
        assert tg.normal(mean, 2.0, out=out) is out
        assert out.tolist() == expected.tolist()
    with pytest.raises(TypeError, match="normal"):
        tg.normal(mean, 2.0, dtype=tg.float64)


@pytest.mark.parametrize("dtype, error", [("int64", ValueError), ("int32", None)])
def test_a_step_that_an_integer_type_makes_0(dtype, error):
    if error is None:  # PyTorch counts the shorter types as floating-point numbers
        assert tg.arange(0, 3, 0.5, dtype=getattr(tg, dtype)).tolist() == [0] * 6
        return
    with pytest.raises(error, match="step must be nonzero"):
        tg.arange(0, 3, 0.5, dtype=getattr(tg, dtype))
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        tg.arange(0, 3, 0, dtype=getattr(tg, dtype))
