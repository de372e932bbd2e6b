"""grad_fn: PyTorch's names of the backward functions and the edges between them."""

import pytest

# Expression in the leaves a (2x2), b (2x2), v (2) and in the library tg -> name of its backward function.
NAMES = {
    "a + b": "AddBackward0",
    "a - b": "SubBackward0",
    "a * b": "MulBackward0",
    "a / b": "DivBackward0",
    "1 + a": "AddBackward0",
    "1 - a": "RsubBackward1",
    "2 * a": "MulBackward0",
    "-a": "NegBackward0",
    "a ** 2": "PowBackward0",
    "a ** b": "PowBackward1",
    "a @ b": "MmBackward0",
    "tg.mm(a, b)": "MmBackward0",
    "a @ v": "MvBackward0",
    "v @ v": "DotBackward0",
    "tg.bmm(a[None], b[None])": "BmmBackward0",
    "a.sum()": "SumBackward0",
    "a.sum(dim=0)": "SumBackward1",
    "a.mean()": "MeanBackward0",
    "a.mean(dim=1)": "MeanBackward1",
    "a.exp()": "ExpBackward0",
    "a.log()": "LogBackward0",
    "a.sin()": "SinBackward0",
    "a.cos()": "CosBackward0",
    "a.tanh()": "TanhBackward0",
    "a.sqrt()": "SqrtBackward0",
    "a.abs()": "AbsBackward0",
    "a.relu()": "ReluBackward0",
    "a.sigmoid()": "SigmoidBackward0",
    "a.t()": "TBackward0",
    "a.T": "PermuteBackward0",
    "a.transpose(0, 1)": "TransposeBackward0",
    "a.permute(1, 0)": "PermuteBackward0",
    "a.view(4)": "ViewBackward0",
    "a.reshape(4)": "ViewBackward0",
    "a.flatten()": "ViewBackward0",
    "a.unsqueeze(0)": "UnsqueezeBackward0",
    "a[None].squeeze(0)": "SqueezeBackward1",
    "a.expand(3, 2, 2)": "ExpandBackward0",
    "a.clone()": "CloneBackward0",
    "a[0]": "SelectBackward0",
    "a[0:1]": "SliceBackward0",
    "a[tg.tensor([0])]": "IndexBackward0",
    "a.max()": "MaxBackward1",
    "a.max(dim=0)[0]": "MaxBackward0",
    "tg.maximum(a, b)": "MaximumBackward0",
    "a.clamp(0, 1)": "ClampBackward1",
    "tg.cat([a, b])": "CatBackward0",
    "tg.stack([a, b])": "StackBackward0",
    "tg.where(a > 0, a, b)": "WhereBackward0",
    "a.double()": "ToCopyBackward0",
    "a.gather(0, tg.tensor([[0, 1]]))": "GatherBackward0",
    "a.softmax(dim=1)": "SoftmaxBackward0",
    "a.log_softmax(dim=1)": "LogSoftmaxBackward0",
    "a.pow(2)": "PowBackward0",
    "a.std()": "StdBackward0",
    "a.var()": "VarBackward0",
    "a.prod()": "ProdBackward0",
    "a.cumsum(0)": "CumsumBackward0",
    "tg.nn.functional.linear(a, b, v)": "AddmmBackward0",
    "tg.nn.functional.mse_loss(a, b)": "MseLossBackward0",
    "tg.nn.functional.cross_entropy(a, tg.tensor([0, 1]))": "NllLossBackward0",
    "tg.nn.functional.leaky_relu(a)": "LeakyReluBackward0",
    "tg.nn.functional.gelu(a)": "GeluBackward0",
    "tg.nn.functional.softplus(a)": "SoftplusBackward0",
    "tg.nn.functional.silu(a)": "SiluBackward0",
    "tg.nn.functional.elu(a)": "EluBackward0",
    "tg.nn.functional.l1_loss(a, b)": "MeanBackward0",
    "tg.nn.functional.binary_cross_entropy_with_logits(a, b)": "BinaryCrossEntropyWithLogitsBackward0",
}


def leaves(tg):
    return {
        "tg": tg,
        "a": tg.rand(2, 2, requires_grad=True),
        "b": tg.rand(2, 2, requires_grad=True),
        "v": tg.rand(2, requires_grad=True),
    }


@pytest.mark.parametrize("expression", NAMES)
def test_name(tg, expression):
    grad_fn = eval(expression, leaves(tg)).grad_fn
    assert type(grad_fn).__name__ == grad_fn.name().split("::")[-1] == NAMES[expression]
    assert f"<{NAMES[expression]} object at 0x" in repr(grad_fn)


def test_repr_of_a_result_names_it(tg):
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    assert repr(x * 2) == "tensor([2., 4.], grad_fn=<MulBackward0>)"
    assert repr(x.sum()) == "tensor(3., grad_fn=<SumBackward0>)"
    assert repr((x * 2).double()) == "tensor([2., 4.], dtype=torch.float64, grad_fn=<ToCopyBackward0>)".replace(
        "torch", tg.__name__
    )


def test_edges_lead_to_the_leaves(tg):
    x, y = tg.ones(2, requires_grad=True), tg.ones(2, requires_grad=True)
    function = (x * y + x).grad_fn
    (product, index), (accumulate, _) = function.next_functions
    assert index == 0
    assert type(product).__name__ == "MulBackward0" and type(accumulate).__name__ == "AccumulateGrad"
    assert accumulate.variable is x
    assert [edge[0].variable is leaf for edge, leaf in zip(product.next_functions, (x, y), strict=True)] == [True, True]
    assert accumulate.next_functions == ()


def test_one_leaf_has_one_accumulator(tg):
    x = tg.ones(2, requires_grad=True)
    (first, _), (second, _) = (x * x).grad_fn.next_functions
    assert first is second


def test_untracked_operands_have_no_edge(tg):
    x = tg.ones(2, requires_grad=True)
    assert (x * tg.ones(2)).grad_fn.next_functions[1] == (None, 0)
    assert len((x * 2).grad_fn.next_functions) == 2


def test_linear_is_one_addmm(tg):
    layer = tg.nn.Linear(3, 2)
    names = [type(edge).__name__ for edge, _ in layer(tg.ones(4, 3)).grad_fn.next_functions]
    assert names == ["AccumulateGrad", "NoneType", "TBackward0"]


def test_several_outputs_are_numbered(tg):
    x = tg.ones(4, requires_grad=True)
    first, second = x.chunk(2)
    (_, index_first), (_, index_second) = (first + second).grad_fn.next_functions
    assert (index_first, index_second) == (0, 1)
    assert type(first.grad_fn).__name__ == "SplitBackward0"
    assert x.unbind()[1].grad_fn.name() == "UnbindBackward0"


def test_in_place_operation_renames(tg):
    x = tg.ones(2, requires_grad=True)
    y = x * 2
    y += 1
    assert type(y.grad_fn).__name__ == "AddBackward0"
    y[0] = 3.0
    assert type(y.grad_fn).__name__ == "CopySlices"
