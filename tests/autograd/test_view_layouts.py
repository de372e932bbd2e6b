"""Views are views in whatever order the memory lies: a write to one is a write to its source."""

import numpy as np
import pytest

import tracegrad as tg

# Matrices, 4 x 6, and images, 2 x 4 x 6 x 4; each element has a number of its own.
LAYOUTS = {
    "rows": lambda: tg.arange(24.0).view(4, 6),
    "transposed": lambda: tg.arange(24.0).view(6, 4).t(),
    "stepped": lambda: tg.arange(96.0).view(8, 12)[::2, 1::2],
    "inner": lambda: tg.arange(60.0).view(6, 10)[1:5, 2:8],
    "inner transposed": lambda: tg.arange(60.0).view(10, 6)[2:8, 1:5].t(),
    "no rows": lambda: tg.zeros(0, 6),
    "no columns": lambda: tg.zeros(6, 0).t(),
    "images": lambda: tg.arange(192.0).view(2, 4, 6, 4),
    "channels last": lambda: tg.arange(192.0).view(2, 4, 6, 4).contiguous(memory_format=tg.channels_last),
    "permuted": lambda: tg.arange(192.0).view(4, 6, 4, 2).permute(3, 0, 1, 2),
    "complex": lambda: tg.arange(24.0).view(6, 4).to(tg.complex64).t(),
    "conjugated": lambda: tg.arange(24.0).view(6, 4).to(tg.complex64).t().conj(),
}
VIEWS = [
    "diagonal()", "diagonal(1)", "diagonal(-2)", "diagonal(9)", "diagonal(0, 1, 0)", "diagonal(1, -2, -1)",
    "diagonal(-1, -1, 0)", "transpose(0, 1)", "transpose(0, -1)", "swapaxes(-1, -2)", "movedim(0, -1)", "mT",
    "unsqueeze(1)", "narrow(0, 0, 2)", "narrow(-1, 1, 2)", "select(0, 1)", "select(-1, 2)", "unfold(0, 2, 2)",
    "unfold(-1, 3, 3)", "split(2, -1)[1]", "chunk(2)[0]", "unbind(-1)[1]", "tensor_split(3, 1)[0]",
    "unflatten(0, (2, -1))", "[1]", "[..., 1]", "[1:, ::2]", "[None, :, -1]", "detach()", "data", "view_as(x)",
    "expand(x.shape)",
]  # fmt: skip
SHORT = "diagonal", "narrow(0", "select", "unfold", "split(2", "chunk", "unbind", "unflatten", "[1", "[None", "[...,"
OF_SEVERAL = "split", "chunk", "unbind", "tensor_split"  # not to be written to where there is a history


def _view(x, view):
    return eval("x" + ("" if view[0] == "[" else ".") + view, {"x": x})


def _elements(x):
    return x.detach().resolve_conj().flatten().tolist()


def _overwritten(x, view):
    """`x` after a write to all of `view`, as its elements say; they are another's only once each."""
    shown = set(_elements(_view(x, view)))
    return [-1.0 if element in shown else element for element in _elements(x)]


def _has(layout, view):
    """Whether a source without elements has that view: nothing is selected of no rows."""
    return not layout.startswith("no ") or view.startswith("diagonal") or not view.startswith(SHORT)


CASES = [(layout, view) for layout in LAYOUTS for view in VIEWS if _has(layout, view)]


@pytest.mark.long(fast=1)
@pytest.mark.parametrize("layout, view", CASES)
def test_a_write_to_a_view_is_one_to_its_source(layout, view):
    x = LAYOUTS[layout]()
    expected, shown = _overwritten(x, view), _view(x, view)
    before = x._version
    shown.fill_(-1.0)
    assert _elements(x) == expected
    assert x._version > before or view == "data"


@pytest.mark.long(fast="first", every=2)
@pytest.mark.parametrize("layout", [name for name in LAYOUTS if not name.startswith("no ")])
def test_compiled_writes_to_views_are_those_of_eager_mode(layout):
    def step(x, weight):
        total = 0.0
        for view in VIEWS:
            if view.startswith(OF_SEVERAL):
                continue
            y = x * weight
            _view(y, view).mul_(3.0)
            total = total + (y * y.conj()).real.sum()
        weight.grad = None
        total.backward()
        x.diagonal(1).add_(1.0)
        return total, weight.grad

    compiled = tg.compile(step)
    for _ in range(3):
        x, weight = LAYOUTS[layout](), tg.linspace(0.5, 1.5, LAYOUTS[layout]().numel()).view(LAYOUTS[layout]().shape)
        weight = weight.requires_grad_()
        again = x.clone(memory_format=tg.preserve_format)
        got, expected = compiled(x, weight), step(again, weight)
        for a, b in zip((*got, x), (*expected, again), strict=True):
            # float32 sums of 32 terms in another order
            assert np.allclose(_elements(a), _elements(b), rtol=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("offset", [0, 2, -1])
def test_the_gradient_of_a_diagonal_lies_where_it_was(layout, offset):
    x = LAYOUTS[layout]().requires_grad_()
    place = tg.arange(float(x.numel())).view(x.shape)
    x.diagonal(offset).sum().real.backward()
    there = _elements(place.diagonal(offset))
    assert _elements(x.grad) == [float(p in there) for p in range(x.numel())]
