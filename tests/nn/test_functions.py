"""Functions of ``nn.functional`` by family, against PyTorch's numbers, gradients and draws: eager and compiled."""

import numpy as np
import pytest
from expected import nn_functions
from expected.compare import assert_close, load
from expected.nn_functions import ARRAYS, DRAWN, EXPRESSIONS, FAMILIES
from expected.programs import leaves, program, stored_case, value_and_gradients

STORED = load("nn_functions")
# Sums of some tens of float64 numbers of order one, powers and logarithms of them.
TOLERANCE = {"rtol": 1e-10, "atol": 1e-11}


@pytest.mark.filterwarnings("ignore:dropout2d", "ignore:lr_scheduler")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values_and_gradients(tg, expression):
    found, expected = value_and_gradients(tg, expression, ARRAYS), stored_case(STORED, expression)
    assert found.keys() == expected.keys()
    for name, value in found.items():
        assert_close(value, expected[name], **TOLERANCE)


def joint(tg, expressions):
    """One function of all arrays: the values of several expressions, and each one's gradients."""
    parts = [program(tg, expression, ARRAYS) for expression in expressions]

    def run(*tensors):
        found = []
        for part in parts:
            for tensor in tensors:
                tensor.grad = None
            found.append({name: value * 1 for name, value in part(*tensors).items()})
        return found

    return run


def check_compiled(tg, expressions):
    compiled = tg.compile(joint(tg, expressions))
    for call in range(4):
        tensors = leaves(tg, ARRAYS)
        for expression, found in zip(expressions, compiled(*tensors), strict=True):
            expected = stored_case(STORED, expression)
            assert found.keys() == expected.keys(), (expression, call)
            for name, value in found.items():
                assert_close(value, expected[name], **TOLERANCE)
    return compiled


#: The first ones of each family, in the fast tier; all of them are compiled in the long one.
@pytest.mark.long(fast="first")
@pytest.mark.parametrize("family", FAMILIES)
def test_compiled(tg, family):
    assert check_compiled(tg, FAMILIES[family][:4]).way == "replay"


@pytest.mark.long(every=17)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_each_compiled(tg, expression):
    check_compiled(tg, [expression])


def test_numbers_of_other_calls(tg):
    """A replay computes with the numbers of its own call."""

    def step(image, grid, logits, places, starts, table):
        F = tg.nn.functional
        sampled = F.grid_sample(F.interpolate(image, scale_factor=2, mode="bilinear"), grid, align_corners=False)
        loss = F.ctc_loss(F.log_softmax(logits, 2), tg.tensor([[1, 2], [3, 3]]), (6, 6), (2, 1))
        bags = F.embedding_bag(places, table, starts)
        total = (sampled**2).sum() + loss + (bags**3).sum()
        return total, *tg.autograd.grad(total, (image, grid, logits, table))

    compiled = tg.compile(step)
    for call in range(5):
        draw = np.random.default_rng(call)
        floats = [tg.tensor(draw.normal(size=s)) for s in ((2, 3, 4, 4), (2, 5, 2, 2), (6, 2, 4), (6, 3))]
        image, grid, logits, table = [x.requires_grad_() for x in floats]
        places, starts = tg.tensor(draw.integers(0, 6, 9)), tg.tensor([0, *sorted(draw.integers(0, 9, 2).tolist())])
        args = (image, grid, logits, places, starts, table)
        for found, expected in zip(compiled(*args), step(*args), strict=True):
            assert_close(found, expected, **TOLERANCE)


@pytest.mark.filterwarnings("ignore:dropout2d")
@pytest.mark.parametrize("expression", DRAWN)
def test_draws(tg, expression):
    expected = [STORED[f"{expression}|{i}"] for i in range(sum(key.startswith(f"{expression}|") for key in STORED))]
    for found, value in zip(nn_functions.drawn(tg, expression), expected, strict=True):
        assert_close(found, value, **TOLERANCE)


