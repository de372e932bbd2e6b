"""What all distributions share: validation, expansion, lazy parameters, classes of one's own, PyTorch's paths."""

import copy
import importlib
import pickle

import numpy as np
import pytest
from expected import distributions as cases

from tracegrad.distributions import constraints
from tracegrad.distributions.validation import holds_at_once


def test_arguments_are_checked_unless_told_otherwise(tg):
    D = tg.distributions
    assert D.Normal(0.0, -1.0, validate_args=False).scale == -1.0
    D.Distribution.set_default_validate_args(False)
    try:
        assert D.Normal(0.0, -1.0).log_prob(tg.tensor(0.0)).isnan()
        with pytest.raises(ValueError, match="to satisfy the constraint GreaterThan"):
            D.Normal(0.0, -1.0, validate_args=True)
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="to satisfy the constraint GreaterThan"):
        D.Normal(0.0, -1.0)


def test_parameters_that_are_no_supports_warn(tg):
    D = tg.distributions

    class Bare(D.Distribution):
        pass

    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        bare = Bare()
    with pytest.warns(UserWarning, match="does not define `support` to enable sample validation"):
        with pytest.raises(NotImplementedError):
            bare.log_prob(tg.zeros(2))


@pytest.mark.parametrize("name", cases.DISTRIBUTIONS)
def test_expanded_distributions_have_the_same_of_everything(tg, name):
    scope = cases.Scope(tg)
    distribution = eval(cases.DISTRIBUTIONS[name][0], scope)
    value = eval(cases.DISTRIBUTIONS[name][1], scope)[:1]
    wide = distribution.expand((4, 3, *distribution.batch_shape))
    assert type(wide) is type(distribution)
    assert (wide.batch_shape, wide.event_shape) == ((4, 3, *distribution.batch_shape), distribution.event_shape)
    assert wide.sample((2,)).shape == (2, *wide.batch_shape, *wide.event_shape)
    assert tg.equal(wide.log_prob(value), distribution.log_prob(value).expand(wide.batch_shape))
    again = wide.expand((2, *wide.batch_shape))
    assert again.log_prob(value).shape == (2, *wide.batch_shape)


@pytest.mark.parametrize("name", cases.DISTRIBUTIONS)
def test_distributions_are_copied_and_pickled(tg, name):
    scope = cases.Scope(tg)
    scope["p"] = scope.constant  # tensors with a history are not copied
    distribution, value = (eval(text, scope) for text in cases.DISTRIBUTIONS[name])
    expected = distribution.log_prob(value)
    assert tg.equal(copy.deepcopy(distribution).log_prob(value), expected)
    assert tg.equal(pickle.loads(pickle.dumps(distribution)).log_prob(value), expected)


def test_subclasses_with_other_arguments_define_expand(tg):
    D = tg.distributions

    class Standard(D.Normal):
        def __init__(self, n):
            self.n = n
            super().__init__(tg.zeros(n), tg.ones(n))

    with pytest.raises(NotImplementedError, match="Subclass Standard of Normal that defines a custom __init__ method"):
        Standard(3).expand((2, 3))

    class Expanding(Standard):
        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Expanding, _instance)
            new.n = "new"
            return super().expand(batch_shape, _instance=new)

    wide = Expanding(3).expand((2, 3))
    assert (type(wide), wide.n, wide.loc.shape) == (Expanding, "new", (2, 3))

    class Plain(D.Normal):
        pass

    assert type(Plain(0.0, 1.0).expand((2,))) is Plain


def test_logits_and_probabilities_are_computed_once_from_each_other(tg):
    D = tg.distributions
    logits = tg.tensor([0.3, -0.2], requires_grad=True)
    with tg.no_grad():
        coin = D.Bernoulli(logits=logits)
        assert "probs" not in vars(coin)
        probs = coin.probs
    assert coin.probs is probs and probs.requires_grad
    assert coin.param_shape == (2,)


