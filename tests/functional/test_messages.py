"""Classes and key phrases of errors, and the results of small expressions, as PyTorch 2.13 has them."""

import copy
import re

import numpy as np
import pytest

ERRORS = [
    ("tg.ones(2) * 2**70", OverflowError, "int too big to convert"),
    ("tg.ones(2) + -(2**64)", OverflowError, "can't convert negative int to unsigned"),
    ("tg.ones(2) > 2**70", OverflowError, "int too big to convert"),
    ("tg.ones(2).fill_(2**70)", OverflowError, "int too big to convert"),
    ("tg.arange(3) * 2**64", OverflowError, "int too big to convert"),
    ("float(tg.ones(2))", ValueError, "only one element tensors can be converted to Python scalars"),
    ("int(tg.ones(2))", ValueError, "only one element tensors can be converted to Python scalars"),
    ("complex(tg.ones(2))", ValueError, "only one element tensors can be converted to Python scalars"),
    ("tg.ones(2).item()", RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar"),
    ("tg.cat([])", ValueError, "torch.cat(): expected a non-empty list of Tensors"),
    ("tg.tensor([1, 'a'])", TypeError, "new(): invalid data type 'str'"),
    ("tg.tensor(['a', 1])", ValueError, "too many dimensions 'str'"),
    ("f'{tg.ones(2):.1f}'", TypeError, "unsupported format string passed to Tensor.__format__"),
    ("tg.isclose(tg.ones(2), tg.ones(2).long())", RuntimeError, "Float did not match Long"),
    ("tg.allclose(tg.ones(2), tg.ones(2).double())", RuntimeError, "Float did not match Double"),
    ("tg.from_numpy(np.ones(3)[::-1])", ValueError, "At least one stride in the given numpy array is negative"),
    ("tg.tensor(np.ones((2, 3))[:, ::-1])", ValueError, "At least one stride in the given numpy array is negative"),
    ("tg.as_tensor(np.ones(3)[::-1])", ValueError, "At least one stride in the given numpy array is negative"),
    ("tg.ones(2, 3) + tg.ones(4, 5)", RuntimeError, "tensor a (3) must match the size of tensor b (5) at non-"),
    ("tg.einsum('ij,jk', tg.ones(2, 3), tg.ones(4, 5))", RuntimeError, "subscript j has size 4 for operand 1 which"),
    ("tg.einsum('ij', tg.ones(2))", RuntimeError, "for operand 0 and no ellipsis was given"),
    ("tg.einsum('i->ij', tg.ones(2))", RuntimeError, "output subscript j does not appear in the equation"),
    ("tg.ones(2, 3) @ tg.ones(3, 2).long()", RuntimeError, "to have the same dtype, but got: float != long int"),
    ("tg.nn.Linear(2, 3)(tg.ones(1, 2).long())", RuntimeError, "must have the same dtype, but got Long and Float"),
    ("tg.ones(2).to('cuda')", AssertionError, "Torch not compiled with CUDA enabled"),
    ("tg.ones(2, device='cuda')", AssertionError, "Torch not compiled with CUDA enabled"),
    ("tg.ones(2).repeat()", TypeError, "repeat() missing 1 required positional arguments"),
    ("tg.ones(2) @ 3", TypeError, "unsupported operand type(s) for @: 'Tensor' and 'int'"),
    ("3 @ tg.ones(2)", TypeError, "unsupported operand type(s) for @: 'int' and 'Tensor'"),
    ("tg.ones(2).type('foo')", ValueError, "invalid type: 'foo'"),
    ("setattr(tg.nn.Linear(2, 3), 'weight', tg.ones(2))", TypeError, "cannot assign 'torch.FloatTensor' as parameter"),
    ("setattr(tg.nn.Linear(2, 3), 'weight', 3)", TypeError, "(torch.nn.Parameter or None expected)"),
    ("setattr(tg.nn.Sequential(tg.nn.Linear(2, 3)), '0', 3)", TypeError, "(torch.nn.Module or None expected)"),
    ("tg.range(1)", TypeError, "'end'"),
    ("tg.range(start=1)", TypeError, "'end'"),
    ("tg.range(end=2)", TypeError, "'start'"),
    ("tg.nn.utils.get_total_norm([None, tg.ones(2)])", AttributeError, "object has no attribute 'device'"),
    ("tg.nn.utils.get_total_norm([tg.ones(2), None])", RuntimeError, "are supposed to be defined but the 1-th Tensor"),
    ("tg.nn.utils.get_total_norm([tg.ones(2), 1.0])", TypeError, "got float in place 1"),
]

#: What is made with gradients, of whole numbers; how it is said there.
LEAVES = {
    "tg.nn.Parameter(tg.tensor(1))": "Only Tensors of floating point and complex dtype can",
    "tg.nn.Parameter(tg.tensor([True]))": "Only Tensors of floating point and complex dtype can",
    "tg.tensor(1, requires_grad=True)": "Only Tensors of floating point and complex dtype can",
    "tg.zeros(1, dtype=tg.int32, requires_grad=True)": "Only Tensors of floating point and complex dtype can",
    "tg.randint(3, (2,), requires_grad=True)": "Only Tensors of floating point and complex dtype can",
    "setattr(tg.tensor(1), 'requires_grad', True)": "only Tensors of floating point and complex dtype can",
    "tg.tensor(1).requires_grad_()": "only Tensors of floating point dtype can",
}
ERRORS += [(expression, RuntimeError, phrase) for expression, phrase in LEAVES.items()]

#: Sequences that hold more than numbers: the error of types of fractions, and of whole numbers.
NO_NUMBERS = {
    "[1, 'a']": "str",
    "[1, '5']": "str",
    "(1, None)": "NoneType",
    "[[1, 2], ['a', 1]]": "str",
    "[[1, 2], [3, None]]": "NoneType",
    "[1, b'a']": "bytes",
    "[1, 1j]": "complex",
    "[1, {}]": "dict",
}
for _data, _name in NO_NUMBERS.items():
    for _of in ("Tensor", "FloatTensor", "DoubleTensor"):
        ERRORS.append((f"tg.{_of}({_data})", TypeError, f"must be real number, not {_name}"))
    ERRORS.append((f"tg.LongTensor({_data})", TypeError, f"'{_name}' object cannot be interpreted as an integer"))
ERRORS += [(f"tg.{of}(['a', 1])", ValueError, "too many dimensions 'str'") for of in ("Tensor", "LongTensor")]


@pytest.mark.parametrize(("expression", "kind", "phrase"), ERRORS)
def test_errors(tg, expression, kind, phrase):
    with pytest.raises(kind, match=re.escape(phrase)) as caught:
        eval(expression, {"tg": tg, "np": np})
    assert caught.type is kind


VALUES = [
    ("reversed(tg.arange(3)).tolist()", [2, 1, 0]),
    ("reversed(tg.tensor(3.0)).item()", 3.0),
    ("repr((1,) + tg.ones(2, 3).shape)", "tracegrad.Size([1, 2, 3])"),
    ("repr(tg.ones(2, 3).shape + (1,))", "tracegrad.Size([2, 3, 1])"),
    ("repr(2 * tg.ones(2, 3).shape)", "tracegrad.Size([2, 3, 2, 3])"),
    ("str(tg.max(tg.eye(2), 0))", "tracegrad.return_types.max(\nvalues=tensor([1., 1.]),\nindices=tensor([0, 1]))"),
    ("type(tg.eye(2).sort()).__name__", "sort"),
    ("tg.topk(tg.arange(3), 1)[0].item()", 2),
    ("tg.ones(2).type('torch.LongTensor').dtype is tg.int64", True),
    ("(lambda x: hash(x) == id(x))(tg.ones(2))", True),
]


@pytest.mark.parametrize(("expression", "value"), VALUES)
def test_values(tg, expression, value):
    assert eval(expression, {"tg": tg}) == value


def test_what_a_post_accumulate_hook_returns_is_refused(tg):
    w = tg.ones(2, requires_grad=True)
    w.register_post_accumulate_grad_hook(lambda w: w.grad)
    with pytest.raises(RuntimeError, match="post accumulate grad hooks should return None"):
        w.sum().backward()


def test_loaded_moments_are_the_tensors_themselves(tg):
    p = tg.nn.Parameter(tg.ones(2))
    optimizer = tg.optim.Adam([p])
    p.sum().backward()
    optimizer.step()
    saved = copy.deepcopy(optimizer.state_dict())
    optimizer.load_state_dict(saved)
    assert all(optimizer.state[p][key] is saved["state"][0][key] for key in ("step", "exp_avg", "exp_avg_sq"))
    optimizer.step()
    assert saved["state"][0]["step"].item() == 2.0


def test_an_optimizer_without_state_saves_none(tg):
    p = tg.nn.Parameter(tg.ones(2))
    optimizer = tg.optim.SGD([p], lr=0.1)
    p.sum().backward()
    optimizer.step()
    assert optimizer.state_dict()["state"] == {}
    assert [optimizer.param_groups[0][key] for key in ("momentum", "dampening", "weight_decay")] == [0, 0, 0]
    assert "weight_decay: 0\n" in repr(optimizer)


def test_batches_are_not_counted_without_statistics(tg):
    norm = tg.nn.BatchNorm1d(2)
    norm.track_running_stats = False
    norm(tg.randn(3, 2))
    assert norm.num_batches_tracked.item() == 0
