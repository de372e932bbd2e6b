"""Kullback-Leibler divergences of all pairs of classes that PyTorch has."""

import numpy as np
import pytest
from expected import divergences as cases
from expected.compare import load
from expected.packing import unpacked

STORED = unpacked(load("divergences"))
PAIRS = cases.pairs()


@pytest.mark.parametrize("p, q", PAIRS, ids=[f"{p}-{q}" for p, q in PAIRS])
def test_divergence_and_its_derivatives(tg, p, q):
    found, wanted = cases.between(tg, p, q), STORED[f"{p} {q}"]
    assert set(found) == set(wanted)
    for key, expected in wanted.items():
        actual = np.asarray(found[key])
        assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), key
        # Derivatives of gamma functions, which PyTorch has right to some 1e-9.
        np.testing.assert_allclose(actual, expected, rtol=1e-8, atol=1e-10, err_msg=key)


def test_every_registered_pair_has_a_case(tg):
    parents = {"ExponentialFamily", "TransformedDistribution"}
    pairs = tg.distributions.Distribution._divergences.known
    own = tg.distributions  # examples of docstrings register classes of theirs
    registered = {(p.__name__, q.__name__) for p, q in pairs if getattr(own, p.__name__, None) is p}
    assert {pair for pair in registered if not parents & set(pair)} <= set(PAIRS)


def test_batches_of_wishart_distributions_have_a_divergence_each(tg):
    D = tg.distributions
    scales = [tg.tensor([[2.0, 0.5], [0.5, 1.0]]), tg.tensor([[1.0, 0.1], [0.1, 1.5]])]
    ps = [D.Wishart(tg.tensor(df), scale) for df, scale in zip((3.5, 4.0), scales, strict=True)]
    qs = [D.Wishart(tg.tensor(df), scales[0]) for df in (4.5, 2.5)]
    p = D.Wishart(tg.tensor([3.5, 4.0]), tg.stack(scales))
    q = D.Wishart(tg.tensor([4.5, 2.5]), scales[0])
    each = [D.kl_divergence(a, b) for a, b in zip(ps, qs, strict=True)]
    assert tg.allclose(D.kl_divergence(p, q), tg.stack(each))


def test_continuous_bernoulli_numbers_lie_within_the_unit_interval(tg):
    """PyTorch's divergence from Uniform(0, 1) is infinite; their densities overlap wholly."""
    D = tg.distributions
    p, q = D.ContinuousBernoulli(tg.tensor(0.3)), D.Uniform(tg.tensor(0.0), tg.tensor(1.0))
    assert tg.allclose(D.kl_divergence(p, q), -p.entropy())


def test_nearest_classes_decide(tg):
    D = tg.distributions

    class First(D.Normal):
        pass

    class Second(First):
        pass

    for kinds, answer in (((First, D.Normal), 1.0), ((D.Normal, Second), 2.0)):
        D.register_kl(*kinds)(lambda p, q, answer=answer: tg.tensor(answer))
    assert D.kl_divergence(First(0.0, 1.0), First(0.0, 1.0)) == 1.0
    assert D.kl_divergence(D.Normal(0.0, 1.0), Second(0.0, 1.0)) == 2.0
    with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Second, Second\). Please register_kl\("):
        D.kl_divergence(Second(0.0, 1.0), Second(0.0, 1.0))


def test_register_kl_takes_classes_of_distributions(tg):
    with pytest.raises(TypeError, match="Expected type_q to be a Distribution subclass but got <class 'int'>"):
        tg.distributions.register_kl(tg.distributions.Normal, int)
