"""as_strided: any strides over the memory behind a tensor, whatever part of it the tensor shows, and its gradient."""

import itertools
from collections import Counter

import pytest

import tracegrad as tg

#: Tensors that show parts of one memory, of which 20 numbers in a row are known; from a tensor without a history, and
#: from one with.
PARTS = {
    "whole": lambda x: x,
    "slice": lambda x: x[5:15],
    "every second": lambda x: x[::2],
    "transposed": lambda x: x.reshape(4, 5).t(),
    "rows of the transposed": lambda x: x.reshape(4, 5).t()[1:3],
    "column": lambda x: x.reshape(4, 5)[:, 2],
    "repeated": lambda x: x[3:4].expand(4),
    "windows": lambda x: x.unfold(0, 3, 2),
    "detached slice": lambda x: x[5:15].detach(),
    "imaginary": lambda x: tg.view_as_complex(x.reshape(10, 2)).imag,
    "laid out by columns": lambda x: x.reshape(4, 5).t() + 0,
    "of a copy": lambda x: x.clone()[2:],
}
VIEWS = [((2, 2), (1, 2)), ((3,), (3,)), ((2, 3), (0, 1)), ((), ()), ((0, 2), (1, 1))]


def memory_of(part):
    """The numbers of the memory behind `part`, by their places: `whole` is contiguous or turned about."""
    whole = part.buffer.whole
    order = sorted(range(whole.ndim), key=lambda axis: -whole.strides[axis])
    return whole.transpose(order).ravel().tolist()


def places(shape, strides, offset):
    every = itertools.product(*map(range, shape))
    return [offset + sum(i * s for i, s in zip(index, strides, strict=True)) for index in every]


@pytest.mark.parametrize("tracked", ["plain", "leaf", "history"])
@pytest.mark.parametrize("name", PARTS)
def test_what_is_seen_and_whence_gradients_come(name, tracked):
    for (shape, strides), offset in itertools.product(VIEWS, (None, 0, 3, 9)):
        x = tg.arange(20.0, dtype=tg.float64, requires_grad=tracked == "history")
        part = PARTS[name](x)
        if tracked == "leaf" or (tracked == "history" and not part.requires_grad):
            part.requires_grad_()
        begin = part.storage_offset() if offset is None else offset
        memory, seen = memory_of(part), places(shape, strides, begin)
        view = part.as_strided(shape, strides, offset)
        assert view.flatten().tolist() == [memory[p] for p in seen], (shape, offset)
        assert view.shape == shape and view.requires_grad is part.requires_grad
        if not seen:
            continue
        if part.requires_grad:
            own = places(part.shape, part.stride(), part.storage_offset())
            (g,) = tg.autograd.grad(view.sum(), part)
            counted, shown = Counter(seen), Counter(own)
            assert g.flatten().tolist() == [counted[p] / shown[p] for p in own], (shape, offset)
        with tg.no_grad():
            part.as_strided((1,), (1,), begin).fill_(-7.0)
        assert view.flatten()[0].item() == -7.0 == memory_of(part)[begin]


def test_the_second_derivative_of_what_lies_beyond():
    x = tg.arange(6.0, dtype=tg.float64)[2:5].requires_grad_()
    view = x.as_strided((4,), (1,), 1)  # one element before, all of x
    (first,) = tg.autograd.grad((view**3).sum(), x, create_graph=True)
    (second,) = tg.autograd.grad(first.sum(), x)
    assert first.tolist() == [12.0, 27.0, 48.0] and second.tolist() == [12.0, 18.0, 24.0]


def test_complex_numbers_over_real_memory():
    z = tg.view_as_complex(tg.arange(12.0).reshape(6, 2))[2:4]
    assert z.as_strided((2,), (3,), 1).tolist() == [2 + 3j, 8 + 9j]


@pytest.mark.parametrize(
    "make",
    [lambda: tg.empty_strided((3, 3), (4, 1)), lambda: tg.ones(3, dtype=tg.complex64).conj().imag],
    ids=["gaps", "negative"],
)
def test_other_memory_is_refused(make):
    with pytest.raises(RuntimeError, match="gaps"):
        make().as_strided((2,), (1,), 0)


def test_what_lies_outside_the_memory_is_refused():
    with pytest.raises(RuntimeError, match="requiring a storage size of 60 are out of bounds for storage of size 40"):
        tg.arange(10.0)[5:].as_strided((6,), (2,), 4)
    with pytest.raises(RuntimeError, match="out of bounds"):
        tg.arange(10.0)[5:].requires_grad_().as_strided((6,), (1,))


@pytest.mark.parametrize("offset", [None, 0, 3])
def test_a_compiled_function_sees_where_an_argument_begins(offset):
    """The same function for tensors that show all of their memory, and for parts of larger ones."""

    def function(x):
        view = x.as_strided((2, 2), (1, 2), offset) * 2.0
        return view, tg.autograd.grad(view.sum(), x)[0]

    arguments = [lambda: tg.arange(9.0), lambda: tg.arange(30.0)[7:16], lambda: tg.arange(30.0)[9:18].detach()]
    step = tg.compile(function)
    for make in [*arguments, *arguments[::-1], *arguments]:
        expected, got = (f(make().requires_grad_()) for f in (function, step))
        assert [t.tolist() for t in got] == [t.tolist() for t in expected]


def test_without_an_offset_it_is_replayed():
    step = tg.compile(lambda x: x.as_strided((2, 2), (1, 2)) * 2.0)
    for i in range(4):
        x = tg.arange(9.0) + i
        assert step(x).tolist() == (x.as_strided((2, 2), (1, 2)) * 2.0).tolist()
    assert step.way == "replay"
