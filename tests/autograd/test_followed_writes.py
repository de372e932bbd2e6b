"""Writes through an index into what has a history: numpy's assignment and one node are what the ops make of them."""

import itertools

import pytest

import tracegrad as tg
from tracegrad.ops.array import Evaluator
from tracegrad.ops.core import interpreted
from tracegrad.tape.tape import Tape
from tracegrad.tensors.tensor import make

INDEX, MASK = [2, 0, -1], [True, False, True, False]
KEYS = {
    **{str(key): lambda key=key: key for key in (0, -1, 7, slice(1, 3), slice(None, None, 2), slice(2, 1), None, ...)},
    **{str(key): lambda key=key: key for key in ((0, 1), (..., 0), (slice(None), 1), (1, slice(1, 3)), (0, None), ())},
    "list": lambda: [0, 2], "index": lambda: tg.tensor(INDEX), "repeated": lambda: tg.tensor([1, 1, 0]),
    "matrix": lambda: tg.tensor([[0, 1], [2, 3]]), "0-d": lambda: tg.tensor(1), "mask": lambda: tg.tensor(MASK),
    "truths": lambda: MASK, "far": lambda: tg.tensor([0, 9]), "none": lambda: tg.tensor([], dtype=tg.int64),
    "index, index": lambda: (tg.tensor(INDEX), tg.tensor([0, 1, 2])), "1, index": lambda: (1, tg.tensor([0, 2])),
    "index, 1": lambda: (tg.tensor(INDEX), 1), ":, index": lambda: (slice(None), tg.tensor([2, 0])),
    "..., index": lambda: (..., tg.tensor([2, 0])), "1:3, index": lambda: (slice(1, 3), tg.tensor([2, 0])),
    "index, 1:": lambda: (tg.tensor(INDEX), slice(1, None)), "mask, 1": lambda: (tg.tensor(MASK), 1),
    "mask of all": lambda: tg.arange(12).view(4, 3) % 2 == 0, "None, index": lambda: (None, tg.tensor([0])),
}  # fmt: skip
VALUES = {
    "0.5": lambda x: 0.5, "3": lambda x: 3, "text": lambda x: "1", "a number": lambda x: tg.tensor(2.0),
    "tracked number": lambda x: _leaf(()), "[1]": lambda x: _leaf((1,)), "[2]": lambda x: _leaf((2,)),
    "[3]": lambda x: _leaf((3,)), "[3, 1]": lambda x: _leaf((3, 1)), "[3, 3]": lambda x: _leaf((3, 3)) * 2,
    "[1, 1, 3]": lambda x: _leaf((1, 1, 3)), "constant": lambda x: tg.arange(3.0),
    "float64": lambda x: tg.ones(3).double(),
    "itself": lambda x: x, "a row": lambda x: x[1], "reversed": lambda x: x.flip(0), "product": lambda x: x[0] * 2,
}  # fmt: skip


def _leaf(shape):
    return (tg.arange(1.0, 1 + max(1, tg.Size(shape).numel())).view(shape) / 3).requires_grad_()


TARGETS = {
    "computed": lambda: (leaf := _leaf((4, 3)), leaf * 2),
    "by columns": lambda: (leaf := _leaf((3, 4)), (leaf * 2).t().contiguous().t().clone().t()),
    "constant": lambda: (leaf := _leaf((4, 3)), leaf.detach().clone()),
    "view": lambda: (leaf := _leaf((5, 3)), (leaf * 2)[1:]),
    "leaf": lambda: (leaf := _leaf((4, 3)), leaf),
    "float64": lambda: (leaf := _leaf((4, 3)), leaf.double()),
}


def _outcome(target, key, value):
    """What is left of a write: the error, numbers, versions, and first and second gradients."""
    leaf, x = target()
    part, given = x[1:], value(x)
    try:
        x[key()] = given
    except Exception as raised:
        return type(raised), str(raised), x.detach().tolist(), x._version
    name = x.grad_fn and x.grad_fn.name()
    found = [x.detach().tolist(), part.detach().tolist(), x._version, name, x.requires_grad, part.requires_grad]
    sources = [leaf, *([given] if isinstance(given, tg.Tensor) and given.requires_grad and given.is_leaf else [])]
    if not x.requires_grad:
        return found
    for create in (False, True):
        total = (x**3).sum() + (part * part).sum()
        first = tg.autograd.grad(total, sources, create_graph=create, retain_graph=True, allow_unused=True)
        found += [g if g is None else g.tolist() for g in first]
        if create and any(g is not None and g.requires_grad for g in first):
            total = sum((g * g).sum() for g in first if g is not None)
            second = tg.autograd.grad(total, sources, allow_unused=True)
            found += [g if g is None else g.tolist() for g in second]
    return found


def _close(found, expected):
    if isinstance(found, (list, tuple)) and isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(_close, found, expected))
    if isinstance(found, float) and isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-5, abs=1e-6)  # sums of a value's gradient have another order
    return found == expected


def _by_ops(*args):
    return interpreted(Tape(Evaluator(), make), *args)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", TARGETS)
def test_what_is_written_through_an_index(target):
    for key, value in itertools.product(KEYS, VALUES):
        args = TARGETS[target], KEYS[key], VALUES[value]
        found, expected = _outcome(*args), _by_ops(_outcome, *args)
        assert _close(found, expected), f"x[{key}] = {value}: {found}, not {expected}"


@pytest.mark.parametrize("key", [0, slice(1, 3), (..., 0), [0, 2], "mask", "index"])
@pytest.mark.parametrize("value", [1.0, "tensor"])
def test_a_write_is_one_node_with_the_edges_of_pytorch(key, value):
    x = tg.ones(4, 4, requires_grad=True) * 2
    before = x.grad_fn
    given = tg.ones(4, requires_grad=True) if value == "tensor" else value
    x[{"mask": tg.tensor(MASK), "index": tg.tensor(INDEX)}.get(key, key) if isinstance(key, str) else key] = given
    behind = [edge.node for edge in x.grad_fn.edges]
    assert behind[0] is before and (behind[1] is None if value == 1.0 else behind[1].variable is given)
    assert x.grad_fn.name() == ("IndexPutBackward0" if isinstance(key, (str, list)) else "torch::autograd::CopySlices")


@pytest.mark.parametrize("read", [True, False])
@pytest.mark.parametrize("index", [[True, False], [1, 0]])
def test_a_write_to_an_index_before_the_backward_pass_is_an_error(read, index):
    x, index = tg.ones(2, requires_grad=True) * 1, tg.tensor(index)
    if read:
        x = x[index]
    else:
        x[index] = 0.0
    index[0] = index[1]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        x.sum().backward()


def test_hooks_of_what_was_written_to_see_the_gradient_before_and_after():
    x = tg.ones(3, requires_grad=True)
    y, seen = x * 2, []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y[1] = 0.0
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.sum().backward()
    assert seen == [[1, 1, 1], [1, 0, 1]] and x.grad.tolist() == [2, 0, 2]


def test_writes_of_a_loop_hold_no_copies_of_the_whole():
    x = tg.zeros(1000, 100)
    row = tg.ones(100, requires_grad=True)
    for i in range(50):
        x[i] = row * i
    node, count = x.grad_fn, 0
    while node is not None:
        assert not node.known
        node, count = node.edges[0].node, count + 1
    assert count == 50
    x.sum().backward()
    assert row.grad.tolist() == [sum(range(50))] * 100
