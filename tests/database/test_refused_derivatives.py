"""What of PyTorch's operator database cannot be differentiated: result by result it raises here, too. Long tier.

For each entry without a derivative, the result of each sample whose floating-point inputs require gradients: whether it
requires one, and whether a backward pass from it raises.
"""

import importlib

import pytest

pytestmark = pytest.mark.long
#: Where PyTorch merely lacks a derivative, and this has the right one.
DERIVED = {
    "_softmax_backward_data": "internal",
    "nn_functional_silu_complex": "of complex numbers",
}


@pytest.fixture(scope="session")
def database():
    pytest.importorskip("torch", minversion="2.13")
    return {name: importlib.import_module(f"database.{name}") for name in ("judging", "questions", "conversion")}


def _answers(tensors, attempt):
    """For each result: "constant", "differentiable", or "raises"."""
    found = []
    for x in tensors:
        if not x.requires_grad:
            found.append("constant")
            continue
        _, error = attempt(lambda x=x: x.abs().sum().backward(retain_graph=True))
        found.append("differentiable" if error is None else "raises")
    return found


def _tracked(tensor):
    copy = tensor.detach().clone()
    return copy.requires_grad_() if copy.dtype.is_floating_point or copy.dtype.is_complex else copy


def test_what_has_no_derivative_raises(database):
    torch = importlib.import_module("torch")
    questions, conversion = database["questions"], database["conversion"]
    wrong, asked = {}, 0
    for op in database["judging"].entries():
        if torch.float64 not in op.supported_dtypes("cpu") or torch.float64 in op.supported_backward_dtypes("cpu"):
            continue
        question = questions.Question(op, torch.float64, 4)
        ours = question.function()
        for each in question.samples(False):
            each.input, each.kwargs = (conversion.replaced(x, _tracked) for x in (each.input, each.kwargs))
            each.args = tuple(conversion.replaced(each.args, _tracked))
            sample = conversion.Sample(each)
            theirs, error = questions.attempt(op.op, each.input, *each.args, **each.kwargs)
            if error is not None:
                continue
            own = ours(*sample.args, **sample.kwargs)
            answers = [_answers(conversion.tensors_in(x), questions.attempt) for x in (theirs, own)]
            asked += 1
            if answers[0] != answers[1] and op.formatted_name not in DERIVED:
                wrong[op.formatted_name] = answers
    assert wrong == {} and asked > 100
