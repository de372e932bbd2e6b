"""Transforms with inverses and Jacobians, constraints, registries, and texts, as PyTorch 2.13 has them."""

import copy
import gc
import json
import pickle
import warnings

import numpy as np
import pytest
from expected import transforms as cases
from expected.compare import STORE, load
from expected.packing import unpacked

from tracegrad.distributions.transforms import known_pairs

STORED = unpacked(load("transforms"))
TEXTS = json.loads((STORE / "distributions.json").read_text(encoding="utf-8"))


def assert_as_stored(found, wanted):
    assert set(found) == set(wanted)
    for key, expected in wanted.items():
        actual = np.asarray(found[key])
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), key
        np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-12, err_msg=key)  # some hundred roundings


@pytest.mark.parametrize("name", cases.TRANSFORMS)
def test_value_inverse_and_jacobian(tg, name):
    assert_as_stored(cases.transformed(tg, name), STORED[f"transform/{name}"])


@pytest.mark.parametrize("name", [name for name in cases.TRANSFORMS if name not in ("abs", "softmax")])
def test_inverse_leads_back(tg, name):
    transform, x = (eval(text, cases.Scope(tg)) for text in cases.TRANSFORMS[name])
    back = transform.inv(transform(x))
    triangular = name in ("triangle", "positive definite")
    rtol = 1e-6 if name == "power of a number" else 1e-9  # numbers are exponents of the default type
    assert tg.allclose(back, x.tril() if triangular else x, rtol=rtol)


@pytest.mark.parametrize("name", ["exp", "sigmoid", "tanh", "softplus", "power", "affine", "cumulative", "inverse"])
def test_jacobian_is_the_derivative(tg, name):
    transform, x = (eval(text, cases.Scope(tg)) for text in cases.TRANSFORMS[name])
    y = transform(x)
    (slope,) = tg.autograd.grad(y.sum(), [x])
    assert tg.allclose(transform.log_abs_det_jacobian(x, y), slope.abs().log(), rtol=1e-9)


@pytest.mark.parametrize("name", ["stick breaking", "cat", "independent"])
def test_jacobian_is_the_determinant(tg, name):
    transform, x = (eval(text, cases.Scope(tg)) for text in cases.TRANSFORMS[name])
    row, n = x[:1].detach(), x.shape[-1]  # the last share follows from the others
    matrix = tg.autograd.functional.jacobian(lambda x: transform(x)[..., :n], row).reshape(n, n)
    wanted = np.log(abs(np.linalg.det(matrix.numpy())))
    assert np.isclose(transform.log_abs_det_jacobian(row, transform(row)).detach().sum(), wanted)


@pytest.mark.parametrize("name", cases.CONSTRAINTS)
def test_where_a_constraint_holds(tg, name):
    assert_as_stored(cases.checked(tg, name), STORED[f"constraint/{name}"])


@pytest.mark.parametrize("text", cases.REGISTERED)
@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
def test_registered_transforms_lead_into_the_set(tg, registry, text):
    found = cases.parametrised(tg, registry, text)
    assert_as_stored(found, STORED[f"{registry}/{text}"])
    assert "holds" not in found or found["holds"].all()


def test_texts_of_errors_and_of_repr(tg):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {text: cases.told(tg, text) for text in TEXTS}
    assert found == TEXTS


def test_cached_transforms_know_what_they_have_made(tg):
    plain, cached = tg.distributions.TanhTransform(), tg.distributions.TanhTransform(cache_size=1)
    x = tg.tensor([30.0, -40.0])
    assert tg.isinf(plain.inv(plain(x))).all()  # tanh has rounded to 1
    y = cached(x)
    assert cached.inv(y) is x and cached(x) is y
    assert cached.inv.inv is cached


def test_caches_end_with_what_they_hold(tg):
    cached = tg.distributions.ExpTransform(cache_size=1)
    x = tg.zeros(2)
    y = cached(x)
    before = len(known_pairs._preimages._entries)
    del x, y
    gc.collect()
    assert len(known_pairs._preimages._entries) == before - 1


def test_registries_take_more_classes(tg):
    D = tg.distributions

    class Even(D.constraints.Constraint):
        pass

    registry = D.constraint_registry.ConstraintRegistry()

    @registry.register(Even)
    def doubled(constraint):
        return D.AffineTransform(0, 2)

    assert registry(Even())(3) == 6
    with pytest.raises(NotImplementedError, match="Cannot transform _Real constraints"):
        registry(D.constraints.real)


@pytest.mark.parametrize("name", cases.TRANSFORMS)
def test_transforms_are_copied_and_pickled(tg, name):
    scope = cases.Scope(tg)
    scope["p"] = scope.constant  # tensors with a history are not copied
    transform, x = (eval(text, scope) for text in cases.TRANSFORMS[name])
    assert tg.equal(copy.deepcopy(transform)(x), transform(x))
    assert tg.equal(pickle.loads(pickle.dumps(transform))(x), transform(x))
