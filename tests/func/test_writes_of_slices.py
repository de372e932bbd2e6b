"""Writes in place within ``vmap``: to the slices, to memory of the function's own, to memory from outside."""

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
    out = vmap(changed, in_dims=axis, out_dims=axis, chunk_size=chunk)(x)
    assert x.tolist() == expected.tolist()
    assert out.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["argument", "captured", "view", "number"])
def test_what_differs_between_slices_does_not_fit_into_memory_of_all(name):
    whole, rows = tg.zeros(3), tg.ones(2, 3)
    programs = {
        "argument": lambda: vmap(lambda a, b: a.add_(b), in_dims=(None, 0))(whole, rows),
        "captured": lambda: vmap(lambda b: whole.add_(b))(rows),
        "number": lambda: vmap(lambda b: whole[0].add_(b.sum()))(rows),
        "view": lambda: vmap(lambda b: whole[:2].add_(b[:2]))(rows),
    }
    with pytest.raises(RuntimeError, match="vmap: inplace arithmetic"):
        programs[name]()
    assert whole.tolist() == [0, 0, 0]


def test_a_write_that_is_the_same_for_all_slices_is_done_once():
    calls = tg.zeros(2)

    def counted(x):
        calls[0] += 1
        return x * calls[0]

    assert vmap(counted)(tg.ones(3)).tolist() == [1, 1, 1]
    assert vmap(counted)(tg.ones(3)).tolist() == [2, 2, 2]
    assert calls.tolist() == [2, 0]


def test_the_statistics_of_a_normalisation_are_counted_once():
    norm = tg.nn.BatchNorm1d(2)
    norm.running_mean = norm.running_var = None
    state = dict(norm.named_buffers())
    vmap(lambda x: tg.func.functional_call(norm, state, (x,)))(tg.randn(3, 4, 2))
    assert norm.num_batches_tracked.item() == 1


def test_a_write_before_a_function_is_called_for_each_slice_is_taken_back():
    log = tg.zeros(1)

    def drawn(x):
        log.fill_(1)
        return x + log + tg.zeros(2).bernoulli_(0.5) * 0

    assert vmap(drawn, randomness="different")(tg.zeros(3, 2)).tolist() == [[1, 1]] * 3
    assert log.tolist() == [1]


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