def test_samples_have_no_history_and_rsamples_have(tg):
    loc = tg.zeros(3, requires_grad=True)
    distribution = tg.distributions.Normal(loc, 1.0)
    assert not distribution.sample().requires_grad
    distribution.rsample((4,)).sum().backward()
    assert tg.equal(loc.grad, tg.full((3,), 4.0))


def test_straight_through_gradients(tg):
    logits = tg.tensor([0.1, 0.4], requires_grad=True)
    distribution = tg.distributions.OneHotCategoricalStraightThrough(logits=logits)
    sample = distribution.rsample()
    assert sorted(sample.tolist()) == [0.0, 1.0]
    (sample * tg.tensor([1.0, 2.0])).sum().backward()
    assert logits.grad.abs().sum() > 0


def test_pytorchs_module_paths(tg):
    paths = {
        "normal": "Normal", "categorical": "Categorical", "bernoulli": "Bernoulli", "kl": "kl_divergence",
        "multivariate_normal": "MultivariateNormal", "studentT": "StudentT",
        "relaxed_categorical": "ExpRelaxedCategorical",
        "transformed_distribution": "TransformedDistribution", "transforms": "TanhTransform", "utils": "broadcast_all",
        "constraints": "positive", "independent": "Independent", "one_hot_categorical": "OneHotCategorical",
        "mixture_same_family": "MixtureSameFamily", "distribution": "Distribution", "exp_family": "ExponentialFamily",
    }  # fmt: skip
    for path, name in paths.items():
        assert hasattr(importlib.import_module(f"{tg.__name__}.distributions.{path}"), name), path


SETS = {
    "boolean": constraints.boolean, "real": constraints.real, "real_vector": constraints.real_vector,
    "positive": constraints.positive, "nonnegative": constraints.nonnegative, "interval": constraints.interval(-1, 2),
    "narrow": constraints.interval(0.1, 0.2), "half_open": constraints.half_open_interval(0.0, 1.0),
    "integers": constraints.integer_interval(0, 3), "counts": constraints.nonnegative_integer,
    "one_hot": constraints.one_hot, "simplex": constraints.simplex, "less": constraints.less_than(0.1),
    "matrix": constraints.independent(constraints.greater_than_eq(0.1), 2),
}  # fmt: skip
EDGES = [0.0, -0.0, 1.0, 0.1, 0.2, np.float32(0.1), np.float32(0.2), np.inf, -np.inf, np.nan, 2.0, 3.0, 4.0, 0.5, -1.0]


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_what_is_seen_at_once_to_hold_is_what_the_check_of_tensors_says(tg, name, dtype):
    chosen, constraint, held = np.random.RandomState(0), SETS[name], 0
    for turn in range(200):
        shape = [(3,), (2, 3), (2, 1, 2), (1, 1), (2, 0), (1, 5000)][turn % 6]
        values = chosen.choice(chosen.choice(EDGES, 1 + turn % 3), shape)
        if turn % 5 == 0:  # sums that are nearly one
            shares = chosen.random_sample(shape)
            values = shares / shares.sum(-1, keepdims=True) * (1 + chosen.choice([0, 9e-7, 1.1e-6]))
        with np.errstate(invalid="ignore"):
            value = tg.from_numpy(np.asarray(values).astype(dtype))
        if value.dim() < constraint.event_dim:
            continue
        seen, checked = holds_at_once(constraint, value), bool(constraint.check(value).all())
        assert seen == checked or (dtype == "int64" and not seen)
        held += seen
    assert held or dtype == "int64"


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32"])
def test_what_is_computed_of_probabilities_is_rounded_after_each_operation(tg, name):
    """As PyTorch's operations are: no kernel of 16-bit numbers computes several of them."""
    dtype = getattr(tg, name)
    tg.manual_seed(0)
    p = tg.rand(50, 7).to(dtype)
    d = tg.distributions.Categorical(probs=p, validate_args=False)
    limits = tg.finfo(dtype)
    assert tg.equal(d.probs, p / p.sum(-1, True))
    assert tg.equal(d.logits, d.probs.clamp(min=limits.eps, max=1 - limits.eps).log())
    assert tg.equal(d.entropy(), -(d.logits.clamp(min=limits.min) * d.probs).sum(-1))