@pytest.mark.filterwarnings("ignore:dropout2d")
@pytest.mark.parametrize("expression", [e for e in DRAWN if "nn." not in e])
def test_compiled_draws(tg, expression):
    wanted = nn_functions.drawn(tg, expression, calls=4)
    for found, value in zip(nn_functions.drawn(tg, expression, tg.compile, 4), wanted, strict=True):
        assert_close(found, value, **TOLERANCE)


SECOND = [
    "F.group_norm(image, 2, w4)", "F.instance_norm(row)", "F.local_response_norm(row, 3, 0.5)",
    "F.interpolate(image, (3, 9), mode='bicubic')", "F.grid_sample(image, grid, align_corners=False)",
    "F.triplet_margin_loss(a, b, c)", "F.soft_margin_loss(a, sides)",
    "F.embedding_bag(places, table ** 2, starts)", "F.cosine_embedding_loss(a, b, side)",
    "F.multi_margin_loss(a, classes, 2)",
]  # fmt: skip


@pytest.mark.long(fast="first", every=5)
@pytest.mark.parametrize("expression", SECOND)
def test_second_derivatives(tg, expression):
    names = [
        n for n, x in ARRAYS.items() if n in expression and x.dtype.kind == "f" and f"{n}.detach" not in expression
    ]
    names = [n for n in names if n not in ("side", "sides", "grid3", "z", "c") or n == "c" and "b, c" in expression]
    inputs = [tg.tensor(ARRAYS[n] * (0.37 if n == "grid" else 1), requires_grad=True) for n in names]
    held = {n: tg.tensor(x) for n, x in ARRAYS.items()}

    def function(*tensors):
        return eval(expression, {"F": tg.nn.functional, **held, **dict(zip(names, tensors, strict=True))})

    assert inputs and tg.autograd.gradcheck(function, inputs) and tg.autograd.gradgradcheck(function, inputs)


def test_embedding_bag_scaled_by_frequency(tg):
    """Each row's gradient is divided by how often it is met; PyTorch 2.13 divides by another row's count here."""
    table = tg.tensor(ARRAYS["table"], requires_grad=True)
    out = tg.nn.functional.embedding_bag(tg.tensor(ARRAYS["bags"]), table, mode="sum", scale_grad_by_freq=True)
    out.backward(tg.tensor(np.arange(6.0).reshape(2, 3)))
    assert table.grad.tolist() == [[0, 1, 2], [3, 4, 5], [3, 4, 5], [0, 0, 0], [0, 1, 2], [3, 4, 5]]


def test_second_derivative_of_ctc_is_refused(tg):
    logs = tg.tensor(ARRAYS["scores"]).log_softmax(2).requires_grad_()
    loss = tg.nn.functional.ctc_loss(logs, tg.tensor(ARRAYS["spelled"]), (7, 7, 7), (3, 3, 3))
    (gradient,) = tg.autograd.grad(loss, logs, create_graph=True)
    with pytest.raises(RuntimeError, match="derivative for aten::_ctc_loss_backward is not implemented"):
        tg.autograd.grad(gradient.sum(), logs)
    with pytest.raises(RuntimeError, match="_ctc_loss_backward"):
        tg.autograd.gradgradcheck(
            lambda x: tg.nn.functional.ctc_loss(x.log_softmax(2), tg.tensor([[1, 2]]), (4,), (2,)),
            (tg.zeros(4, 1, 3, dtype=tg.float64, requires_grad=True),),
        )


def test_resizing_is_few_operations(tg):
    """A whole factor is a broadcast, another one a product for each axis."""
    F = tg.nn.functional
    for mode, most in (("nearest", 12), ("bilinear", 16), ("bicubic", 16)):
        step = tg.compile(lambda x, mode=mode: F.interpolate(x, scale_factor=2, mode=mode))
        x = tg.ones(1, 2, 8, 8)
        step(x), step(x)
        assert str(step.graph).count("\n") <= most, step.graph
