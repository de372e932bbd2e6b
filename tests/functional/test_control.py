"""Choices and loops by tensors, eager: one branch runs, PyTorch's values, gradients and rules."""

import math

import pytest
from expected.compare import assert_close

X = [1.0, 2.0]


def ours_only(tg):
    if tg.__name__ != "tracegrad":
        pytest.skip("PyTorch traces both branches here")


@pytest.mark.parametrize("holds", [True, False])
def test_the_branch_and_its_gradient(tg, holds):
    x, y = tg.tensor(X, requires_grad=True), tg.tensor([3.0, 4.0], requires_grad=True)
    out = tg.cond(tg.tensor(holds), lambda x, y: x * y, lambda x, y: x - y, (x, y))
    out.sum().backward()
    assert_close(out, [3.0, 8.0] if holds else [-2.0, -2.0])
    assert_close(x.grad, [3.0, 4.0] if holds else [1.0, 1.0])
    assert_close(y.grad, X if holds else [-1.0, -1.0])


def test_an_operand_that_is_not_used_gets_a_zero_gradient(tg):
    x, y = tg.tensor(X, requires_grad=True), tg.tensor([[math.inf, math.nan]], requires_grad=True)
    out = tg.cond(tg.tensor(True), lambda x, y: x.sin(), lambda x, y: y[0].cos(), (x, y))
    out.sum().backward()
    assert_close(x.grad, [math.cos(1), math.cos(2)], rtol=1e-6)
    assert y.grad.tolist() == [[0.0, 0.0]]


def test_a_constant_result_requires_a_gradient_as_the_operands_do(tg):
    x = tg.tensor(X, requires_grad=True)
    out = tg.cond(tg.tensor(True), lambda x: tg.ones(2), lambda x: x * 2, (x,))
    assert out.requires_grad
    out.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]
    with tg.no_grad():
        assert not tg.cond(tg.tensor(True), lambda x: tg.ones(2), lambda x: x * 2, (x,)).requires_grad


def test_no_nan_from_the_other_branch(tg):
    x = tg.zeros(2, requires_grad=True)
    tg.cond(tg.tensor(True), lambda x: x * 2, lambda x: x.sqrt() / x, (x,)).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("pred", [[True], 2.5, [[0.0]], math.nan, -1, True, False, 0])
def test_what_a_predicate_may_be(tg, pred):
    out = tg.cond(tg.tensor(pred), lambda x: x + 1, lambda x: x * 5, (tg.tensor(X),))
    truth = pred not in ([[0.0]], False, 0)
    assert out.tolist() == ([2.0, 3.0] if truth else [5.0, 10.0])


def test_a_python_predicate_is_an_if(tg):
    x = tg.tensor(X)
    assert tg.cond(True, lambda x: x, lambda x: 1 / 0, (x,)) is x
    assert tg.cond(0.0, lambda x: 1 / 0, lambda x: x, (x,)) is x


def test_nested_operands_and_results(tg):
    x, y = tg.tensor(X), tg.tensor([3.0, 4.0])
    out = tg.cond(
        tg.tensor(True),
        lambda d: {"sum": d["x"][0] + d["y"], "all": (d["y"] * 1, [d["y"] * 2])},
        lambda d: {"sum": d["x"][0] - d["y"], "all": (d["y"] * 3, [d["y"] * 4])},
        ({"x": [x], "y": y},),
    )
    assert out["sum"].tolist() == [4.0, 6.0]
    assert [t.tolist() for t in (out["all"][0], out["all"][1][0])] == [[3.0, 4.0], [6.0, 8.0]]


def test_captured_tensors_and_no_operands(tg):
    w = tg.tensor(X, requires_grad=True)
    tg.cond(tg.tensor(False), lambda: w * 2, lambda: w * 3).sum().backward()
    assert w.grad.tolist() == [3.0, 3.0]


def test_one_branch_draws(tg):
    x = tg.zeros(2)
    drawn = tg.cond(tg.tensor(True), lambda x: x + tg.rand(2), lambda x: x - tg.rand(2), (x,))
    after = tg.rand(2)
    tg.manual_seed(0)
    assert drawn.tolist() == tg.rand(2).tolist() and after.tolist() == tg.rand(2).tolist()


def test_one_branch_runs(tg):
    ours_only(tg)
    x, ran = tg.tensor(X), []
    tg.cond(tg.tensor(True), lambda x: (ran.append("true"), x + 1)[1], lambda x: (ran.append("false"), x)[1], (x,))
    assert ran == ["true"]
    with pytest.raises(ZeroDivisionError):
        tg.cond(tg.tensor(False), lambda x: x, lambda x: 1 / 0, (x,))


def test_results_are_new_tensors(tg):
    ours_only(tg)  # PyTorch refuses a branch that returns its operand
    x = tg.tensor(X)
    for branch in (lambda x: x, lambda x: x.view(2), lambda x: x[:]):
        out = tg.cond(tg.tensor(True), branch, lambda x: x + 1, (x,))
        out.add_(1)
        assert x.tolist() == X and out.tolist() == [2.0, 3.0]


