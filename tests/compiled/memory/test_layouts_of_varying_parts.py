"""What is computed of a part at a place that is another one at each call, and its gradients, lies as in eager mode."""

import itertools

import numpy as np
import pytest
from side_by_side import served

import tracegrad as tg

# Parts of `v` [4, 4, 3] at a place that an int says, which is another one at each call.
PARTS = {
    "row": "v[i]",
    "column": "v[:, i]",
    "last axis": "v[..., i % 3]",
    "row and column": "v[i, (i + 1) % 4]",
    "column and last": "v[:, i, i % 3]",
    "row and last": "v[i, :, i % 3]",
    "with a new axis": "v[:, None, i]",
    "from there": "v[i:]",
    "columns from there": "v[:, i:]",
    "last from there": "v[..., i % 3 :]",
    "up to there": "v[: i + 1]",
    "columns up to there": "v[:, : i + 1]",
    "window": "v[i % 3 : i % 3 + 2]",
    "window of columns": "v[:, i % 3 : i % 3 + 2]",
    "window of one": "v[:, i : i + 1]",
    "window of the last": "v[..., i % 2 : i % 2 + 2]",
    "every second column": "v[:, i % 2 : i % 2 + 3 : 2]",
    "two windows": "v[i % 3 : i % 3 + 2, i % 2 : i % 2 + 2]",
    "windows behind": "v[:, i % 3 : i % 3 + 2, i % 2 : i % 2 + 2]",
    "window of a column": "v[i % 3 : i % 3 + 2, i]",
    "column of a window": "v[i, i % 3 : i % 3 + 2]",
    "window in a window": "v[:, i % 2 : i % 2 + 3][:, :, i % 2 : i % 2 + 2]",
    "window of a turned": "v.transpose(0, 1)[:, i % 3 : i % 3 + 2]",
    "narrow": "v.narrow(0, i % 3, 2)",
    "narrow columns": "v.narrow(1, i % 3, 2)",
    "narrow the last": "v.narrow(-1, i % 2, 2)",
    "select": "v.select(0, i)",
    "select a column": "v.select(1, i)",
    "select of the last": "v.select(-1, i % 3)",
    "roll": "v.roll(i, 0)",
    "roll columns": "v.roll(i, 1)",
    "roll the last": "v.roll(i, -1)",
    "roll two": "v.roll((i, 1), (1, 2))",
    "roll it all": "v.roll(i)",
    "chunk": "v.chunk(2, 0)[i % 2]",
    "chunk of columns": "v.chunk(2, 1)[i % 2]",
    "as many chunks": "v.chunk(i + 1, 1)[0]",
    "split": "v.split(2, 1)[i % 2]",
    "unbind": "v.unbind(1)[i]",
    "index_select": "v.index_select(1, tg.tensor([i, 0]))",
    "a tensor": "v[:, tg.tensor(i)]",
    "a list": "v[:, [i, 0]]",
    "a mask of columns": "v[:, tg.arange(4) == i]",
    "a diagonal": "v.diagonal(i - 1, 0, 1)",
}
# What the part is taken of; its leaf `w` [4, 4, 3] lies in one of LEAVES, from the slowest axis to the fastest.
WHOLES = {
    "leaf": "w",
    "computed": "w * x",
    "turned": "(w * x).permute(1, 0, 2)",
    "a turned leaf": "w.transpose(0, 1)",
    "laid otherwise": "(w * x).permute(0, 2, 1).contiguous().permute(0, 2, 1)",
}
LEAVES = {"rows": (0, 1, 2), "columns": (1, 0, 2), "last first": (2, 0, 1)}
WAYS = ["replayed", "re-recorded"]
CALLS = (1, 2, 0, 3, 1, 2)


def program(part, whole, order):
    """``step(x, i)`` gives gradients of what is computed of the part, and that; the leaf keeps a gradient, too."""
    numbers = tg.arange(48.0).reshape([(4, 4, 3)[axis] for axis in order]) / 50 - 0.3
    w = numbers.permute(sorted(range(3), key=order.__getitem__)).requires_grad_()
    taken = eval(f"lambda v, i: {part}", {"tg": tg})
    whole_of = eval(f"lambda w, x: {whole}")

    def step(x, i):
        y = taken(whole_of(w, x), i)
        (gradient,) = tg.autograd.grad((y * y).sum(), w)
        w.grad = None
        z = taken(whole_of(w, x), i)
        (z.sin() * z).sum().backward()
        return gradient, (y * 2).detach(), (y.exp() + y.sum(0)).detach(), w.grad, y.detach().clone()

    return step


def assert_alike(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert (one.stride(), one.is_contiguous()) == (other.stride(), other.is_contiguous())
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("whole", "order"), list(itertools.product(WHOLES, LEAVES)))
@pytest.mark.parametrize("part", PARTS)
def test_parts_and_their_gradients_lie_as_in_eager_mode(part, whole, order, way):
    step = program(PARTS[part], WHOLES[whole], LEAVES[order])
    compiled = served(tg, step, way)
    x = tg.arange(48.0).reshape(4, 4, 3) / 40
    for i in CALLS:
        assert_alike(compiled(x, i), step(x, i))
