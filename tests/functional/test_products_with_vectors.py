"""Products of a matrix or a vector with a vector: one node in eager mode, which gives what the matrix products give."""

import numpy as np
import pytest

from tracegrad.functional import linear_algebra

CALLS = {
    "mv": lambda tg, x, y: tg.mv(x, y),
    "matmul": lambda tg, x, y: x @ y,
    "dot": lambda tg, x, y: tg.dot(x[0], y),
    "vectors": lambda tg, x, y: x[0] @ y,
}
LAYOUTS = {
    "rows": lambda x: x.clone(),
    "columns": lambda x: x.t().contiguous().t(),
    "strided": lambda x: x.repeat_interleave(2, 1)[:, ::2],
}


def numbers(tg, *shape, dtype):
    return tg.tensor(np.sin(1 + np.arange(np.prod(shape), dtype=np.float64)).reshape(shape)).to(dtype)


def results(tg, call, x, y, wanted):
    """The value, and the gradients by way of a further product."""
    x, y = (a.detach().requires_grad_(w) for a, w in zip((x, y), wanted, strict=True))
    out = call(tg, x, y)
    found = [out]
    if any(wanted):
        inputs = [a for a, w in zip((x, y), wanted, strict=True) if w]
        found += tg.autograd.grad((out * out).sum(), inputs, create_graph=True)
        further = tg.autograd.grad(sum(g.sin().sum() for g in found[1:]), inputs, allow_unused=True)
        found += [g for g in further if g is not None]
    return out, [a.detach().numpy().copy() for a in found]


@pytest.mark.parametrize("wanted", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_one_node_gives_what_its_primitives_give(tg, monkeypatch, name, dtype, layout, wanted):
    dtype = getattr(tg, dtype)
    x, y = LAYOUTS[layout](numbers(tg, 5, 7, dtype=dtype)), numbers(tg, 7, dtype=dtype)
    out, found = results(tg, CALLS[name], x, y, wanted)
    for kind in ("_matrix_times_vector", "_scalar_product"):
        monkeypatch.setattr(linear_algebra, kind, getattr(linear_algebra, kind).__wrapped__)
    chain, expected = results(tg, CALLS[name], x, y, wanted)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6 if dtype is tg.float32 else 1e-14, atol=1e-7)
    assert np.array_equal(found[0], expected[0])  # the value to the last bit
    if any(wanted):
        title = "DotBackward0" if out.ndim == 0 else "MvBackward0"
        assert type(out.grad_fn).__name__ == title != type(chain.grad_fn).__name__


@pytest.mark.parametrize("name", CALLS)
def test_other_types_and_empty_ones_are_served_too(tg, name):
    for dtype in (tg.int64, tg.complex64, tg.bfloat16):
        x, y = tg.ones(2, 3).to(dtype), tg.full((3,), 2).to(dtype)
        assert CALLS[name](tg, x, y).tolist() == ([6, 6] if name in ("mv", "matmul") else 6)
    assert CALLS[name](tg, tg.ones(2, 0), tg.ones(0)).sum() == 0


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("written", [0, 1])
def test_a_write_to_what_the_gradient_reads_is_an_error(tg, name, written):
    operands = [tg.ones(2, 3, requires_grad=True) * 1, tg.ones(3, requires_grad=True) * 1]
    out = CALLS[name](tg, *operands).sum()
    operands[written].mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()
