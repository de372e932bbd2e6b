"""Writes in place within ``vmap`` to the slices and to memory from outside, and results that are refused."""

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


#: What PyTorch does once for all slices: the memory from outside then holds this.
ONCE = {
    "add_": (lambda w, b: w.add_(1), [2, 3, 4]),
    "zero_": (lambda w, b: w.zero_(), [0, 0, 0]),
    "part": (lambda w, b: w[1:].mul_(3), [1, 6, 9]),
    "assignment": (lambda w, b: w.__setitem__(0, 5), [5, 2, 3]),
    "other": (lambda w, b: w.copy_(w.flip(0)), [3, 2, 1]),
    "twice": (lambda w, b: w.add_(1).mul_(w), [4, 9, 16]),
    "index": (lambda w, b: w.index_fill_(0, tg.tensor([1]), 7), [1, 7, 3]),
}
#: What it refuses, since slices would write what is their own to memory that they share.
REFUSED = {
    "add_": lambda w, b: w.add_(b),
    "copy_": lambda w, b: w.copy_(b),
    "fill_": lambda w, b: w.fill_(b[0]),
    "part": lambda w, b: w[:2].add_(b[:2]),
    "assignment": lambda w, b: w.__setitem__(0, b[0]),
    "parts": lambda w, b: w.__setitem__(slice(0, 2), b[:2]),
    "index_put_": lambda w, b: w.index_put_((tg.tensor([0]),), b[:1]),
    "index_add_": lambda w, b: w.index_add_(0, tg.tensor([0]), b[:1]),
    "masked_fill_": lambda w, b: w.masked_fill_(b > 1, 2.0),
    "lerp_": lambda w, b: w.lerp_(b, 0.5),
    "clamp_": lambda w, b: w.clamp_(min=b),
    "out=": lambda w, b: tg.add(w, b, out=w),
}
#: How the memory gets into the function.
REACHED = {
    "captured": lambda write, whole: lambda rows: vmap(lambda b: (write(whole, b), b * whole)[1])(rows),
    "argument": lambda write, whole: (
        lambda rows: vmap(lambda w, b: (write(w, b), b * w)[1], in_dims=(None, 0))(whole, rows)
    ),
    "chunks": lambda write, whole: lambda rows: vmap(lambda b: (write(whole, b), b * whole)[1], chunk_size=4)(rows),
}


def _ways(function):
    """The function in eager mode, compiled, re-recorded, and put off."""
    step = tg.compile(function)

    def printing(rows):
        print(end="")
        return function(rows)

    again = tg.compile(printing)

    def deferred(rows):
        with tg.deferred():
            return function(rows)

    return [function, *[step] * 3, *[again] * 4, deferred]


@pytest.mark.parametrize(("name", "reached"), itertools.product(ONCE, REACHED))
def test_a_write_that_is_the_same_for_all_slices_is_done_once(name, reached):
    write, expected = ONCE[name]
    whole, rows = tg.zeros(3), tg.arange(6.0).reshape(2, 3)
    for run in _ways(REACHED[reached](write, whole)):
        whole.copy_(tg.tensor([1.0, 2.0, 3.0]))
        out = run(rows)
        assert whole.tolist() == expected
        assert out.tolist() == (rows * whole).tolist()


@pytest.mark.parametrize(("name", "reached"), itertools.product(REFUSED, REACHED))
def test_what_differs_between_slices_does_not_fit_into_memory_of_all(name, reached):
    whole, rows = tg.zeros(3), tg.arange(6.0).reshape(2, 3)
    for run in _ways(REACHED[reached](REFUSED[name], whole)):
        with pytest.raises(RuntimeError, match="vmap: inplace arithmetic"):
            run(rows)
        assert whole.tolist() == [0, 0, 0]


def test_a_write_before_a_function_is_called_for_each_slice_is_taken_back():
    log = tg.zeros(1)

    def drawn(x):
        log.add_(1)
        return x + log + tg.zeros(2).bernoulli_(0.5) * 0

    assert vmap(drawn, randomness="different")(tg.zeros(3, 2)).tolist() == [[1, 1], [2, 2], [3, 3]]
    assert log.tolist() == [3]


def test_what_a_function_wrote_before_it_raised_stays():
    log = tg.zeros(1)

    def failing(x):
        log.add_(1)
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        vmap(failing)(tg.zeros(3, 2))
    assert log.tolist() == [1]


def test_compiled_writes_to_memory_of_the_function_are_replayed():
    def own(x):
        y = x * 2
        y[0] = 1
        return y.add_(x)

    step = tg.compile(lambda x: vmap(own)(x))
    rows = tg.arange(6.0).reshape(2, 3)
    for _ in range(3):
        assert step(rows).tolist() == [[1, 3, 6], [4, 12, 15]]
    assert step.way == "replay"


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


VIEWS = {
    "slice": lambda r: r,
    "t": lambda r: r.t(),
    "view": lambda r: r.view(4),
    "item": lambda r: r[0],
    "part": lambda r: r[:1],
    "unsqueeze": lambda r: r.unsqueeze(0),
    "diagonal": lambda r: r.diagonal(),
    "chunk": lambda r: r.chunk(2)[0],
    "detach": lambda r: r.detach(),
    "two": lambda r: (r + 1, r.mT)[1],
}


@pytest.mark.parametrize("written", ["result", "operand"])
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_slices_is_a_view_of_what_they_are_of(name, written):
    def function(rows):
        whole = rows * 1.5
        shown = tg.func.vmap(VIEWS[name])(whole)
        (shown if written == "result" else whole).mul_(2.0)
        return whole, shown

    rows = tg.arange(8.0).reshape(2, 2, 2)
    expected = [x.tolist() for x in function(rows)]
    assert expected[0] != (rows * 1.5).tolist()
    for run in _ways(function):
        assert [x.tolist() for x in run(rows)] == expected


def test_new_tensors_of_slices_are_replayed():
    step = tg.compile(lambda rows: tg.func.vmap(lambda r: tg.stack([r.t() + 1, tg.zeros(2, 2)]))(rows))
    for _ in range(3):
        step(tg.ones(3, 2, 2))
    assert step.way == "replay"
