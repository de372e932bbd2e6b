"""What optimizers refuse, and what their state is: found by PyTorch's database of optimizers (database/optimizers)."""

import contextlib
import decimal
import fractions

import numpy as np
import pytest


@pytest.mark.parametrize("name", ["Adam", "AdamW"])
@pytest.mark.parametrize("betas", [(0.9, None), (None, 0.9), (0, 0.9)])
def test_betas_of_one_kind(tg, name, betas):
    betas = tuple(tg.tensor(0.5) if b is None else b for b in betas)
    with pytest.raises(ValueError, match="betas must be either both floats or both Tensors"):
        getattr(tg.optim, name)([tg.nn.Parameter(tg.ones(2))], betas=betas)


def test_betas_that_are_tensors(tg):
    w = tg.nn.Parameter(tg.ones(2))
    betas = (tg.tensor(0.5), tg.tensor(0.5))
    with pytest.raises(ValueError, match="betas.0. as a Tensor is not supported for capturable=False and foreach=True"):
        tg.optim.Adam([w], betas=betas, foreach=True)
    with pytest.raises(ValueError, match="Tensor betas.1. must be 1-element"):
        tg.optim.Adam([w], betas=(betas[0], tg.tensor([0.5, 0.5])))
    optimizer = tg.optim.Adam([w], lr=0.5, betas=betas)
    w.grad = tg.ones(2)
    optimizer.step()
    assert w.tolist() == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("name", ["Adam", "AdamW", "SGD", "Adagrad"])
def test_fused_steps_take_no_complex_parameters(tg, name):
    w = tg.nn.Parameter(tg.ones(2, dtype=tg.complex128))
    optimizer = getattr(tg.optim, name)([w], fused=True)
    w.grad = tg.ones_like(w)
    with pytest.raises(RuntimeError, match="`fused=True` requires all the params to be floating point Tensors"):
        optimizer.step()
    assert w.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["SGD", "Adagrad"])
def test_differentiable_steps_with_sparse_gradients(tg, name):
    table = tg.nn.Embedding(4, 2, sparse=True)
    optimizer = getattr(tg.optim, name)(table.parameters(), differentiable=True)
    table(tg.tensor([1, 2])).sum().backward()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        optimizer.step()


def test_sparse_parameters_of_sparse_adam(tg):
    rows = tg.sparse_coo_tensor(tg.tensor([[1]]), tg.tensor([2.0]), (3,))
    dense = tg.nn.Parameter(tg.ones(2))
    for params, at in (([rows], "0, 0"), ([dense, rows], "0, 1"), ([{"params": [dense]}, {"params": [rows]}], "1, 0")):
        with pytest.raises(ValueError, match=rf"Sparse params at indices \[\[{at}\]\]: SparseAdam requires dense"):
            tg.optim.SparseAdam(params)


def test_the_count_of_sparse_adam_stays_a_number(tg):
    table = tg.nn.Embedding(4, 2, sparse=True)
    optimizer = tg.optim.SparseAdam(table.parameters())
    table(tg.tensor([1, 2])).sum().backward()
    optimizer.step()
    other = tg.optim.SparseAdam(table.parameters())
    other.load_state_dict(optimizer.state_dict())
    step = other.state_dict()["state"][0]["step"]
    assert type(step) is int and step == 1


