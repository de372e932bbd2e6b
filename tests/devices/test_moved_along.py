"""``share_memory_``: all that shows the memory moves along."""

import sys

import pytest

import tracegrad as tg

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="refused there")

#: What shows the memory of a tensor of shape [2, 3].
SHOWN = {
    "row": lambda x: x[1],
    "columns": lambda x: x[:, 1:],
    "transposed": lambda x: x.t(),
    "flat": lambda x: x.view(-1),
    "expanded": lambda x: x[None].expand(2, 2, 3),
    "detached": lambda x: x.detach(),
    "data": lambda x: x.data,
    "other type": lambda x: x.view(tg.int32),
    "parameter": lambda x: tg.nn.Parameter(x),
    "strided": lambda x: x.as_strided((2, 2), (1, 3), 1),
    "set": lambda x: tg.ones(1).set_(x),
}


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("first", ["whole", "view"])
def test_what_shows_the_same_memory_moves_along(name, first):
    x = tg.arange(6.0).reshape(2, 3).clone()
    view = SHOWN[name](x)
    values, strides, version = view.tolist(), view.stride(), view._version
    counts_together = view.buffer is x.buffer
    outside = tg.arange(6.0)
    (x if first == "whole" else view).share_memory_()
    assert x.is_shared() and view.is_shared() and not outside.is_shared()
    assert (view.tolist(), view.stride(), view._version) == (values, strides, version)
    assert view.data_ptr() - x.data_ptr() == SHOWN[name](x).data_ptr() - x.data_ptr()
    with tg.no_grad():
        x += 1
    assert view.tolist() == SHOWN[name](x).tolist() != values
    assert (view._version > version) is counts_together


def test_views_of_views_and_gradients_move_along():
    x = tg.arange(12.0, requires_grad=True)
    whole, kept = x.detach(), x.detach()[2:10][::2]
    x[:4].sum().backward()
    kept[1:].share_memory_()
    assert x.is_shared() and whole.is_shared() and not x.grad.is_shared()
    kept.fill_(7.0)
    assert x.tolist() == whole.tolist() == [0, 1, 7, 3, 7, 5, 7, 7, 7, 9, 10, 11]
