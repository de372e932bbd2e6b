"""Writes in place within ``vmap`` to the slices, and results that are refused."""

from __future__ import annotations

import itertools

import pytest

import tracegrad as tg

vmap = tg.func.vmap

WRITES = {
    "add_": lambda x: x.add_(2),
    "mul_": lambda x: x.mul_(3),
    "part": lambda x: x[1:].mul_(2),
    "assignment": lambda x: x.__setitem__(0, x[1] * 5),
    "row": lambda x: x.select(0, 1).copy_(x.select(0, 0)),
    "twice": lambda x: x.add_(1).mul_(2),
}


@pytest.mark.parametrize(("name", "axis", "chunk"), itertools.product(WRITES, range(2), [None, 2]))
def test_a_write_to_slices_reaches_the_tensor_that_they_are_of(name, axis, chunk):
    def changed(row):
        WRITES[name](row)
        return row * 1

    x = tg.arange(12.0).reshape(3, 4).clone()
    expected = x.clone()
    for row in expected.unbind(axis):
        WRITES[name](row)
    whole = vmap(changed, in_dims=axis, out_dims=axis, chunk_size=chunk)
    for run in (whole, *[tg.compile(lambda x: whole(x))] * 3):
        given = x.clone()
        out = run(given)
        assert given.tolist() == expected.tolist()
        assert out.tolist() == expected.tolist()


def test_pulling_back_refuses_what_is_no_tensor():
    with pytest.raises(RuntimeError, match="to return only tensors, got unsupported type"):
        tg.func.vjp(lambda x: 1, tg.ones(2))


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_random_tensors_have_a_size(name):
    with pytest.raises(TypeError, match="invalid combination of arguments"):
        getattr(tg, name)()
    assert getattr(tg, name)(()).shape == getattr(tg, name)(size=()).shape == ()


def test_optimizers_print_an_empty_line_between_groups():
    groups = [{"params": [tg.nn.Parameter(tg.ones(1))]} for _ in range(3)]
    assert repr(tg.optim.SGD(groups, lr=0.1)).count("\n\nParameter Group") == 2
