"""Values and gradients of what programs call (stored; see expected/tensor_ops.py), and errors of wrong arguments."""

import pytest
from expected.compare import assert_close, load
from expected.programs import stored_case, value_and_gradients
from expected.tensor_ops import ARRAYS, EXPRESSIONS

STORED = load("tensor_ops")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_value_and_gradients(tg, expression):
    found, expected = value_and_gradients(tg, expression, ARRAYS), stored_case(STORED, expression)
    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name].numpy().dtype == expected[name].dtype
        assert_close(found[name], expected[name])


@pytest.mark.parametrize(
    "expression, error, phrase",
    [
        ("tg.ones(2, 3) @ tg.ones(2, 3)", RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 2x3\)"),
        ("tg.mm(tg.ones(2), tg.ones(2, 2))", RuntimeError, "self must be a matrix"),
        ("tg.ones(2).dot(tg.ones(3))", RuntimeError, "inconsistent tensor size"),
        ("tg.bmm(tg.ones(2, 2, 2), tg.ones(3, 2, 2))", RuntimeError, "batch"),
        ("tg.ones(2, 3).view(5)", RuntimeError, r"shape '\[5\]' is invalid for input of size 6"),
        ("tg.ones(2, 3).reshape(4, -1)", RuntimeError, r"shape '\[4, -1\]' is invalid for input of size 6"),
        ("tg.ones(2, 3).t().view(6)", RuntimeError, "view size is not compatible with input tensor's size and stride"),
        (
            "tg.ones(2, 3).sum(2)",
            IndexError,
            r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)",
        ),
        ("tg.ones(2, 3).transpose(0, 3)", IndexError, "Dimension out of range"),
        ("tg.ones(2, 3).permute(0, 0)", RuntimeError, "duplicate dims|repeated dim"),
        ("tg.cat([tg.ones(2, 3), tg.ones(2, 4)])", RuntimeError, "Sizes of tensors must match except in dimension 0"),
        ("tg.stack([tg.ones(2), tg.ones(3)])", RuntimeError, "stack expects each tensor to be equal size"),
        ("tg.cat([])", (RuntimeError, ValueError), "expected a non-empty list of Tensors"),
        (
            "tg.ones(2, 3).expand(2, 4)",
            RuntimeError,
            "expanded size of the tensor .4. must match the existing size .3.",
        ),
        ("tg.ones(2, 2, 2).t()", RuntimeError, r"t\(\) expects a tensor with <= 2 dimensions"),
        ("tg.ones(2) + 'a'", TypeError, "unsupported operand type"),
        ("tg.tensor('a')", (TypeError, ValueError), "new\\(\\): invalid data type 'str'|too many dimensions 'str'"),
        ("tg.tensor([[1, 2], [3]])", ValueError, "expected sequence of length 2 at dim 1"),
        ("tg.zeros(-1)", RuntimeError, "must be non-negative|negative dimension -1"),
        ("tg.zeros(0).max()", RuntimeError, "Expected reduction dim to be specified for input.numel"),
        ("tg.zeros(0).argmax()", (IndexError, RuntimeError), "Expected reduction dim to be specified"),
        ("tg.zeros(2, 0).max(1)", IndexError, r"^max\(\): Expected reduction dim 1 to have non-zero size"),
        ("tg.zeros(0, 2).min(0)", IndexError, r"^min\(\): Expected reduction dim 0 to have non-zero size"),
        ("F.cross_entropy(tg.ones(2, 3), tg.tensor([0, 3]))", IndexError, "Target 3 is out of bounds"),
        (
            "F.cross_entropy(tg.ones(2, 3), tg.tensor([0]))",
            ValueError,
            r"Expected input batch_size \(2\) to match target batch_size \(1\)",
        ),
        (
            "F.binary_cross_entropy_with_logits(tg.ones(2), tg.ones(3))",
            ValueError,
            r"Target size .* must be the same as input size",
        ),
        ("F.nll_loss(tg.ones(2, 3), tg.ones(2))", RuntimeError, "to be Long"),
        ("nn.Linear(3, 2)(tg.ones(4, 5))", RuntimeError, "shapes cannot be multiplied"),
        ("nn.Linear(3, 2)(tg.ones(4, 3, dtype=tg.float64))", RuntimeError, "must have the same dtype"),
        ("F.dropout(tg.ones(2), 1.5)", ValueError, "dropout probability has to be between 0 and 1, but got 1.5"),
        ("tg.multinomial(tg.tensor([1.0, -1.0]), 1)", RuntimeError, "probability tensor contains either"),
        ("tg.ones(2).clamp()", (RuntimeError, ValueError), "At least one of 'min' or 'max' must not be None"),
        ("tg.arange(0, 3, 0)", RuntimeError, "step must be nonzero"),
        ("tg.ones(2).to(tg.int64).requires_grad_()", RuntimeError, "only Tensors of floating point"),
        ("tg.ones(2).nothing", AttributeError, "object has no attribute 'nothing'"),
    ],
)
def test_error(tg, expression, error, phrase):
    with pytest.raises(error, match=phrase):
        eval(expression, {"tg": tg, "F": tg.nn.functional, "nn": tg.nn})
