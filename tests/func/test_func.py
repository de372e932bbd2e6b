"""Derivatives as functions, maps over batches and modules as functions, as PyTorch 2.13 has them."""

import json
import warnings

import numpy as np
import pytest
from expected import func_cases as cases
from expected.compare import STORE, load
from expected.packing import unpacked

STORED = unpacked(load("func"))
TEXTS = json.loads((STORE / "func.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("expression", cases.EXPRESSIONS)
def test_results(tg, expression):
    found, wanted = cases.evaluated(tg, expression), STORED[expression]
    assert set(found) == set(wanted)
    for key, expected in wanted.items():
        assert (found[key].dtype, found[key].shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found[key], expected, rtol=1e-12)  # some tens of roundings


@pytest.mark.parametrize("expression", cases.ERRORS)
def test_errors(tg, expression):
    assert cases.refused(tg, expression) == TEXTS[expression]


def test_results_are_differentiated_by_what_is_around(tg):
    """Inputs that require gradients, and tensors that a function closes over, stay in the graph; others do not."""
    x, w = tg.tensor([1.0, 2.0], requires_grad=True), tg.tensor([3.0, 4.0], requires_grad=True)
    tg.func.grad(lambda x: (x**3).sum())(x).sum().backward()
    assert tg.equal(x.grad, 6 * x.detach())
    tg.func.grad(lambda y: (y**2 * w).sum())(x.detach()).sum().backward()
    assert tg.equal(w.grad, 2 * x.detach())
    assert not tg.func.grad(lambda y: (y**2).sum())(x.detach()).requires_grad
    with tg.no_grad():
        assert not tg.func.grad(lambda y: (y**2 * w).sum())(x).requires_grad
    assert x.grad is not None and x.requires_grad


def test_random_numbers_of_slices(tg):
    x = tg.zeros(4)
    same = tg.vmap(lambda x: x + tg.rand(3), randomness="same")(x)
    assert same.shape == (4, 3) and all(tg.equal(row, same[0]) for row in same)
    different = tg.vmap(lambda x: x + tg.rand(3), randomness="different")(x)
    assert len({tuple(row.tolist()) for row in different}) == 4
    state = tg.get_rng_state()
    with pytest.raises(RuntimeError, match="randomness error mode"):
        tg.vmap(lambda x: x + tg.rand(3))(x)
    assert tg.equal(tg.get_rng_state(), state)


def test_the_normal_number_that_is_ready_is_a_random_number(tg, maybe_compile):
    """Normal numbers are drawn in pairs: taking the second one leaves the words of the state as they are."""
    mapped = maybe_compile(lambda x: tg.vmap(lambda x: x + tg.randn(1))(x))
    for _ in range(3):
        tg.manual_seed(0)
        tg.randn(1)
        with pytest.raises(RuntimeError, match="randomness error mode"):
            mapped(tg.ones(1))


def test_modules_as_functions(tg):
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 1))
    x, before = tg.randn(5, 3), dict(model.named_parameters())
    params = {name: tg.ones(p.shape) for name, p in before.items()}
    out = tg.func.functional_call(model, params, (x,))
    assert tg.allclose(out, 4 * (x.sum(1, keepdim=True) + 1).tanh() + 1)
    slopes = tg.func.grad(lambda params: tg.func.functional_call(model, params, x).sum())(params)
    assert {name: g.shape for name, g in slopes.items()} == {name: p.shape for name, p in before.items()}
    with pytest.raises(RuntimeError):
        tg.func.functional_call(model, {"0.weight": tg.ones(2, 2)}, x)
    assert all(p is before[name] for name, p in model.named_parameters())  # also after an error
    tg.func.functional_call(model, {"0.other": x}, x)
    assert not hasattr(model[0], "other")


def test_tied_weights_are_replaced_together(tg):
    class Tied(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = tg.nn.Linear(2, 2, bias=False)
            self.b = tg.nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    model, x = Tied(), tg.ones(1, 2)
    double = {"a.weight": 2 * tg.eye(2)}
    assert tg.equal(tg.func.functional_call(model, double, x), 4 * x)
    apart = tg.func.functional_call(model, double, x, tie_weights=False)
    assert tg.allclose(apart, 2 * model.b(x))


def test_ensembles_and_gradients_of_each_sample(tg):
    models = [tg.nn.Linear(3, 2) for _ in range(4)]
    params, buffers = tg.func.stack_module_state(models)
    assert not buffers and params["weight"].is_leaf and params["weight"].requires_grad
    base, x = models[0], tg.randn(5, 3)
    out = tg.vmap(lambda p: tg.func.functional_call(base, p, (x,)))(params)
    for model, wanted in zip(models, out, strict=True):
        assert tg.allclose(model(x), wanted)
    out.sum().backward()
    assert params["weight"].grad.shape == (4, 2, 3)

    single = {name: p.detach() for name, p in base.named_parameters()}

    def loss(params, x):
        return tg.func.functional_call(base, params, x).pow(2).sum()

    each = tg.vmap(tg.func.grad(loss), in_dims=(None, 0))(single, x)
    for place in range(5):
        base.zero_grad()
        base(x[place]).pow(2).sum().backward()
        assert tg.allclose(each["weight"][place], base.weight.grad)


def test_batch_norms_without_running_statistics(tg):
    model = tg.nn.Sequential(tg.nn.Linear(2, 3), tg.nn.BatchNorm1d(3))
    assert tg.func.replace_all_batch_norm_modules_(model) is model
    out = model.eval()(tg.randn(50, 2))
    assert list(model[1].buffers()) == [] and tg.allclose(out.mean(0), tg.zeros(3), atol=1e-6)


@pytest.mark.long(fast=3)
@pytest.mark.parametrize("way", ["grad", "vmap of grad", "hessian", "jvp", "functional_call", "random"])
def test_compiled_functions(tg, way):
    model = tg.nn.Linear(3, 2)
    params = {name: p.detach().clone() for name, p in model.named_parameters()}

    def loss(params, x):
        return tg.func.functional_call(model, params, x).pow(2).sum()

    steps = {
        "grad": lambda x: tg.func.grad(lambda x: x.sin().sum())(x),
        "vmap of grad": lambda x: tg.vmap(tg.func.grad(lambda x: x.sin().sum()))(x),
        "hessian": lambda x: tg.func.hessian(lambda x: x.sin().prod())(x[0]),
        "jvp": lambda x: tg.func.jvp(tg.sin, (x,), (x,))[1],
        "functional_call": lambda x: tg.func.grad(loss)(params, x)["weight"],
        "random": lambda x: tg.vmap(lambda row: row + tg.rand(3), randomness="same")(x),
    }
    step = tg.compile(steps[way])
    for _ in range(5):
        x = tg.randn(4, 3)
        tg.manual_seed(2)
        found = step(x)
        tg.manual_seed(2)
        assert tg.allclose(found, steps[way](x), rtol=1e-5, atol=1e-6)  # float32: other orders of sums
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert step.way == ("re-record" if way == "functional_call" else "replay"), step.explain()