def test_second_derivatives(tg):
    x = tg.tensor(2.0, requires_grad=True)
    y = tg.cond(tg.tensor(True), lambda x: x**3, lambda x: x.sqrt(), (x,))
    (first,) = tg.autograd.grad(y, x, create_graph=tg.__name__ == "tracegrad")
    assert first.item() == 12.0
    if tg.__name__ == "tracegrad":  # PyTorch's has no second one
        first.backward()
        assert x.grad.item() == 12.0


WRONG = [
    (lambda tg, x: tg.cond("yes", abs, abs, (x,)), "Expected pred to be bool or tensor, but got yes"),
    (lambda tg, x: tg.cond(x > 0, abs, abs, (x,)), "Expected pred to be bool or single-element tensor, but got"),
    (lambda tg, x: tg.cond(tg.tensor(True), 3, abs, (x,)), "Expect both branches to be callable"),
    (lambda tg, x: tg.cond(tg.tensor(True), abs, abs, (3,)), "Expect operands to be a tuple of possibly nested"),
    (lambda tg, x: tg.cond(tg.tensor(True), abs, abs, x), "Expect operands to be a tuple of possibly nested"),
    (lambda tg, x: tg.cond(tg.tensor(True), lambda x: None, lambda x: None, (x,)), "unsupported branch return type"),
]


@pytest.mark.parametrize("call, phrase", WRONG, ids=[phrase for _, phrase in WRONG])
def test_wrong_use(tg, call, phrase):
    with pytest.raises(RuntimeError, match=phrase):
        call(tg, tg.tensor(X))


# -------------------------------------------------------------------------------------------------------------- loops


def test_a_loop(tg):
    out = tg.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (tg.tensor(0), tg.ones(2)))
    assert isinstance(out, tuple) and out[0].item() == 3 and out[1].tolist() == [8.0, 8.0]


def test_a_loop_of_ints(tg):
    count, x = tg.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, tg.ones(2)))
    assert count == 3 and x.tolist() == [8.0, 8.0]


def test_a_loop_without_a_round_copies(tg):
    x = tg.ones(2)
    out = tg.while_loop(lambda x: x.sum() < 0, lambda x: (x * 2,), (x,))
    out[0].add_(1)
    assert x.tolist() == [1.0, 1.0]


def test_the_gradient_goes_through_all_rounds(tg):
    ours_only(tg)  # PyTorch 2.13 counts the last round only for tensors that are not carried: 4.5
    w = tg.tensor(1.5, requires_grad=True)
    _, x = tg.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * w), (tg.tensor(0), tg.ones(2)))
    x.sum().backward()
    assert w.grad.item() == 2 * 3 * 1.5**2


def test_a_loop_of_nested_values(tg):
    (out,) = tg.while_loop(
        lambda d: d["i"] < 3,
        lambda d: ({"i": d["i"] + 1, "x": [d["x"][0] * 2]},),
        ({"i": tg.tensor(0), "x": [tg.ones(1)]},),
    )
    assert out["i"].item() == 3 and out["x"][0].item() == 8.0


WRONG_LOOPS = [
    (lambda tg: (3, lambda i: (i,), (tg.tensor(0),)), "Expect cond_fn and body_fn to be callable"),
    (lambda tg: (lambda i: i < 3, lambda i: (i.double(),), (tg.tensor(0),)), "to have same metadata but found"),
    (lambda tg: (lambda x: x.sum() < 3, lambda x: (x.sum(),), (tg.ones(2),)), "to have same metadata but found"),
    (lambda tg: (lambda i, x: i < 3, lambda i, x: (i + 1,), (tg.tensor(0), tg.ones(2))), "Expected body_fn_output and"),
]


@pytest.mark.parametrize("make, phrase", WRONG_LOOPS, ids=range(len(WRONG_LOOPS)))
def test_wrong_loops(tg, make, phrase):
    with pytest.raises(RuntimeError, match=phrase):
        tg.while_loop(*make(tg))


def test_wrong_loops_that_pytorch_calls_otherwise(tg):
    ours_only(tg)
    for cond_fn in (lambda x: x < 3, lambda x: x.sum(), lambda x: 1):
        with pytest.raises(RuntimeError, match="cond_fn must return a boolean scalar tensor or a boolean but got"):
            tg.while_loop(cond_fn, lambda x: (x + 1,), (tg.ones(2),))
    for carried in ((0.5,), ("a",), tg.ones(2)):
        with pytest.raises(RuntimeError, match="tg.while_loop: .*carried_inputs"):
            tg.while_loop(lambda x: True, lambda x: (x,), carried)
    with pytest.raises(RuntimeError, match="the result of body_fn must be a tuple"):
        tg.while_loop(lambda x: True, lambda x: x + 1, (tg.ones(2),))
