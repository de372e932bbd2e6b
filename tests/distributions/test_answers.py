"""Densities with two derivatives, moments, entropies, quantiles and samples from seeds, as PyTorch 2.13 has them."""

import warnings

import numpy as np
import pytest
from expected import distributions as cases
from expected.compare import load
from expected.packing import unpacked

STORED = unpacked(load("distributions"))
SAMPLES = ("sample", "rsample", "after")
# Derivatives of gamma functions: PyTorch's are right to some 1e-9, and second derivatives square what they are in.
RTOL = {"float64": 1e-8, "float32": 2e-5}
#: PyTorch's Bessel functions are polynomials that are right to 1e-7; its entropy of counts has one float32 number.
COARSE = {"VonMises": 2e-6, "Multinomial": 1e-6}
#: Implicit derivatives of gamma numbers, which PyTorch has right to some 1e-4.
IMPLICIT = {"Gamma", "Chi2", "InverseGamma", "FisherSnedecor", "Beta", "StudentT", "Dirichlet"}
#: PyTorch's formula takes the logarithm of a negative number.
WRONG = {("Kumaraswamy", "mode")}


def assert_as_stored(name, found, wanted):
    assert set(found) == set(wanted)
    for key, expected in wanted.items():
        actual = np.asarray(found[key])
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), key
        if (name, key) in WRONG:
            continue
        rtol = max(RTOL.get(actual.dtype.name, 0), COARSE.get(name, 0) * (actual.dtype.kind == "f"))
        if name in IMPLICIT and key.startswith("rsample d"):
            rtol = 5e-4
        np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol, err_msg=key)


def part(name, wanted):
    """The stored answers of a case for which ``wanted(key)`` is true."""
    return {key: array for key, array in STORED[name].items() if wanted(key)}


@pytest.mark.parametrize("name", cases.DISTRIBUTIONS)
def test_density_and_its_derivatives_of_two_orders(tg, name):
    assert_as_stored(name, cases.densities(tg, name), part(name, lambda key: key.startswith("log_prob")))


@pytest.mark.parametrize("name", cases.DISTRIBUTIONS)
def test_moments_quantiles_and_expanded_distributions(tg, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cases.answers(tg, name)
    assert_as_stored(name, found, part(name, lambda key: not key.startswith(("log_prob", *SAMPLES))))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", cases.DISTRIBUTIONS)
def test_samples_are_those_of_pytorch_from_the_same_seed(tg, name, dtype):
    suffix = " of float32" if dtype == "float32" else ""
    found = {key + suffix: x for key, x in cases.samples(tg, name, dtype).items()}
    wanted = part(name, lambda key: key.startswith(SAMPLES) and key.endswith("float32") == bool(suffix))
    assert_as_stored(name, found, wanted)


def test_every_distribution_has_a_case(tg):
    named = {cases.family(name) for name in cases.DISTRIBUTIONS}
    D = tg.distributions
    kinds = [getattr(D, name) for name in D.__all__]
    offered = {kind.__name__ for kind in kinds if isinstance(kind, type) and issubclass(kind, D.Distribution)}
    assert offered - named == {"Distribution", "ExponentialFamily"}


def test_mode_of_kumaraswamy_numbers_is_where_the_density_is_largest(tg):
    distribution = tg.distributions.Kumaraswamy(tg.tensor(1.7), tg.tensor(2.2))
    grid = tg.linspace(0.01, 0.99, 981)
    assert abs(grid[distribution.log_prob(grid).argmax()] - distribution.mode) < 2e-3  # the grid's step is 1e-3


def test_exponential_families_have_the_entropy_of_their_log_normaliser(tg):
    D = tg.distributions
    for name in ("Normal", "Gamma", "Exponential", "Bernoulli", "ContinuousBernoulli", "Wishart"):
        distribution = eval(cases.DISTRIBUTIONS[name][0], cases.Scope(tg))
        by_rule = D.ExponentialFamily.entropy(distribution)
        np.testing.assert_allclose(by_rule.detach(), distribution.entropy().detach(), rtol=1e-9)
