"""Copies and pickles of tensors keep strides and flags; classes of results are made of one sequence, as PyTorch's."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings

import pytest

import tracegrad as tg
from tracegrad.functional import return_types

LAYOUTS = {
    "transposed": lambda x: x.t(),
    "column": lambda x: x[:, 1],
    "every second": lambda x: x[:, ::2],
    "expanded": lambda x: x[:, :1].expand(3, 5),
    "expanded in front": lambda x: x[0].expand(2, 4),
    "permuted": lambda x: x.reshape(3, 2, 2).permute(2, 0, 1),
    "plain": lambda x: x,
    "empty": lambda x: x[:0].t(),
    "a number": lambda x: x[1, 1],
}
WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "old pickle": lambda x: pickle.loads(pickle.dumps(x, 2)),
}


@pytest.mark.parametrize("dtype", [tg.float32, tg.int8, tg.bfloat16, tg.complex64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("way", WAYS)
def test_strides_are_kept(way, layout, dtype):
    x = LAYOUTS[layout](tg.arange(12).reshape(3, 4).to(dtype))
    made = WAYS[way](x)
    assert (made.stride(), made.dtype, made.shape) == (x.stride(), dtype, x.shape)
    assert made.tolist() == x.tolist()
    assert made.data_ptr() != x.data_ptr() or way == "copy" or not x.numel()


@pytest.mark.parametrize("way", ["copy", "pickle", "old pickle"])
def test_flags_of_what_has_a_history_are_kept(way):
    made = WAYS[way](tg.ones(2, requires_grad=True) * 2)
    assert made.requires_grad and made.is_leaf


CLASSES = [kind for _, kind in inspect.getmembers(return_types, inspect.isclass) if hasattr(kind, "_fields")]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_results_are_made_of_one_sequence(kind):
    count = len(kind._fields)
    values = list(range(count))
    assert kind(values) == kind(tuple(values)) == kind(*values) == tuple(values)
    assert kind(kind(*values)) == kind(values)
    assert (kind.n_fields, kind.n_sequence_fields, kind.n_unnamed_fields) == (count, count, 0)
    with pytest.raises(TypeError, match="constructor requires a sequence"):
        kind(1)
    with pytest.raises(TypeError, match=rf"takes a {count}-sequence \({count + 1}-sequence given\)"):
        kind([*values, 1])


FILLED = {
    "empty": lambda out: tg.empty(2, out=out),
    "eye": lambda out: tg.eye(2, out=out),
    "full": lambda out: tg.full((2,), 1.0, out=out),
    "linspace": lambda out: tg.linspace(0, 1, 3, out=out),
    "logspace": lambda out: tg.logspace(0, 1, 3, out=out),
    "normal": lambda out: tg.normal(0.0, 1.0, (2,), out=out),
    "ones": lambda out: tg.ones(2, out=out),
    "rand": lambda out: tg.rand(2, out=out),
    "randint": lambda out: tg.randint(2, (2,), out=out),
    "randn": lambda out: tg.randn(2, out=out),
    "zeros": lambda out: tg.zeros(2, out=out),
    "bernoulli": lambda out: tg.bernoulli(tg.ones(2), out=out),
}
RESIZED = "An output with one or more elements was resized"
COMPUTED = {
    "normal of tensors": (lambda out: tg.normal(tg.zeros(2), tg.ones(2), out=out), RESIZED),
    "add": (lambda out: tg.add(tg.ones(2), 1, out=out), RESIZED),
    "arange": (lambda out: tg.arange(3.0, out=out), "The number of elements in the out tensor of shape"),
}


@pytest.mark.parametrize("name", [*FILLED, *COMPUTED])
def test_which_functions_warn_that_they_resize_out(name):
    call, message = COMPUTED.get(name) or (FILLED[name], None)
    out = tg.ones(5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert call(out) is out
    assert out.numel() != 5
    assert [message in str(w.message) for w in caught] == [True] * (message is not None)


WRITES = {
    "fill_": ("FillBackward2", lambda y, x: y.fill_(2)),
    "fill_ of a tensor": ("FillBackward3", lambda y, x: y.fill_(tg.tensor(2.0))),
    "zero_": ("ZeroBackward0", lambda y, x: y.zero_()),
    "copy_": ("CopyBackwards", lambda y, x: y.copy_(x)),
    "copy_ of a constant": ("CopyBackwards", lambda y, x: y.copy_(tg.ones(2, 2))),
    "copy_ of another type": ("CopyBackwards", lambda y, x: y.copy_(x.double())),
    "a row": ("CopySlices", lambda y, x: y[0].zero_()),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_writes_are_called(name):
    title, write = WRITES[name]
    x = tg.ones(2, 2, requires_grad=True)
    y = x * 1
    write(y, x)
    assert type(y.grad_fn).__name__ == title
    assert y.grad_fn.name() == (f"torch::autograd::{title}" if title.startswith("Copy") else title)
    assert f"grad_fn=<{title}>" in repr(y)
