"""Operands, indices and gradients where a difference would go unseen. The outcomes are what PyTorch 2.13 gives; of an
error its class, and how its message begins."""

import copy

import numpy as np
import pytest

import tracegrad as tg

F = tg.nn.functional


class Sub(tg.Tensor):
    """Adds nothing: results of operations with it have its class."""


class Dirty(tg.autograd.Function):
    """Twice its operand, which it writes to."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x.mul_(2))
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 2


class OneGradient(tg.autograd.Function):
    """Has two operands and returns one gradient."""

    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g


def inplace_add(r, other):
    before = r
    r += other
    return r is before, r.tolist()


def draws_nothing(call):
    tg.manual_seed(0)
    expected = tg.rand(1).item()
    tg.manual_seed(0)
    call()
    return tg.rand(1).item() == expected


def retained_twice():
    y = tg.ones(1, requires_grad=True) * 2
    y.retain_grad()
    y.backward(retain_graph=True)
    y.backward()
    return y.grad.tolist()


def hook_of_non_leaf():
    y = tg.ones(1, requires_grad=True) * 2
    y.register_hook(lambda g: g * 10)
    return tg.autograd.grad(y * 3, y)[0].tolist()


def gradient(function, values):
    x = tg.tensor(values, requires_grad=True)
    function(x).backward()
    return [round(v, 4) for v in x.grad.tolist()]


def shared_after_deepcopy():
    x = tg.zeros(4)
    a, b = copy.deepcopy([x[:2], x])
    b[0] = 5
    return a.tolist()


def set_all_of_0d():
    t = tg.tensor(1.0)
    t[()] = 3.0
    return t.item()


def indexed_by_0d():
    x = tg.zeros(3, 2)
    x[tg.tensor(1)].add_(1)
    return x.tolist()


def copied_gradient():
    a, b = tg.ones(2, requires_grad=True), tg.ones(2, requires_grad=True)
    c = a * 1
    c.copy_(b).sum().backward()
    return a.grad.tolist(), b.grad.tolist()


def backward_with(dtype):
    x = tg.ones(2, requires_grad=True)
    (x * 2).backward(tg.ones(2, dtype=dtype))
    return x.grad.dtype, x.grad.tolist()


def marked_dirty():
    x = tg.ones(2, requires_grad=True)
    y = x * 1
    z = Dirty.apply(y)
    z.sum().backward()
    return z is y, x.grad.tolist()


def wrong_number_of_gradients():
    x = tg.ones(2, requires_grad=True)
    OneGradient.apply(x, x).sum().backward()


OUTCOMES = [
    ("(tg.ones(2) + np.ones(2)).dtype, type(tg.ones(2) + np.ones(2)).__name__", "(torch.float64, 'Tensor')"),
    (
        "type(np.ones(2) + tg.ones(2)).__name__",
        "TypeError: Concatenation operation is not implemented",
    ),
    ("(tg.ones(2) == np.ones(2)).tolist()", "[True, True]"),
    ("inplace_add(tg.ones(2), np.ones(2, 'float32'))", "(False, [2.0, 2.0])"),
    ("type(np.exp(tg.zeros(2))).__name__", "'Tensor'"),
    ("tg.ones(1, dtype=tg.float64).__array_priority__", "1000"),
    ("tg.tensor(np.float64(1.5)).dtype", "torch.float64"),
    ("tg.tensor([np.float64(1.5)]).dtype", "torch.float64"),
    ("tg.tensor([tg.tensor(1.5, dtype=tg.float64)]).dtype", "torch.float64"),
    ("tg.tensor(np.mean([1.0, 2.0])).dtype", "torch.float64"),
    ("tg.tensor([np.int32(3)]).dtype", "torch.int32"),
    ("(tg.ones(2) * np.float64(2)).dtype", "torch.float32"),
    ("tuple(tg.FloatTensor(tg.Size([2, 3])).shape)", "(2, 3)"),
    ("type((tg.ones(2).as_subclass(Sub) * 2)).__name__", "'Sub'"),
    ("F.mse_loss(tg.ones(2), tg.zeros(2), size_average=False).item()", "2.0"),
    ("F.mse_loss(tg.ones(2), tg.zeros(2), reduce=False).tolist()", "[1.0, 1.0]"),
    (
        "F.embedding(tg.tensor([0.0]), tg.ones(3, 2))",
        "RuntimeError: Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int;",
    ),
    ("F.embedding(tg.tensor([-1]), tg.ones(3, 2))", "IndexError: index out of range in self"),
    ("F.embedding(tg.tensor([3]), tg.ones(3, 2))", "IndexError: index out of range in self"),
    ("tg.ones(3, 2).index_select(0, tg.tensor([-1]))", "IndexError: index out of range in self"),
    ("tg.ones(3, 2).index_select(0, tg.tensor([3]))", "IndexError: index out of range in self"),
    ("F.one_hot(tg.tensor([0.0]))", "RuntimeError: one_hot is only applicable to index tensor of type LongTensor."),
    ("F.one_hot(tg.tensor([-1]), 3)", "RuntimeError: Class values must be non-negative."),
    ("F.one_hot(tg.tensor([3]), 3)", "RuntimeError: Class values must be smaller than num_classes."),
    (
        "F.cross_entropy(tg.ones(2, 3), tg.tensor([0, 1], dtype=tg.int32))",
        "RuntimeError: expected target dtype to be Long or Byte, but got Int",
    ),
    (
        "F.nll_loss(tg.ones(2, 3), tg.tensor([0.0, 1.0]))",
        "RuntimeError: expected target dtype to be Long or Byte, but got Float",
    ),
    ("draws_nothing(lambda: F.dropout(tg.ones(3), 1.0))", "True"),
    ("retained_twice()", "[2.0]"),
    ("hook_of_non_leaf()", "[30.0]"),
    ("gradient(lambda x: x.norm(p=3), [0.0, 0.0])", "[0.0, 0.0]"),
    ("gradient(lambda x: x.norm(p=0.5), [0.0, 1.0])", "[0.0, 1.0]"),
    ("gradient(lambda x: tg.xlogy(x, x).sum(), [0.0])", "[nan]"),
    ("shared_after_deepcopy()", "[5.0, 0.0]"),
    ("set_all_of_0d()", "3.0"),
    ("indexed_by_0d()", "[[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]"),
    ("copied_gradient()", "([0.0, 0.0], [1.0, 1.0])"),
    ("tg.nn.SiLU(inplace=True)(tg.zeros(2)).tolist()", "[0.0, 0.0]"),
    ("abs(tg.full((100000,), 0.1).cumsum(0)[-1].item() - 10000) < 0.02", "True"),
    ("backward_with(tg.float64)", "(torch.float32, [2.0, 2.0])"),
    ("tg.zeros(4).index_fill(0, tg.tensor([1, 1]), 2.0).tolist()", "[0.0, 2.0, 0.0, 0.0]"),
    ("F.gaussian_nll_loss(tg.ones(2, 3), tg.zeros(2, 3), tg.ones(2, 1)).item()", "0.5"),
    ("tuple(F.cosine_similarity(tg.ones(2, 1, 3), tg.ones(4, 3), dim=-1).shape)", "(2, 4)"),
    ("gradient(lambda x: x[tg.tensor([0, 0])].sum(), [1.0, 2.0])", "[2.0, 0.0]"),
    ("marked_dirty()", "(True, [2.0, 2.0])"),
    (
        "wrong_number_of_gradients()",
        "RuntimeError: function OneGradientBackward returned an incorrect number of gradients (expected 2, got 1)",
    ),
    ("tg.tensor([2**63])", "ValueError: Overflow when unpacking long long"),
    ("tg.add(tg.ones(2), None)", "TypeError: add(): argument 'other' (position 2) must be Tensor, not NoneType"),
    ("tg.mul(tg.ones(2), 'a')", "TypeError: mul(): argument 'other' (position 2) must be Tensor, not str"),
    (
        "tg.maximum(tg.ones(2), np.ones(2))",
        "TypeError: maximum(): argument 'other' (position 2) must be Tensor, not numpy.ndarray",
    ),
    (
        "tg.matmul(tg.ones(2), np.ones(2))",
        "TypeError: matmul(): argument 'other' (position 2) must be Tensor, not numpy.ndarray",
    ),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("program", "expected"), OUTCOMES, ids=[program for program, _ in OUTCOMES])
@pytest.mark.long(fast=1)
def test_the_outcome_is_pytorchs(program, expected):
    try:
        outcome = repr(eval(program, {**globals(), "np": np}))
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
        assert outcome.startswith(expected)
    else:
        assert outcome.replace("tracegrad.", "torch.") == expected