def test_the_state_of_lbfgs(tg):
    w = tg.nn.Parameter(tg.ones(3))
    optimizer = tg.optim.LBFGS([w], max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = ((w * tg.tensor([1.0, 2.0, 3.0])) ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    state = optimizer.state_dict()["state"][0]
    assert list(state)[:5] == ["func_evals", "n_iter", "al", "d", "t"] and list(state)[-1] == "prev_loss"
    assert type(state["t"]) is int and state["t"] == 1


def test_complex_modules(tg):
    model = tg.nn.Sequential(tg.nn.Linear(2, 1), tg.nn.BatchNorm1d(1))
    with pytest.warns(UserWarning, match="Complex modules are a new feature under active development"):
        model.to(tg.complex64)
    kinds = {str(x.dtype).rpartition(".")[2] for x in model.state_dict().values()}
    assert kinds == {"complex64", "int64"}
    assert model.double()[0].weight.dtype is tg.complex64 and model.to(tg.float64)[0].weight.dtype is tg.float64
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        model.to(tg.int64)


#: PyTorch's, after manual_seed(68) and manual_seed(42).
RAND = [0.3984375, 0.55078125, 0.1005859375, 0.28515625, 0.0, 0.70703125, 0.8046875, 0.20703125]
UNIFORM = [-0.060546875, 0.03125, -0.2392578125, -0.12890625, -0.30078125, 0.12451171875, 0.181640625, -0.17578125]
NORMAL = [0.10100710391998291, 0.038642819970846176, 0.07033871114253998]


def test_draws_of_short_types_lie_below_their_bound(tg):
    tg.manual_seed(68)
    assert tg.rand(8, dtype=tg.bfloat16).tolist() == RAND
    tg.manual_seed(68)
    assert tg.empty(8, dtype=tg.bfloat16).uniform_(-0.3, 0.3).tolist() == UNIFORM
    assert float(tg.rand(4000, dtype=tg.float16).max()) < 1.0


def test_few_normal_numbers_are_rounded_once(tg, maybe_compile):
    draw = maybe_compile(lambda: tg.empty(3).normal_(0.0, 0.3))
    for _ in range(3):
        tg.manual_seed(42)
        assert draw().tolist() == NORMAL


@pytest.mark.parametrize("name", ["SGD", "Adam", "RAdam", "Adagrad", "Adafactor"])
@pytest.mark.parametrize("rate", ["0.1", "x", None, [0.1], 1j])
def test_rates_that_are_no_numbers(tg, name, rate):
    w = tg.nn.Parameter(tg.ones(2))
    with pytest.raises(TypeError):
        getattr(tg.optim, name)([w], lr=rate)
    optimizer = getattr(tg.optim, name)([w])
    optimizer.param_groups[0]["lr"], w.grad = rate, tg.ones(2)
    with pytest.raises(TypeError):
        optimizer.step()
    assert w.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["SGD", "Adam", "ASGD"])
def test_rates_of_other_kinds_of_numbers(tg, name):
    w = tg.nn.Parameter(tg.ones(2))
    optimizer = getattr(tg.optim, name)([w])
    for rate in (fractions.Fraction(1, 10), decimal.Decimal("0.1"), tg.ones(2)):
        optimizer.param_groups[0]["lr"], w.grad = rate, tg.ones(2)
        with pytest.raises(TypeError):
            optimizer.step()
    assert w.tolist() == [1, 1]
    for rate in (np.float32(0.125), np.array(0.125), 0, True, tg.tensor([0.125])):
        optimizer.param_groups[0]["lr"], w.grad = rate, tg.ones(2)
        optimizer.step()
    assert max(w.tolist()) < 1


def test_options_that_are_gone(tg):
    w = tg.nn.Parameter(tg.ones(2))
    optimizer = tg.optim.Adam([w])
    w.grad = tg.ones(2)
    optimizer.step()
    del optimizer.param_groups[0]["betas"]
    with pytest.raises(KeyError, match="betas"):
        optimizer.step()
    assert optimizer.state[w]["step"].item() == 1


def test_corrections_of_nothing(tg):
    """What PyTorch divides by 0 as a tensor is infinite; what it divides in Python raises, after the moments."""
    w = tg.nn.Parameter(tg.ones(1))
    optimizer = tg.optim.Adam([w], lr=0.1)
    for betas, raises in (((0.5, 1.0), None), ((1.0, 0.5), ZeroDivisionError)):
        optimizer.param_groups[0]["betas"], w.grad = betas, tg.ones(1)
        with contextlib.nullcontext() if raises is None else pytest.raises(raises):
            optimizer.step()
    state = optimizer.state[w]
    assert [state[name].item() for name in ("step", "exp_avg", "exp_avg_sq")] == [2, 0.5, 0.5]


def test_dense_gradients_of_sparse_adam_make_no_state(tg):
    w = tg.nn.Parameter(tg.ones(2))
    optimizer = tg.optim.SparseAdam([w])
    w.grad = tg.ones(2)
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients"):
        optimizer.step()
    assert not optimizer.state
